package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/peer"
)

// selection is the parsed form of -w: workload names or groups, each with an operation or "" for all. Empty, it selects everything.
type selection []selected

type selected struct {
	name string
	op   peer.Op
}

func parseSelection(workloads []data.Workload, list string) (selection, error) {
	var s selection
	for item := range strings.SplitSeq(list, ",") {
		if item == "" {
			continue
		}
		name, op, _ := strings.Cut(item, "/")
		i := selected{name, peer.Op(op)}
		known := slices.ContainsFunc(workloads, func(w data.Workload) bool { return i.workload(w.Name) })
		if !known || op != "" && !slices.Contains(peer.Ops, i.op) {
			return nil, fmt.Errorf("no workload %q; there are %s", item, names(workloads))
		}
		s = append(s, i)
	}
	return s, nil
}

// workload reports whether a workload is the one selected, or of that group: C stands for C1K to C6M, G-A for G-A-x1 to G-A-x64.
func (i selected) workload(name string) bool {
	return name == i.name || strings.HasPrefix(name, i.name+"-") || len(i.name) == 1 && strings.HasPrefix(name, i.name)
}

func (s selection) workload(name string) bool {
	return len(s) == 0 || slices.ContainsFunc(s, func(i selected) bool { return i.workload(name) })
}

func (s selection) op(name string, op peer.Op) bool {
	return len(s) == 0 || slices.ContainsFunc(s, func(i selected) bool { return i.workload(name) && (i.op == "" || i.op == op) })
}

func names(workloads []data.Workload) string {
	var n []string
	for _, w := range workloads {
		n = append(n, w.Name)
	}
	return strings.Join(n, ", ")
}
