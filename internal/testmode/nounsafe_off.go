//go:build !nounsafe

package testmode

// Unsafe reports whether the library is built with package unsafe: strings from getters then
// refer to the message.
const Unsafe = true
