// debugging tells tests whether the tag nocopydebug is set.

//go:build !nocopydebug

package engine_test

const debugging = false
