package main

import (
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/limit"
	"github.com/nocopythrift/nocopythrift/bench/peer"
)

// TestAgree runs every row of every peer once on small messages of every shape. Messages that a
// row writes are read by all peers that can, and compared.
func TestAgree(t *testing.T) {
	for _, w := range data.Tiny() {
		t.Run(w.Name, func(t *testing.T) {
			if _, err := prepare(w); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestCheckNotices: a row with a wrong result, or that writes into its input, is refused.
func TestCheckNotices(t *testing.T) {
	for _, w := range data.Tiny() {
		v := w.New()
		in := &peer.Input{Value: v, Wire: limit.Append(nil, data.Message(v))}
		peers := judges(w)
		for i, e := range peer.Entries(in, peers) {
			good := e.Rows[0].Make()
			for name, step := range spoilt(in, e.Op, good) {
				entries := peer.Entries(in, peers)
				entries[i].Rows[0].Make = func() peer.Step { return step }
				wire := in.Wire
				in.Wire = append([]byte(nil), wire...)
				if err := peer.Check(in, w.New, entries, peers); err == nil {
					t.Errorf("%s %s: a row that %s passes", w.Name, e.Op, name)
				}
				in.Wire = wire
			}
		}
	}
}

// TestSizes: the C workloads have the sizes that they are named after.
func TestSizes(t *testing.T) {
	want := map[string]int{"A": 1 << 20, "B": 190, "C1K": 1 << 10, "C4K": 4 << 10, "C20K": 20 << 10, "C256K": 256 << 10, "C6M": 6 << 20, "D": 1 << 20, "F": 2_450_000, "W": 360_000}
	for _, w := range data.All() {
		size := want[w.Name]
		if size == 0 {
			continue
		}
		n := len(limit.Append(nil, w.New()))
		if off := float64(n)/float64(size) - 1; off < -0.05 || off > 0.05 {
			t.Errorf("%s is %d bytes on the wire, want %d within 5 %%", w.Name, n, size)
		}
	}
}

func TestSelection(t *testing.T) {
	all := data.All()
	s, err := parseSelection(all, "C20K/edit,B,G-A")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		op   peer.Op
		want bool
	}{{"C20K", peer.Edit, true}, {"C20K", peer.Build, false}, {"B", peer.Build, true}, {"C4K", peer.Edit, false}, {"G-A-x4", peer.Read, true}, {"G-C-x4", peer.Read, false}, {"A", peer.Read, false}} {
		if got := s.op(c.name, c.op); got != c.want {
			t.Errorf("%s/%s selected: %v, want %v", c.name, c.op, got, c.want)
		}
	}
	if s, err := parseSelection(all, "C"); err != nil || !s.op("C6M", peer.Read) || s.op("B", peer.Read) {
		t.Errorf("C must select all sizes of C and nothing else (%v)", err)
	}
	if _, err := parseSelection(all, "G/edit"); err != nil {
		t.Errorf("G/edit, which G-C has: %v", err)
	}
	for bad, want := range map[string]string{
		"X": "there are A, B, C1K", "C20": "there are A, B, C1K", "": "nothing", ",": "nothing", "B,,X": "there are", "B/walk": "it has build, read, partial, edit",
		"A/edit,B/read": "A has no operation \"edit\"; it has build, read, total", "A/build/x": "it has build, read, total",
	} {
		if _, err := parseSelection(all, bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one that says %q", bad, err, want)
		}
	}
}
