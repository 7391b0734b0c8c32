// aliasing tells tests whether strings that are read refer to the message. Here they do.

//go:build !nounsafe

package engine_test

const aliasing = true // strings refer to the message
