// Tests of allocations ask here whether the build allocates more than usual: it does not.

//go:build !race && !nocopydebug

package linkbuf_test

const instrumented = false
