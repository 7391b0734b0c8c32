// Package model has tests only: random sessions of operations on several messages at once, each of
// which has a model that is plain Go data. Messages are received in all ways, grafted into each
// other in all states, edited, merged, masked and compared, by what programs outside of package
// nocopy can call. After the operations Apache's library reads their bytes, and go-cmp shows what
// differs from the model.
//
// What a session does follows from a string of bytes, which follows from a seed. A failure is
// made shorter by leaving bytes out, and then printed as a program.
//
//	go test -C internal/model . -model.ops=500000 -model.seed=7
//
// TestModel of package nocopy does the same for what only that package sees: indexes, generated
// getters, memory that is compacted always.
package model
