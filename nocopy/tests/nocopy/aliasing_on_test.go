// aliasing tells tests whether strings from getters alias the message.

//go:build !nounsafe

package nocopy_test

const aliasing = true
