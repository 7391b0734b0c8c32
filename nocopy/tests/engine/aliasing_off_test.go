// aliasing tells tests whether strings that are read refer to the message. The safe twins copy
// them.

//go:build nounsafe

package engine_test

const aliasing = false
