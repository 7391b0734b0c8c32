//go:build !nounsafe

package nocopy

const aliasing = true // strings refer to the message
