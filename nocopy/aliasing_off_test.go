//go:build nounsafe

package nocopy

const aliasing = false
