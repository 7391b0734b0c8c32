// This file tells tests that strings alias messages.

//go:build !nounsafe

package rules_test

const aliasing = true
