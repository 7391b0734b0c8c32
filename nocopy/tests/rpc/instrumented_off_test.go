// Tests of memory ask here whether the build allocates more than usual: it does not.

//go:build !race && !nocopydebug

package rpc_test

const instrumented = false
