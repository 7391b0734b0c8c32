//go:build !race && !nocopydebug

package linkbuf

const instrumented = false
