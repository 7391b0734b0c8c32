// This file tells tests that getters copy strings.

//go:build nounsafe

package rules_test

const aliasing = false
