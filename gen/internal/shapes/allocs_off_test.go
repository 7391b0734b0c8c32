// Whether operations that usually allocate nothing allocate nothing in this build.

//go:build race || nocopydebug || nounsafe

package shapes_test

const noAllocs = false
