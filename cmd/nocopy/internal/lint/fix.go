package lint

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// edit replaces the text between two offsets of a file.
type edit struct {
	from, to int
	text     string
}

// Fix returns the mended texts by the names of their files. A file may need several rounds of Lint
// and Fix, since edits that overlap wait for the next round. If a mended text does not parse, Fix
// returns an error and no text.
func (r *Result) Fix() (map[string][]byte, error) {
	edits := map[string][]edit{}
	for _, f := range r.Findings {
		if f.fix != nil {
			edits[f.Pos.Filename] = append(edits[f.Pos.Filename], *f.fix)
		}
	}
	texts := map[string][]byte{}
	for name, list := range edits {
		// Small edits first: a new text for the whole file is made again in the next round.
		slices.SortStableFunc(list, func(a, b edit) int { return cmp.Compare(a.to-a.from, b.to-b.from) })
		var chosen []edit
		covers := func(e edit) bool {
			return e.from == 0 && e.to == len(r.Sources[name]) && len(list) > 1
		}
		for _, e := range list {
			if !covers(e) {
				chosen = append(chosen, e)
			}
		}
		slices.SortStableFunc(chosen, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
		text, err := apply(name, r.Sources[name], chosen)
		if err != nil {
			return nil, err
		}
		texts[name] = text
	}
	return texts, nil
}

// apply makes edits, sorted by where they start, except for those that overlap the one before.
func apply(name string, src []byte, edits []edit) ([]byte, error) {
	var out []byte
	at := 0
	for _, e := range edits {
		if e.from < at {
			continue
		}
		out = append(append(out, src[at:e.from]...), e.text...)
		at = e.to
	}
	out = append(out, src[at:]...)
	if _, err := idl.Parse(name, out); err != nil {
		return nil, fmt.Errorf("%s would not parse after it was mended, please report this with the file: %w", name, err)
	}
	return out, nil
}

// removeLine returns the edit that removes the declaration of two tokens at an offset; with its
// line, if nothing else is on it but a comment after it.
func (f *file) removeLine(offset int) *edit {
	i := f.token(offset) + 1
	if i >= len(f.tokens) {
		return nil
	}
	from, to := offset, f.tokens[i].Pos.Offset+len(f.tokens[i].Text)
	for i+1 < len(f.tokens) && f.tokens[i+1].Kind == idl.CommentToken && f.tokens[i+1].Pos.Line == f.tokens[i].EndLine() {
		i++
		to = f.tokens[i].Pos.Offset + len(f.tokens[i].Text)
	}
	line := f.tokens[i].EndLine()
	first := f.token(offset)
	alone := first == 0 || f.tokens[first-1].EndLine() < f.tokens[first].Pos.Line
	if alone && (i+1 == len(f.tokens) || f.tokens[i+1].Pos.Line > line) {
		from = bytes.LastIndexByte(f.src[:from], '\n') + 1
		if n := bytes.IndexByte(f.src[to:], '\n'); n >= 0 {
			to += n + 1
		}
	}
	return &edit{from, to, ""}
}

// Edit returns how Fix mends the finding: a text for what is between two offsets of the file.
func (f Finding) Edit() (from, to int, text string, ok bool) {
	if f.fix == nil {
		return 0, 0, "", false
	}
	return f.fix.from, f.fix.to, f.fix.text, true
}
