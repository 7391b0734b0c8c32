//go:build nocopydebug

package testmode

// Debug reports whether the tag nocopydebug is set.
const Debug = true
