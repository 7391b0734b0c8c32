// Package peer says what a contestant is. A new one is a package with a function that returns a [Peer], and a line in main's list.
package peer

import "io"

// Op is what is measured. Building and editing end with the message handed to a writer, since only there has every format done all of its work.
type Op string

const (
	Build   Op = "build"   // from the application's values to bytes given to a writer
	Read    Op = "read"    // from bytes to the sum of every number, and of each string its length, first and last byte
	Partial Op = "partial" // from bytes to two scalars and one nested string that come late
	Edit    Op = "edit"    // from bytes to the same message with one nested string and one i64 changed, given to a writer
)

// Ops are all operations, in the order in which they are shown.
var Ops = []Op{Build, Read, Partial, Edit}

// Input is what an operation starts from.
type Input struct {
	Value any    // the values, a pointer to a message of package data
	Wire  []byte // the same as Thrift Binary; nobody may write to it
}

// Row is one way to do an operation: a line of a table.
type Row struct {
	Peer string
	// Step does the operation once. Build and Edit write the message to w; Read and Partial return their sum. State that the row's users would keep between
	// messages (buffers, pools) is kept between steps.
	Step func(w io.Writer) uint64
}

// Peer is a format with its runtime and generated code.
type Peer struct {
	Name string
	// Rows returns the ways to do op on in, best known use first; none if it cannot.
	Rows func(in *Input, op Op) []Row
	// Decode reads b, a message of the type of in.Value, back into plain values: the referee for what the others wrote. nil if the format is another.
	Decode func(in *Input, b []byte) (any, error)
}
