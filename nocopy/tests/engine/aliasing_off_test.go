// Tests ask here whether strings that are read alias the message: the safe twins copy them.

//go:build nounsafe

package engine_test

const aliasing = false
