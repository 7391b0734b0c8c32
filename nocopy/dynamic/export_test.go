// For tests: numbers of types made.
package dynamic

// Counts are the numbers of types that were made.
type Counts struct{ Structs, Enums, Containers, Methods, Memory int }

// Interned returns the numbers of types that were made.
func Interned() Counts {
	interned.Lock()
	defer interned.Unlock()
	return Counts{len(interned.structs), len(interned.enums), len(interned.containers), len(interned.methods), interned.memory}
}

// SetMost sets how many more bytes types may take, and returns a function that undoes it.
func SetMost(more int) (undo func()) {
	interned.Lock()
	defer interned.Unlock()
	old := interned.most
	interned.most = interned.memory + more
	return func() {
		interned.Lock()
		defer interned.Unlock()
		interned.most = old
	}
}
