package peer

import (
	"bytes"
	"fmt"
	"io"
	"reflect"

	"github.com/nocopythrift/nocopythrift/bench/data"
)

// Entry is an operation with everybody who takes part in it.
type Entry struct {
	Op   Op
	Rows []Row
}

// Entries returns the operations defined for in.Value, with the rows of all peers in the order of peers.
func Entries(in *Input, peers []Peer) []Entry {
	var entries []Entry
	for _, op := range Ops {
		if (op == Partial || op == Edit) && !data.CanEdit(in.Value) {
			continue
		}
		e := Entry{Op: op}
		for _, p := range peers {
			e.Rows = append(e.Rows, p.Rows(in, op)...)
		}
		entries = append(entries, e)
	}
	return entries
}

// Check runs every row and returns an error that names the first one whose result is not what the values say, according to every peer that can decode it.
// fresh makes another copy of in.Value, to be edited.
func Check(in *Input, fresh func() any, entries []Entry, peers []Peer) error {
	before := bytes.Clone(in.Wire)
	for _, e := range entries {
		want := in.Value
		if e.Op == Edit {
			want = fresh()
			data.Edit(want)
		}
		for _, r := range e.Rows {
			// Twice, and the second time counts too: a row that keeps state must have left none of it in the way.
			for range 2 {
				if err := checkRow(in, e.Op, r, want, peers); err != nil {
					return fmt.Errorf("%s: %s: %w", r.Peer, e.Op, err)
				}
			}
			if !bytes.Equal(before, in.Wire) {
				return fmt.Errorf("%s: %s: wrote into its input", r.Peer, e.Op)
			}
		}
	}
	return nil
}

func checkRow(in *Input, op Op, r Row, want any, peers []Peer) error {
	switch op {
	case Read:
		return same(r.Step(io.Discard), data.Sum(want))
	case Partial:
		return same(r.Step(io.Discard), data.Partial(want))
	}
	var out bytes.Buffer
	r.Step(&out)
	for _, p := range peers {
		if p.Decode == nil {
			continue
		}
		got, err := p.Decode(in, out.Bytes())
		if err != nil {
			return fmt.Errorf("%s cannot decode it: %w", p.Name, err)
		}
		if !reflect.DeepEqual(got, want) {
			return fmt.Errorf("as %s decodes it, the values differ", p.Name)
		}
	}
	return nil
}

func same(got, want uint64) error {
	if got != want {
		return fmt.Errorf("sum %d, want %d", got, want)
	}
	return nil
}
