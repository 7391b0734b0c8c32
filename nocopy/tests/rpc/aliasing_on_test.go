// aliasing tells tests whether strings from getters alias the message.

//go:build !nounsafe

package rpc_test

const aliasing = true
