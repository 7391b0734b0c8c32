package lsp

import (
	"fmt"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	protocol "github.com/tliron/glsp/protocol_3_16"
)

func (s *server) hover(p *protocol.HoverParams) (any, error) {
	f, at, err := s.at(p.TextDocumentPositionParams)
	if err != nil {
		return nil, err
	}
	var text string
	t, where := s.targetAt(f, at)
	switch i := tokenAt(f.allTokens(), at); {
	case t.n != nil:
		text = s.describe(t)
	case i >= 0 && f.allTokens()[i].kind == wordToken:
		where = f.allTokens()[i].span
		if text = annotationDoc(f.text(where)); text == "" {
			text = describeBase(f.text(where))
		}
	}
	if text == "" {
		return nil, nil
	}
	in := f.lines().rangeOf(where)
	return protocol.Hover{Contents: protocol.MarkupContent{Kind: protocol.MarkupKindMarkdown, Value: text}, Range: &in}, nil
}

// describeBase describes a base type.
func describeBase(name string) string {
	if size := baseSizes[name]; size > 0 {
		return fmt.Sprintf("`%s`: %s", name, bytesText(size))
	}
	return ""
}

// describe returns what is known of a declaration, as Markdown.
func (s *server) describe(t target) string {
	f, n := t.f, t.n
	if n.kind == includeNode {
		if g := s.include(f, n); g != nil {
			return "`" + g.path + "`"
		}
		return "not found"
	}
	text := "```thrift\n" + f.source(n) + "\n```\n"
	if doc := f.doc(n); doc != "" {
		text += "\n" + doc + "\n"
	}
	var facts []string
	fact := func(format string, args ...any) { facts = append(facts, "- "+fmt.Sprintf(format, args...)) }
	if n.parent != nil {
		fact("of `%s`", f.text(n.parent.name))
	}
	switch n.kind {
	case fieldNode:
		if id := f.text(n.id); id != "" {
			fact("id %s", id)
		}
		fact("type %s", s.typeFacts(f, n.typ))
		if def := f.text(n.value); def != "" {
			fact("default `%s`", oneLine(def))
		}
		if size := s.size(f, n.typ, 0); size > 0 {
			fact("wire size %s, %d with the field's header (Binary)", bytesText(size), size+fieldHeader)
		}
	case valueNode:
		if v, ok := f.enumNumber(n); ok {
			fact("number %d", v)
		}
	case typedefNode, constNode:
		fact("type %s", s.typeFacts(f, n.typ))
		if size := s.size(f, n.typ, 0); size > 0 && n.kind == typedefNode {
			fact("wire size %s (Binary)", bytesText(size))
		}
	case enumNode:
		fact("wire size %s (Binary)", bytesText(baseSizes["i32"]))
	case structNode, exceptionNode:
		if size := s.structSize(t, 0); size > 0 {
			fact("wire size %s (Binary)", bytesText(size))
		}
		fact("next free id %d", f.nextID(n, false))
	}
	fact("in `%s`", filepath.Base(f.path))
	return text + "\n" + strings.Join(facts, "\n")
}

func bytesText(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return strconv.Itoa(n) + " bytes"
}

// oneLine returns the beginning of a text without line breaks.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + " …"
	}
	return s
}

// typeFacts returns a type and, if it is not a base type, what its name stands for.
func (s *server) typeFacts(f *file, typ *typeRef) string {
	if typ == nil {
		return "`?`"
	}
	text := "`" + f.typeText(typ) + "`"
	for range maxTypedefs {
		t := s.typeOf(f, typ)
		if t.n == nil || t.n.kind != typedefNode || t.n.typ == nil {
			if t.n != nil {
				text += fmt.Sprintf(", a %s in `%s`", t.f.word(t.n), filepath.Base(t.f.path))
			}
			return text
		}
		f, typ = t.f, t.n.typ
		text += " = `" + f.typeText(typ) + "`"
	}
	return text
}

// word returns the word that a definition begins with.
func (f *file) word(n *node) string {
	_, length := next(f.src[n.from:])
	return f.src[n.from : int(n.from)+length]
}

// enumNumber returns the number of an enum's value, which need not be written.
func (f *file) enumNumber(n *node) (int64, bool) {
	next := int64(0)
	for _, v := range n.parent.children {
		if f.text(v.id) != "" {
			number, ok := f.number(v)
			if !ok {
				return 0, false
			}
			next = number
		}
		if v == n {
			return next, true
		}
		next++
	}
	return 0, false
}

// maxSource is how many lines of a declaration are shown.
const maxSource = 40

// source returns the text of a declaration, indented as at the left margin.
func (f *file) source(n *node) string {
	text := f.text(n.span)
	if n.parent == nil && n.hasFields() || n.kind == enumNode || n.kind == serviceNode {
		text = strings.TrimRight(text, " \t\r\n")
	} else {
		text = strings.TrimRight(text, " \t\r\n,;")
	}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	begin := strings.LastIndexAny(f.src[:n.from], "\r\n") + 1
	indent := f.src[begin:n.from]
	if strings.TrimLeft(indent, " \t") != "" {
		indent = ""
	}
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], indent)
	}
	if len(lines) > maxSource {
		lines = append(lines[:maxSource], "…")
	}
	return strings.ReplaceAll(strings.Join(lines, "\n"), "```", "` ` `")
}

// doc returns the comment above a declaration or, if there is none, the one beside it.
func (f *file) doc(n *node) string {
	tokens := f.allTokens()
	i := sort.Search(len(tokens), func(i int) bool { return tokens[i].from >= n.from })
	first, at := i, int(n.from)
	for first > 0 && tokens[first-1].kind == commentToken && strings.Count(f.src[tokens[first-1].to:at], "\n") <= 1 {
		beside := first > 1 && !strings.Contains(f.src[tokens[first-2].to:tokens[first-1].from], "\n") && tokens[first-2].kind != commentToken
		if beside { // of what is before
			break
		}
		first--
		at = int(tokens[first].from)
	}
	if first == i {
		j := sort.Search(len(tokens), func(i int) bool { return tokens[i].from >= n.to })
		if j < len(tokens) && tokens[j].kind == commentToken && !strings.Contains(f.src[n.to:tokens[j].from], "\n") {
			first, i = j, j+1
		}
	}
	var texts []string
	for _, t := range tokens[first:i] {
		texts = append(texts, commentText(f.text(t.span)))
	}
	return strings.Trim(strings.Join(texts, "\n"), "\n")
}

// commentText returns a comment without what makes it one.
func commentText(s string) string {
	if !strings.HasPrefix(s, "/*") {
		return strings.TrimSpace(strings.TrimLeft(s, "/#"))
	}
	s = strings.TrimRight(strings.TrimSuffix(s[2:], "/"), "*")
	lines := strings.Split(strings.TrimLeft(s, "*"), "\n")
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if i > 0 {
			line = strings.TrimPrefix(strings.TrimPrefix(line, "*"), " ")
		}
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}

// baseSizes are the bytes of types in the Binary protocol, if all their values have the same.
var baseSizes = map[string]int{"bool": 1, "byte": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "double": 8, "uuid": 16}

// fieldHeader is the type and the id of a field in the Binary protocol.
const fieldHeader = 3

// size returns the bytes of a type in the Binary protocol, 0 if its values differ. depth is how
// many structs it is in.
func (s *server) size(f *file, typ *typeRef, depth int) int {
	f, typ = s.resolved(f, typ)
	if typ == nil || typ.args != nil || depth > maxTypedefs {
		return 0
	}
	t := s.follow(s.typeOf(f, typ))
	switch {
	case t.n == nil:
		return baseSizes[f.text(typ.name)]
	case t.n.kind == enumNode:
		return baseSizes["i32"]
	}
	return s.structSize(t, depth+1)
}

// structSize is size for a struct: only if all its fields are required, they are always there.
func (s *server) structSize(t target, depth int) int {
	if t.n.kind != structNode && t.n.kind != exceptionNode || depth > 8 {
		return 0
	}
	size := 1 // the end
	for _, c := range t.n.children {
		of := s.size(t.f, c.typ, depth)
		if of == 0 || !t.f.isRequired(c) {
			return 0
		}
		size += fieldHeader + of
	}
	return size
}

// isRequired reports whether a field is declared so.
func (f *file) isRequired(n *node) bool {
	for _, t := range scan(f.text(span{n.from, max(n.from, n.name.from)})) {
		if t.kind == wordToken {
			return f.src[int(n.from)+int(t.from):int(n.from)+int(t.to)] == "required"
		}
	}
	return false
}
