package lsp

import (
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"unicode/utf8"

	protocol "github.com/tliron/glsp/protocol_3_16"
)

// lines converts between offsets of a text and positions, which count lines and, in a line, units
// of UTF-16. It takes any position: one beyond the text or a line is at its end.
type lines struct {
	src    string
	starts []int     // of lines
	marks  []mileage // one for each block of the text
}

// mileage is the first character of a block, and the units before it in the text.
type mileage struct{ offset, units int }

// block is the length of a block. It bounds what position looks at in a long line.
const block = 1024

func linesOf(src string) *lines {
	l := &lines{src: src, starts: []int{0}}
	for at := (mileage{}); ; {
		l.marks = append(l.marks, at)
		next := len(l.marks) * block
		for next < len(src) && !utf8.RuneStart(src[next]) {
			next++
		}
		if next >= len(src) {
			break
		}
		at = mileage{next, at.units + units(src[at.offset:next])}
	}
	for i := 0; i < len(src); i++ {
		if src[i] == '\n' || src[i] == '\r' && (i+1 == len(src) || src[i+1] != '\n') {
			l.starts = append(l.starts, i+1)
		}
	}
	return l
}

// line returns the text of a line without its end.
func (l *lines) line(n int) string {
	end := len(l.src)
	if n+1 < len(l.starts) {
		end = l.starts[n+1]
	}
	return strings.TrimRight(l.src[l.starts[n]:end], "\r\n")
}

// offset returns the offset of a position.
func (l *lines) offset(p protocol.Position) int {
	if uint64(p.Line) >= uint64(len(l.starts)) {
		return len(l.src)
	}
	line, n := l.line(int(p.Line)), uint32(0)
	for i, r := range line {
		if n >= p.Character {
			return l.starts[p.Line] + i
		}
		n += unitsOf(r)
	}
	return l.starts[p.Line] + len(line)
}

// unitsOf returns how many units of UTF-16 a character has.
func unitsOf(r rune) uint32 {
	if r >= 0x10000 {
		return 2
	}
	return 1
}

// position returns the position of an offset.
func (l *lines) position(offset int) protocol.Position {
	offset = max(0, min(offset, len(l.src)))
	n := sort.SearchInts(l.starts, offset+1) - 1
	start := l.starts[n]
	if offset-start <= block {
		return protocol.Position{Line: uint32(n), Character: uint32(units(l.src[start:offset]))}
	}
	return protocol.Position{Line: uint32(n), Character: uint32(l.before(offset) - l.before(start))}
}

// before returns the units before an offset.
func (l *lines) before(offset int) int {
	i := min(offset/block, len(l.marks)-1)
	if l.marks[i].offset > offset {
		i--
	}
	return l.marks[i].units + units(l.src[l.marks[i].offset:offset])
}

// units returns how many units of UTF-16 a text has.
func units(text string) (n int) {
	for _, r := range text {
		n += int(unitsOf(r))
	}
	return n
}

// rangeOf returns a range of offsets as one of positions.
func (l *lines) rangeOf(s span) protocol.Range {
	return protocol.Range{Start: l.position(int(s.from)), End: l.position(int(s.to))}
}

// spanOf returns a range of positions as one of offsets. It is empty if it ends before it begins.
func (l *lines) spanOf(r protocol.Range) span {
	from := l.offset(r.Start)
	return span{int32(from), int32(max(from, l.offset(r.End)))}
}

// document is a file that is open in the editor: its text is the editor's, not the disk's.
type document struct {
	uri     string // as the editor writes it
	version int32
	file    *file
}

// changed returns a text after one change, of a range or of all of it. The error says that the
// text would become too large.
func changed(src string, change any) (string, error) {
	switch c := change.(type) {
	case protocol.TextDocumentContentChangeEvent:
		if c.Range == nil {
			src = c.Text
			break
		}
		s := linesOf(src).spanOf(*c.Range)
		src = src[:s.from] + c.Text + src[s.to:]
	case protocol.TextDocumentContentChangeEventWhole:
		src = c.Text
	}
	if len(src) > maxFile {
		return "", fmt.Errorf("a document of more than %d MB", maxFile>>20)
	}
	return src, nil
}

// pathOf returns the path of a file's URI; "" if it is of no file.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" || strings.ContainsRune(u.Path, 0) {
		return ""
	}
	name := u.Path
	if runtime.GOOS == "windows" && len(name) > 2 && name[0] == '/' && name[2] == ':' {
		name = name[1:]
	}
	return filepath.Clean(filepath.FromSlash(name))
}

// uriOf returns the URI of a path.
func uriOf(name string) string {
	name = filepath.ToSlash(name)
	if !strings.HasPrefix(name, "/") {
		name = "/" + name
	}
	return (&url.URL{Scheme: "file", Path: name}).String()
}
