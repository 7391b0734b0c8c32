// Package peer says what a contestant is. A new one is a package with a function that returns a
// [Peer], and a line in main's list.
package peer

import (
	"io"
	"strings"

	"github.com/nocopythrift/nocopythrift/bench/data"
)

// Op is what is measured. Building and editing end with the message handed to a writer, since only
// there has every format done all of its work.
type Op string

const (
	Build   Op = "build"   // from the application's values to bytes given to a writer
	Read    Op = "read"    // from bytes to the sum of every number, and of each string its length, first and last byte
	Partial Op = "partial" // from bytes to two scalars and one nested string that come late
	Edit    Op = "edit"    // from bytes to the same message with one nested string and one i64 changed, given to a writer
	Total   Op = "total"   // build, then read
)

// Ops are all operations, in the order in which they are shown.
var Ops = []Op{Build, Read, Partial, Edit, Total}

// Defined returns the operations that are measured on v, a message of package data.
func Defined(v any) []Op {
	switch v.(type) {
	case *data.MyTest:
		return []Op{Build, Read, Total}
	case *data.Small, *data.Business, *data.WriteRequest:
		return []Op{Build, Read, Partial, Edit}
	case *data.FieldOrder, *data.WordOrder:
		return []Op{Build}
	case *data.Edits:
		return []Op{Edit}
	}
	return []Op{Build, Read}
}

// Input is what an operation starts from.
type Input struct {
	Value any    // the values, a pointer to a message of package data
	Wire  []byte // the same as Thrift Binary; nobody may write to it
}

// Step does an operation once. Build and Edit write the message to w; Read and Partial return
// their sum.
type Step = func(w io.Writer) uint64

// Row is one way to do an operation: a line of a table.
type Row struct {
	Peer string
	// Make returns a step. State that the row's users would keep between messages (buffers, pools,
	// structs) is kept between calls of one step, and is dropped with it: what a row keeps is not
	// there for the collector to mark while another row is measured. Input in another format than
	// Thrift is made here, too.
	Make func() Step
}

// Peer is a format with its runtime and generated code.
type Peer struct {
	Name   string
	Format string // what it writes; peers of one format check each other's output. "" is Thrift Binary
	// Rows returns the ways to do op on in, best known use first; none if it cannot.
	Rows func(in *Input, op Op) []Row
	// Decode reads b, a message as in in.Value, back into plain values: the referee for what peers of
	// its format wrote. nil if that is left to others.
	Decode func(in *Input, b []byte) (any, error)
}

// Entry is an operation with everybody who takes part in it.
type Entry struct {
	Op   Op
	Rows []Row
	By   []*Peer // of each row
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

// total makes of the rows for building and reading those that do both. A row that only one of them
// has goes with the other's main row.
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

// mainRow is the row that others of the same peer are named after: "kitex" of "kitex/reuse".
func mainRow(name string) string {
	name, _, _ = strings.Cut(name, "/")
	return name
}
