//go:build race || nocopydebug

package rpc_test

const instrumented = true // the build allocates more
