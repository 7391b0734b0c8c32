// Tests ask here whether strings that are read alias the message.

//go:build !nounsafe

package nocopy_test

const aliasing = true
