// instrumented tells tests whether the build allocates more than others.

//go:build !race && !nocopydebug

package compact_test

const instrumented = false
