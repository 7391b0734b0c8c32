// debugging tells tests whether the tag nocopydebug is set.

//go:build !nocopydebug

package nocopy_test

const debugging = false
