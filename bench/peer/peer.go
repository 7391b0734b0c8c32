// Package peer defines what the benchmark compares. A new peer is a package with a function that
// returns a [Peer], and a line in main's list.
package peer

import (
	"io"
	"strings"

	"github.com/nocopythrift/nocopythrift/bench/data"
)

// Op is an operation that is measured. Building and editing end with the message given to a
// writer: before that, formats have done different parts of the work.
type Op string

const (
	Build Op = "build" // from the application's values to bytes given to a writer
	// From bytes to the sum of every number, and of each string its length, first and last byte
	Read Op = "read"
	// From bytes to two scalars and one nested string that come late; to one text of each row
	Partial Op = "partial"
	// From bytes to the same message with one nested string and one i64 changed, or one text of a
	// hundred rows, given to a writer
	Edit  Op = "edit"
	Total Op = "total" // build, then read

	ToJSON   Op = "to-json"   // from bytes to JSON given to a writer
	FromJSON Op = "from-json" // from JSON to bytes given to a writer
)

// Ops are all operations, in the order in which they are shown.
var Ops = []Op{Build, Read, Partial, Edit, Total, ToJSON, FromJSON}

// Defined returns the operations that are measured on v, a message of package data.
func Defined(v any) []Op {
	switch v.(type) {
	case *data.MyTest:
		return []Op{Build, Read, Total}
	case *data.Small, *data.Business, *data.WriteRequest, *data.Wide:
		return []Op{Build, Read, Partial, Edit}
	case *data.FieldOrder, *data.WordOrder:
		return []Op{Build}
	case *data.Edits:
		return []Op{Edit}
	case *data.JSON:
		return []Op{ToJSON, FromJSON}
	}
	return []Op{Build, Read}
}

// Input is the input of an operation.
type Input struct {
	Value any    // the values, a pointer to a message of package data
	Wire  []byte // the same as Thrift Binary; steps must not write to it
}

// Step executes an operation once. Build and Edit write the message to w; Read and Partial return
// their sum.
type Step = func(w io.Writer) uint64

// Row is one way to do an operation: a line of a table.
type Row struct {
	Peer string
	// Make returns a step. State that an application would keep between messages (buffers, pools,
	// structs) is kept between calls of the step and freed with it: the collector does not mark it
	// while another row is measured. Make also converts the input to formats other than Thrift.
	Make func() Step
}

// Peer is a format with its runtime and generated code.
type Peer struct {
	Name string
	// What it writes; peers of one format check each other's output. "" is Thrift Binary
	Format string
	// Rows returns the ways to do op on in, best known use first; none if it cannot.
	Rows func(in *Input, op Op) []Row
	// Decode returns the values in b, a message of the type of in.Value. It checks the messages
	// that peers of its format have written. It is nil if another peer of the format has it.
	Decode func(in *Input, b []byte) (any, error)
}

// Entry is an operation with the rows of all peers that have it.
type Entry struct {
	Op   Op
	Rows []Row
	By   []*Peer // the peer of each row
}

// Entries returns the operations defined for in.Value, with the rows of all peers in the order of
// peers.
func Entries(in *Input, peers []Peer) []Entry {
	var entries []Entry
	for _, op := range Defined(in.Value) {
		e := Entry{Op: op}
		for i := range peers {
			p := &peers[i]
			rows := p.Rows
			if op == Total {
				rows = p.total
			}
			for _, r := range rows(in, op) {
				e.Rows, e.By = append(e.Rows, r), append(e.By, p)
			}
		}
		entries = append(entries, e)
	}
	return entries
}

// total returns rows that build and then read, from the rows for either. A row that only one of
// them has is combined with the other's main row.
func (p *Peer) total(in *Input, _ Op) []Row {
	build, read := p.Rows(in, Build), p.Rows(in, Read)
	var rows []Row
	for _, b := range build {
		r := named(read, b.Peer)
		if r == nil {
			r = named(read, mainRow(b.Peer))
		}
		if r != nil {
			rows = append(rows, both(b.Peer, b, *r))
		}
	}
	for _, r := range read {
		if b := named(build, mainRow(r.Peer)); b != nil && named(build, r.Peer) == nil {
			rows = append(rows, both(r.Peer, *b, r))
		}
	}
	return rows
}

func both(name string, build, read Row) Row {
	return Row{Peer: name, Make: func() Step {
		b, r := build.Make(), read.Make()
		return func(w io.Writer) uint64 {
			b(w)
			return r(w)
		}
	}}
}

func named(rows []Row, name string) *Row {
	for i := range rows {
		if rows[i].Peer == name {
			return &rows[i]
		}
	}
	return nil
}

// mainRow returns the name of a peer's first row, given any row's: "kitex" from "kitex/reuse".
func mainRow(name string) string {
	name, _, _ = strings.Cut(name, "/")
	return name
}
