package lsp

import (
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"

	protocol "github.com/tliron/glsp/protocol_3_16"
)

// reserved matches a comment such as "// reserved 3, 5: string note". The IDL has no word for ids
// that must not be used again.
var reserved = regexp.MustCompile(`^(?://+|#+|/\*+)\s*reserved\s+(\d+(?:\s*,\s*\d+)*)\b`)

// reservedIDs returns the ids that comments in the body of a struct reserve.
func (f *file) reservedIDs(n *node) map[int64]bool {
	ids := map[int64]bool{}
	for _, t := range f.tokensIn(n.body) {
		if t.kind != commentToken {
			continue
		}
		m := reserved.FindStringSubmatch(f.text(t.span))
		if m == nil {
			continue
		}
		for id := range strings.SplitSeq(m[1], ",") {
			if v, err := strconv.ParseInt(strings.TrimSpace(id), 10, 64); err == nil {
				ids[v] = true
			}
		}
	}
	return ids
}

// tokensIn returns the tokens in a range.
func (f *file) tokensIn(s span) []token {
	all := f.allTokens()
	from := sort.Search(len(all), func(i int) bool { return all[i].from >= s.from })
	to := sort.Search(len(all), func(i int) bool { return all[i].to > s.to })
	return all[min(from, to):to]
}

// reusedIDs returns the fields whose ids a comment reserves.
func (f *file) reusedIDs() (list []problem) {
	if !strings.Contains(f.src, "reserved") {
		return nil
	}
	for _, n := range f.nodes {
		if !n.hasFields() {
			continue
		}
		ids := f.reservedIDs(n)
		for _, c := range n.children {
			if id, ok := f.number(c); ok && ids[id] {
				list = append(list, problem{span: c.id, severity: protocol.DiagnosticSeverityWarning, source: "nocopy", code: "reserved",
					message: fmt.Sprintf("id %d is reserved by a comment", id)})
			}
		}
	}
	return list
}

// nextID returns the smallest id above all that a list of fields has, or that comments reserve.
func (f *file) nextID(n *node, throws bool) int64 {
	next := int64(1)
	for _, c := range n.children {
		if id, ok := f.number(c); ok && c.throws == throws && id < 1<<15-1 {
			next = max(next, id+1)
		}
	}
	if n.hasFields() {
		for id := range f.reservedIDs(n) {
			if id < 1<<15-1 {
				next = max(next, id+1)
			}
		}
	}
	return next
}
