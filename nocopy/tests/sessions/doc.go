// Package sessions has only tests: random sessions of operations on several messages. Each message
// has a model, which is plain Go data. The sessions receive messages in all ways, set parts of
// them in each other in all states, edit, merge, mask and compare them, with functions that
// programs outside of package nocopy can call. After the operations Apache's library reads the
// bytes of the messages, and go-cmp shows the differences from the models.
//
// A string of bytes determines the operations of a session, and a seed determines the string. A
// failing session is shortened by leaving bytes out, and then printed as a program.
//
//	go test -C nocopy/tests ./sessions -model.ops=500000 -model.seed=7
//
// TestModel of package nocopy does the same for parts that only that package can reach: indexes,
// generated getters, memory that is always compacted.
package sessions
