// instrumented tells tests that the build allocates more than usual.

//go:build race || nocopydebug

package linkbuf_test

// The race detector and the tag nocopydebug allocate, and disable the reuse of pools.
const instrumented = true
