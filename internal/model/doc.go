// Package model has only tests: random sessions of operations on several messages, each of which
// has a model that is plain Go data. Messages are received in all ways, grafted into each other in
// all states, edited, merged, masked and compared, with functions that programs outside of package
// nocopy can call. After the operations Apache's library reads their bytes, and go-cmp shows the
// differences from the model.
//
// The operations of a session follow from a string of bytes, and this from a seed. A failing
// session is shortened by leaving bytes out, and then printed as a program.
//
//	go test -C internal/model . -model.ops=500000 -model.seed=7
//
// TestModel of package nocopy does the same for things that only that package can reach: indexes,
// generated getters, memory that is always compacted.
package model
