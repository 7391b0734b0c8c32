// Whether what allocates nothing otherwise allocates nothing in this build.

//go:build race || nocopydebug || nounsafe

package shapes_test

const noAllocs = false
