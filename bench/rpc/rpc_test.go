package main

import (
	"testing"
	"time"
)

// TestRows: every peer has every row, both ways.
func TestRows(t *testing.T) {
	for _, p := range rowsPeers {
		get, put, stop, err := p.open(p.framed)
		if err != nil {
			t.Fatal(p.name, ": ", err)
		}
		for _, n := range []int{1, 1000, 100_000} {
			for _, call := range []func(int) (int64, error){get, put} {
				if got, err := call(n); err != nil || got != sumOf(n) {
					t.Errorf("%s: %d rows have the sum %d, not %d (%v)", p.name, n, got, sumOf(n), err)
				}
			}
		}
		stop()
	}
}

// TestPeers: every peer answers right, in every mode, at every size.
func TestPeers(t *testing.T) {
	for _, p := range peers {
		addr, err := p.start()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range modes {
			for _, size := range []int{190, 4096, 65536, 1 << 20} {
				if m.pipelined && !p.pipelines {
					continue
				}
				if r, err := measure(p, addr, m, size, 10*time.Millisecond); err != nil || r.rate <= 0 || r.cpu <= 0 {
					t.Errorf("%s, %s, %d bytes: %+v, %v", p.name, m.name, size, r, err)
				}
			}
		}
	}
}

// TestShared: every peer between processes of one host has every record, both ways.
func TestShared(t *testing.T) {
	for _, p := range sharedPeers {
		for _, n := range []int{1, 100, 1000} {
			for _, all := range []bool{true, false} {
				calls, stop, err := p.open(t.TempDir(), n, 2, all)
				if err != nil {
					t.Fatal(p.name, ": ", err)
				}
				for range 5 {
					for _, call := range calls {
						if err := call(); err != nil {
							t.Errorf("%s, %d records: %v", p.name, n, err)
						}
					}
				}
				stop()
			}
		}
	}
}
