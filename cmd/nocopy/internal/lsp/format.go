package lsp

import (
	"strings"

	protocol "github.com/tliron/glsp/protocol_3_16"

	"github.com/nocopythrift/nocopythrift/gen/idlfmt"
)

func (s *server) formatting(p *protocol.DocumentFormattingParams) (any, error) {
	f, err := s.file(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	return f.format(span{0, int32(len(f.src))})
}

// rangeFormatting changes the lines of a range only, and as formatting would.
func (s *server) rangeFormatting(p *protocol.DocumentRangeFormattingParams) (any, error) {
	f, err := s.file(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	table := f.lines()
	at := table.spanOf(p.Range)
	from, to := table.position(int(at.from)), table.position(int(at.to))
	if to.Character == 0 && to.Line > from.Line { // the range ends before the line
		to.Line--
	}
	first, last := table.starts[from.Line], table.starts[to.Line]+len(table.line(int(to.Line)))
	return f.format(span{int32(first), int32(last)})
}

// format returns the edits that format the lines in a range. A file with errors has none.
func (f *file) format(in span) ([]protocol.TextEdit, error) {
	out, err := idlfmt.Format(f.path, []byte(f.src))
	if err != nil {
		return nil, failed("a file with errors is not formatted: %s", strings.SplitN(err.Error(), "\n", 2)[0])
	}
	edits := []protocol.TextEdit{}
	table, at := f.lines(), 0
	ends := strings.Contains(f.src, "\r\n") // the document keeps its own
	for old, new := range idlfmt.Pieces(f.src, string(out)) {
		if ends {
			new = strings.ReplaceAll(new, "\n", "\r\n")
		}
		s := span{int32(at), int32(at + len(old))}
		at += len(old)
		if old != new && s.from <= in.to && (s.to > in.from || s.from == s.to && s.from >= in.from) {
			edits = append(edits, protocol.TextEdit{Range: table.rangeOf(s), NewText: new})
		}
	}
	return edits, nil
}
