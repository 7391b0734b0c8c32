// Tests ask here whether strings that are read alias the message: they do.

//go:build !nounsafe

package engine_test

const aliasing = true // strings refer to the message
