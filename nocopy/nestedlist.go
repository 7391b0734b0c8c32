package nocopy

import "github.com/nocopythrift/nocopythrift/nocopy/internal/engine"

// NestedList is a list or set of lists, sets or maps; C is the type of an element. Swap, Delete,
// DeleteFunc and SortFunc move elements together with their handles. Handles of deleted or
// replaced elements read the old values.
type NestedList[C View] engine.Struct

// At returns element i. An element of a new list is absent, and reads as empty, until NewAt or Set
// makes it.
func (l NestedList[C]) At(i int) C { return C(engine.Struct(l).ContainerAt(i)) }

// Set sets element i to a copy of v. It links v's bytes if they are many. Later changes of v do
// not show.
func (l NestedList[C]) Set(i int, v C) { engine.Struct(l).SetViewAt(i, engine.Struct(v)) }

// Append adds a copy of v at the end. It links v's bytes if they are many. Later changes of v do
// not show.
func (l NestedList[C]) Append(v C) { engine.Struct(l).AppendView(engine.Struct(v)) }

// NewAt sets element i to an empty container of n elements (a map: with room for n pairs) and
// returns it to be filled.
func (l NestedList[C]) NewAt(i, n int) C { return C(engine.Struct(l).NewViewAt(i, n)) }

// AppendNew adds a container of n elements (a map: with room for n pairs) at the end and
// returns it to be filled.
func (l NestedList[C]) AppendNew(n int) C { return C(engine.Struct(l).AppendNewView(n)) }
