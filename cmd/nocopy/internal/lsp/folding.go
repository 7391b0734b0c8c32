package lsp

import (
	"slices"
	"strings"

	protocol "github.com/tliron/glsp/protocol_3_16"
)

func (s *server) foldingRanges(p *protocol.FoldingRangeParams) (any, error) {
	f, err := s.file(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	table := f.lines()
	list := []protocol.FoldingRange{}
	fold := func(from, to int32, kind string) {
		start, end := table.position(int(from)).Line, table.position(int(to)).Line
		if end <= start {
			return
		}
		r := protocol.FoldingRange{StartLine: start, EndLine: end}
		if kind != "" {
			r.Kind = &kind
		}
		list = append(list, r)
	}
	f.all(func(n *node) {
		if n.body.to > n.body.from {
			end := n.body.to
			if f.src[end-1] == '}' { // it stays visible
				end = int32(strings.LastIndexAny(f.src[:end-1], "\n\r"))
				end = max(end, n.body.from)
			}
			fold(n.body.from, end, "")
		}
	})
	run := func(is func(i int) bool, count int, at func(i int) span, kind string) {
		for i := 0; i < count; i++ {
			from := i
			for is(i) && i+1 < count && is(i+1) && strings.Count(f.src[at(i).to:at(i+1).from], "\n") == 1 {
				i++
			}
			if is(i) {
				fold(at(from).from, at(i).to, kind)
			}
		}
	}
	tokens := f.allTokens()
	run(func(i int) bool { return tokens[i].kind == commentToken }, len(tokens), func(i int) span { return tokens[i].span }, "comment")
	run(func(i int) bool { return f.nodes[i].kind == includeNode }, len(f.nodes), func(i int) span { return f.nodes[i].span }, "imports")
	slices.SortStableFunc(list, func(a, b protocol.FoldingRange) int { return int(a.StartLine) - int(b.StartLine) })
	return list, nil
}
