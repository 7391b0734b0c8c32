// instrumented tells tests that the build allocates no more than usual.

//go:build !race && !nocopydebug

package linkbuf_test

const instrumented = false
