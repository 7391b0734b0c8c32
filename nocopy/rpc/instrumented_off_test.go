//go:build !race && !nocopydebug

package rpc_test

const instrumented = false
