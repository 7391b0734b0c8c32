//go:build !nocopydebug

package memory

// Debugging reports whether the program was built with the tag nocopydebug.
const Debugging = false
