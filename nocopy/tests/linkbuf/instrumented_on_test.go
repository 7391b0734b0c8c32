// Tests of allocations ask here whether the build allocates more than usual: it does.

//go:build race || nocopydebug

package linkbuf_test

// instrumented: the race detector and the tag nocopydebug allocate, and keep pools from giving
// things back.
const instrumented = true
