// Tests of allocations ask here whether the build allocates more than usual: it does not.

//go:build !race && !nocopydebug

package linkbuf

const instrumented = false
