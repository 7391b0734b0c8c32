package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/peer"
)

// selection is the parsed form of -w: workload names or groups, each with an operation or "" for
// all. Empty, it selects everything.
type selection []selected

type selected struct {
	name string
	op   peer.Op
}

// parseSelection reads list. Each of its items must select something.
func parseSelection(workloads []data.Workload, list string) (selection, error) {
	var s selection
	for item := range strings.SplitSeq(list, ",") {
		if item == "" {
			continue
		}
		name, op, _ := strings.Cut(item, "/")
		i := selected{name, peer.Op(op)}
		var ops []peer.Op
		for _, w := range workloads {
			if i.workload(w.Name) {
				ops = append(ops, peer.Defined(w.Kind)...)
			}
		}
		if len(ops) == 0 {
			return nil, noWorkload(name, workloads)
		}
		if op != "" && !slices.Contains(ops, i.op) {
			return nil, noOp(name, i.op, ops)
		}
		s = append(s, i)
	}
	if len(s) == 0 {
		return nil, fmt.Errorf("nothing is selected by %q", list)
	}
	return s, nil
}

func noWorkload(name string, workloads []data.Workload) error {
	var names []string
	for _, w := range workloads {
		names = append(names, w.Name)
	}
	return fmt.Errorf("no workload %q; there are %s", name, strings.Join(names, ", "))
}

// noOp returns the error that the workload called name has only the operations in have, not op.
func noOp(name string, op peer.Op, have []peer.Op) error {
	var ops []string
	for _, o := range peer.Ops {
		if slices.Contains(have, o) {
			ops = append(ops, string(o))
		}
	}
	return fmt.Errorf("%s has no operation %q; it has %s", name, op, strings.Join(ops, ", "))
}

// workload reports whether a workload is the selected one, or in the selected group: C stands for
// C1K to C6M, G-A for G-A-x1 to G-A-x64.
func (i selected) workload(name string) bool {
	return name == i.name || strings.HasPrefix(name, i.name+"-") || len(i.name) == 1 && strings.HasPrefix(name, i.name)
}

func (s selection) op(name string, op peer.Op) bool {
	return len(s) == 0 || slices.ContainsFunc(s, func(i selected) bool { return i.workload(name) && (i.op == "" || i.op == op) })
}

// ops returns the selected operations of w.
func (s selection) ops(w data.Workload) []peer.Op {
	return slices.DeleteFunc(peer.Defined(w.Kind), func(op peer.Op) bool { return !s.op(w.Name, op) })
}
