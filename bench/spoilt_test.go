// Operations of benchmarks done wrong, which the checks of agreement must find.

package main

import (
	"io"

	"github.com/nocopythrift/nocopythrift/bench/peer"
)

type step = func(io.Writer) uint64

// spoilt returns versions of a row's step that do its operation wrong, each under what it does.
func spoilt(in *peer.Input, op peer.Op, good step) map[string]step {
	s := map[string]step{
		"writes into its input": func(w io.Writer) uint64 {
			n := good(w)
			in.Wire[len(in.Wire)/2]++
			return n
		},
	}
	switch op {
	case peer.Read, peer.Partial, peer.Total:
		s["returns another sum"] = func(w io.Writer) uint64 { return good(w) + 1 }
	case peer.Edit:
		s["changes nothing"] = func(w io.Writer) uint64 {
			n, _ := w.Write(in.Wire)
			return uint64(n)
		}
		fallthrough
	default:
		s["writes a truncated message"] = func(w io.Writer) uint64 { return good(truncate{w}) }
	}
	return s
}

// truncate drops the last byte of each write.
type truncate struct{ w io.Writer }

func (t truncate) Write(b []byte) (int, error) {
	n, err := t.w.Write(b[:len(b)-1])
	return n + 1, err
}
