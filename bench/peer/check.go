package peer

import (
	"bytes"
	"fmt"
	"io"
	"reflect"

	"github.com/nocopythrift/nocopythrift/bench/data"
)

// Check runs every row. Every peer that can decode a result compares it with the values. The error
// names the first row with a difference. fresh makes another copy of in.Value, to be edited.
// entries are the result of Entries.
func Check(in *Input, fresh func() any, entries []Entry, peers []Peer) error {
	before := bytes.Clone(in.Wire)
	for _, e := range entries {
		want := in.Value
		if e.Op == Edit {
			want = fresh()
			data.Edit(want)
		}
		c := checker{in: in, op: e.Op, want: want, peers: peers, good: map[string][]byte{}}
		for i, r := range e.Rows {
			step := r.Make()
			// Twice, since a row may keep state that spoils the second time.
			for range 2 {
				if err := c.check(step, e.By[i].Format); err != nil {
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

// checker checks the rows of one entry.
type checker struct {
	in    *Input
	op    Op
	want  any
	peers []Peer
	// By format, the last correct output: the same bytes need not be decoded again
	good map[string][]byte
}

func (c *checker) check(step Step, format string) error {
	switch c.op {
	case Read:
		return same(step(io.Discard), data.Sum(c.want))
	case Total:
		return same(step(io.Discard), data.Sum(c.want))
	case Partial:
		return same(step(io.Discard), data.Partial(c.want))
	}
	var out bytes.Buffer
	step(&out)
	if good := c.good[format]; good != nil && bytes.Equal(good, out.Bytes()) {
		return nil
	}
	decoded := false
	for i := range c.peers {
		p := &c.peers[i]
		if p.Decode == nil || p.Format != format {
			continue
		}
		got, err := p.Decode(c.in, out.Bytes())
		if err != nil {
			return fmt.Errorf("%s cannot decode it: %w", p.Name, err)
		}
		if !reflect.DeepEqual(got, data.Message(c.want)) {
			return fmt.Errorf("as %s decodes it, the values differ", p.Name)
		}
		decoded = true
	}
	if !decoded {
		return fmt.Errorf("nobody decodes format %q", format)
	}
	c.good[format] = out.Bytes()
	return nil
}

func same(got, want uint64) error {
	if got != want {
		return fmt.Errorf("sum %d, want %d", got, want)
	}
	return nil
}
