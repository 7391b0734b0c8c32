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
	last := len(f.src)
	if int(to.Line)+1 < len(table.starts) {
		last = table.starts[to.Line+1]
	}
	return f.format(span{int32(table.starts[from.Line]), int32(last)})
}

// format returns the edits that format the lines in a range. Lines that are joined with others
// outside of the range stay as they are. A file with errors has none.
func (f *file) format(in span) ([]protocol.TextEdit, error) {
	out, err := idlfmt.Format(f.path, []byte(f.src))
	if err != nil {
		return nil, failed("a file with errors is not formatted: %s", strings.SplitN(err.Error(), "\n", 2)[0])
	}
	edits := []protocol.TextEdit{}
	table, at := f.lines(), 0
	for old, new := range idlfmt.Pieces(f.src, string(out)) {
		new = strings.ReplaceAll(new, "\n", f.newline()) // the document keeps its own
		s := span{int32(at), int32(at + len(old))}
		at += len(old)
		if s.from < in.from && in.from < s.to && strings.TrimSpace(f.src[s.from:in.from]) == "" {
			s.from, new = in.from, strings.TrimLeft(new, "\r\n") // the empty lines before stay
			old = f.text(s)
		}
		if old != new && in.from <= s.from && s.to <= in.to {
			edits = append(edits, protocol.TextEdit{Range: table.rangeOf(s), NewText: new})
		}
	}
	return edits, nil
}
