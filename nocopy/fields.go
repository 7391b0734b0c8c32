package nocopy

// "nocopyc -fields" generates a Go struct of plain values for each struct of the IDL; see the
// package's section "Structs of plain values". This file has the types of some of its fields.

// Opt is the value of an optional field in a struct of plain values. The zero Opt leaves the field
// unset.
type Opt[T any] struct {
	Value T
	Set   bool
}

// Some returns an Opt that sets the field to v.
func Some[T any](v T) Opt[T] { return Opt[T]{v, true} }

// Pair is a pair of a map in a struct of plain values. Keys should differ: of several pairs with
// the same key, the last one counts.
type Pair[K, V any] struct {
	Key   K
	Value V
}
