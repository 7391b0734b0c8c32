// Tests of memory ask here whether the build allocates more than usual: it does.

//go:build race || nocopydebug

package rpc_test

const instrumented = true // the build allocates more
