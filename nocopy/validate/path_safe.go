//go:build nounsafe

package validate

// A room is not used: a string can't refer to memory that is written later.
type room struct{}

// prepend puts part before e.Path. Each part costs a copy of the path.
func (e *Error) prepend(part string) { e.Path = part + e.Path }
