package lsp

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	protocol "github.com/tliron/glsp/protocol_3_16"
)

func (s *server) completion(p *protocol.CompletionParams) (any, error) {
	f, at, err := s.at(p.TextDocumentPositionParams)
	if err != nil {
		return nil, err
	}
	c := &completer{server: s, f: f, at: int32(at), word: span{int32(at), int32(at)}, items: []protocol.CompletionItem{}}
	c.complete()
	edit := f.lines().rangeOf(c.word)
	for i := range c.items {
		item := &c.items[i]
		text := item.Label
		if item.InsertText != nil {
			text, item.InsertText = *item.InsertText, nil
		}
		item.TextEdit = protocol.TextEdit{Range: edit, NewText: text}
	}
	return protocol.CompletionList{Items: c.items, IsIncomplete: c.others >= maxOthers}, nil
}

// completer collects what can stand at an offset.
type completer struct {
	*server
	f     *file
	at    int32
	word  span    // what the choice replaces: the word around at
	left  []token // those before word, without comments
	items []protocol.CompletionItem

	others int // how many items are of files that are not included
}

// add adds an item. rank orders items: those with the smallest come first.
func (c *completer) add(rank int, kind protocol.CompletionItemKind, label, detail string) *protocol.CompletionItem {
	sort := strconv.Itoa(rank) + label
	c.items = append(c.items, protocol.CompletionItem{Label: label, Kind: &kind, Detail: &detail, SortText: &sort})
	return &c.items[len(c.items)-1]
}

// words adds keywords.
func (c *completer) words(rank int, list string) {
	for _, w := range strings.Fields(list) {
		c.add(rank, protocol.CompletionItemKindKeyword, w, "")
	}
}

// before returns the text of a token before the word, the last one for 1; "" if there is none.
func (c *completer) before(n int) string {
	if n > len(c.left) {
		return ""
	}
	return c.f.text(c.left[len(c.left)-n].span)
}

// locate finds the word and what is before it. It reports whether the word is in quotes, and false
// as ok in a comment.
func (c *completer) locate() (quoted, ok bool) {
	for _, t := range c.f.allTokens() {
		switch {
		case t.from >= c.at:
			return quoted, true
		case t.kind == commentToken:
			if t.to > c.at || t.to == c.at && !strings.HasPrefix(c.f.text(t.span), "/*") {
				return false, false
			}
		case t.kind == wordToken && t.to >= c.at:
			c.word = t.span
		case t.kind == textToken && t.to >= c.at && !c.closed(t):
			c.word, quoted = span{t.from + 1, c.at}, true
		case t.kind == textToken && t.to > c.at:
			c.word, quoted = span{t.from + 1, t.to - 1}, true
		default:
			c.left = append(c.left, t)
		}
	}
	return quoted, true
}

// closed reports whether a text has both quotes.
func (c *completer) closed(t token) bool {
	text := c.f.text(t.span)
	return len(text) > 1 && text[len(text)-1] == text[0]
}

// complete adds what can stand at the offset.
func (c *completer) complete() {
	quoted, ok := c.locate()
	if !ok {
		return
	}
	top, member := c.around()
	open := c.parenthesis(member)
	switch {
	case quoted && (c.before(1) == "include" || c.before(1) == "cpp_include"):
		c.includes()
	case open == annotationParen:
		if !quoted && c.before(1) != "=" {
			c.annotations()
		}
	case c.inValue(top, member):
		c.value(top, member, quoted)
	case !quoted:
		c.declaration(top, member, open)
	}
}

// declaration adds what a declaration can have at the offset, outside of values and annotations.
func (c *completer) declaration(top, member *node, open int) {
	switch {
	case top == nil:
		c.definition()
	case top.kind == enumNode:
		c.enumMember(top)
	case top.kind == serviceNode && open == noParen:
		c.method()
	case member != nil && open != noParen:
		c.field(member, open == throwsParen)
	case top.hasFields():
		c.field(top, false)
	}
}

// around returns the definition whose body the word is in, and the member there: of a service, the
// one whose arguments may be at the word, otherwise the one that begins before it.
func (c *completer) around() (top, member *node) {
	for _, n := range c.f.nodes {
		closed := n.body.to > n.body.from && c.f.src[n.body.to-1] == '}'
		if n.body.to > n.body.from && n.body.from < c.word.from && (c.word.from < n.body.to || !closed && c.word.from <= n.to+1) {
			top = n
		}
	}
	if top == nil {
		return nil, nil
	}
	for _, n := range top.children {
		if n.from < c.word.from {
			member = n
		}
	}
	return top, member
}

// The kinds of parentheses that a word can be in.
const (
	noParen = iota
	argumentParen
	throwsParen
	annotationParen
)

// parenthesis returns the kind of those around the word.
func (c *completer) parenthesis(member *node) int {
	depth := 0
	for i := len(c.left) - 1; i >= 0; i-- {
		switch text := c.f.text(c.left[i].span); text {
		case ")":
			depth++
		case "{", "}":
			return noParen
		case "(":
			if depth--; depth >= 0 {
				continue
			}
			switch {
			case i > 0 && c.f.text(c.left[i-1].span) == "throws":
				return throwsParen
			case member != nil && member.kind == methodNode && (member.body.from == c.left[i].from || i > 0 && member.name == c.left[i-1].span):
				return argumentParen
			}
			return annotationParen
		}
	}
	return noParen
}

// inValue reports whether the word is in the value of a field or constant.
func (c *completer) inValue(top, member *node) bool {
	n := c.valueNode(top, member)
	if n == nil {
		return false
	}
	return c.before(1) == "=" && c.left[len(c.left)-1].from >= n.name.to || n.value.from < n.value.to && n.value.from <= c.word.from && c.unfinished(n)
}

// unfinished reports whether the value of a node goes on at the word, since the word is in it, or
// in brackets of it.
func (c *completer) unfinished(n *node) bool {
	if c.word.from < n.value.to && c.word.from < c.word.to {
		return true
	}
	depth := 0
	for _, t := range c.left {
		if t.from < n.value.from {
			continue
		}
		switch c.f.text(t.span) {
		case "{", "[":
			depth++
		case "}", "]":
			depth--
		}
	}
	return depth > 0
}

// valueNode returns the node whose value the word may be in.
func (c *completer) valueNode(top, member *node) *node {
	switch {
	case top == nil:
		for _, n := range slices.Backward(c.f.nodes) {
			if n.from < c.word.from {
				if n.kind == constNode {
					return n
				}
				break
			}
		}
		return nil
	case member == nil || top.kind == enumNode:
		return nil
	}
	for _, n := range member.children { // arguments
		if n.from < c.word.from && n.name.to <= c.word.from {
			member = n
		}
	}
	if member.kind == fieldNode {
		return member
	}
	return nil
}

// definition adds what can stand outside of definitions.
func (c *completer) definition() {
	line := c.line()
	switch {
	case len(line) == 0:
		c.words(1, "include namespace const typedef enum struct union exception service cpp_include")
	case line[0] == "namespace" && len(line) == 1:
		c.words(1, "* go java py cpp js rs rb php netstd delphi swift erl hs lua perl d dart kotlin cocoa st c_glib haxe json xsd")
	case line[0] == "service" && len(line) == 2:
		c.words(1, "extends")
	case line[len(line)-1] == "extends":
		c.names(func(n *node) bool { return n.kind == serviceNode })
	case (line[0] == "const" || line[0] == "typedef") && (len(line) == 1 || c.inAngles()):
		c.types()
	}
}

// maxLine is how many tokens line looks at.
const maxLine = 200

// line returns the texts between the word and the beginning of its line or of what it is in.
func (c *completer) line() (list []string) {
	begin := int32(strings.LastIndexAny(c.f.src[:c.word.from], "\r\n") + 1)
	depth := 0
	for i := len(c.left) - 1; i >= max(0, len(c.left)-maxLine) && c.left[i].from >= begin; i-- {
		text := c.f.text(c.left[i].span)
		switch text {
		case ">", ")", "]":
			depth++
		case "<", "[":
			depth--
		case "(":
			if depth--; depth < 0 {
				return list
			}
		case "{", "}", ";":
			return list
		case ",":
			if depth == 0 && !c.inAngles() {
				return list
			}
		}
		list = slices.Insert(list, 0, text)
	}
	return list
}

// inAngles reports whether the word is the type in a container.
func (c *completer) inAngles() bool {
	depth := 0
	for i := len(c.left) - 1; i >= 0; i-- {
		switch t := c.left[i]; c.f.text(t.span) {
		case ">":
			depth++
		case "<":
			if depth--; depth < 0 {
				return true
			}
		case ",":
		default:
			if t.kind != wordToken {
				return false
			}
		}
	}
	return false
}

// enumMember adds the next number of an enum.
func (c *completer) enumMember(top *node) {
	if c.before(1) != "=" {
		return
	}
	most, next := int64(-1), int64(0)
	for _, v := range top.children {
		if v.to >= c.left[len(c.left)-1].to {
			break
		}
		if number, ok := c.f.number(v); ok {
			next = number
		}
		most, next = max(most, next), next+1
	}
	c.add(0, protocol.CompletionItemKindValue, strconv.FormatInt(most+1, 10), "next free number")
}

// method adds what a method can consist of, outside of parentheses.
func (c *completer) method() {
	line := c.line()
	switch {
	case c.before(1) == ")":
		c.words(1, "throws")
		fallthrough
	case len(line) == 0, c.inAngles():
		c.words(2, "void oneway")
		c.types()
	case len(line) == 1 && line[0] == "oneway":
		c.words(1, "void")
	}
}

// field adds what a field can consist of up to its name.
func (c *completer) field(of *node, throws bool) {
	line := c.line()
	if c.inAngles() {
		c.types()
		return
	}
	if len(line) == 0 {
		id := strconv.FormatInt(c.f.nextID(of, throws), 10)
		c.add(0, protocol.CompletionItemKindValue, id+": ", "next free id")
	}
	if len(line) == 2 && line[1] == ":" {
		line = nil
	}
	switch {
	case len(line) == 0:
		if !throws {
			c.words(1, "required optional")
		}
	case line[len(line)-1] != "required" && line[len(line)-1] != "optional":
		return
	}
	if throws {
		c.names(func(n *node) bool { return n.kind == exceptionNode })
		return
	}
	c.types()
}

// types adds all types.
func (c *completer) types() {
	for name := range words(baseTypes) {
		if name != "byte" {
			c.add(3, protocol.CompletionItemKindKeyword, name, "")
		}
	}
	for _, name := range []string{"list", "set", "map"} {
		c.add(3, protocol.CompletionItemKindKeyword, name, "").InsertText = new(name + "<")
	}
	c.names((*node).isType)
}

// maxOthers bounds the names from files that are not included. The editor asks again when more of
// the name was typed.
const maxOthers = 50

// names adds the definitions that are accepted: of the file, of those that it includes, and of all
// others, with an edit that includes them.
func (c *completer) names(accept func(*node) bool) {
	seen := map[string]bool{c.f.path: true}
	for _, n := range c.f.nodes {
		if name := c.f.text(n.name); name != "" && accept(n) {
			c.add(1, completionKind(n), name, c.f.word(n))
		}
	}
	for g, inc := range c.included(c.f) {
		seen[g.path] = true
		for _, n := range g.nodes {
			if name := g.text(n.name); name != "" && accept(n) {
				c.add(2, completionKind(n), inc+"."+name, g.word(n)+" in "+filepath.Base(g.path))
			}
		}
	}
	for _, path := range c.paths() {
		g := c.files[path]
		if seen[path] {
			continue
		}
		if c.others >= maxOthers {
			return
		}
		for _, n := range g.nodes {
			if name := g.text(n.name); name != "" && accept(n) && c.couldBe(name) {
				c.others++
				item := c.add(4, completionKind(n), prefix(g.path)+"."+name, g.word(n)+", includes "+c.pathTo(c.f, g))
				item.AdditionalTextEdits = []protocol.TextEdit{c.includeEdit(c.f, g)}
			}
		}
	}
}

// couldBe reports whether what was typed can become a name, or a file's name before it.
func (c *completer) couldBe(name string) bool {
	typed := c.f.text(span{c.word.from, min(c.at, c.word.to)})
	typed = typed[strings.LastIndexByte(typed, '.')+1:]
	return strings.Contains(strings.ToLower(name), strings.ToLower(typed))
}

// paths returns the paths of the files that were read, sorted.
func (w *workspace) paths() []string {
	list := make([]string, 0, len(w.files))
	for name := range w.files {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// included yields the files that a file includes, with the names that theirs begin with.
func (w *workspace) included(f *file) func(func(*file, string) bool) {
	return func(yield func(*file, string) bool) {
		for _, n := range f.nodes {
			if g := w.include(f, n); g != nil && !yield(g, prefix(f.included(n))) {
				return
			}
		}
	}
}

// completionKind returns the protocol's kind of a declaration.
func completionKind(n *node) protocol.CompletionItemKind {
	switch n.kind {
	case enumNode:
		return protocol.CompletionItemKindEnum
	case valueNode:
		return protocol.CompletionItemKindEnumMember
	case constNode:
		return protocol.CompletionItemKindConstant
	case serviceNode:
		return protocol.CompletionItemKindInterface
	case fieldNode:
		return protocol.CompletionItemKindField
	case typedefNode:
		return protocol.CompletionItemKindClass
	}
	return protocol.CompletionItemKindStruct
}

// value adds what can stand at a place in a value.
func (c *completer) value(top, member *node, quoted bool) {
	n := c.valueNode(top, member)
	at := place{f: c.f, typ: n.typ}
	if n.value.from < n.value.to && n.value.from < c.word.from {
		at = c.valuePlaces(c.f, n, int(c.word.from)-1, func(token, place) {})
		if !quoted {
			at = c.valuePlaces(c.f, n, int(c.word.from), func(token, place) {})
		}
	}
	if at.of.n != nil {
		for _, field := range at.of.n.children {
			name := at.of.f.text(field.name)
			item := c.add(0, protocol.CompletionItemKindField, name, at.of.f.typeText(field.typ))
			if !quoted {
				item.InsertText = new("\"" + name + "\": ")
			}
		}
		return
	}
	if quoted || at.typ == nil {
		return
	}
	f, typ := c.resolved(at.f, at.typ)
	switch t := c.follow(c.typeOf(f, typ)); {
	case t.n != nil && t.n.kind == enumNode:
		if name := c.nameOf(t); name != "" {
			for _, v := range t.n.children {
				c.add(0, protocol.CompletionItemKindEnumMember, name+"."+t.f.text(v.name), t.f.text(v.id))
			}
		}
	case t.n == nil && f.text(typ.name) == "bool":
		c.words(0, "true false")
	}
	c.names(func(n *node) bool { return n.kind == constNode })
}

// nameOf returns how the file calls a definition; "" if it does not include its file.
func (c *completer) nameOf(t target) string {
	if t.f == c.f {
		return t.name()
	}
	for g, inc := range c.included(c.f) {
		if g == t.f {
			return inc + "." + t.name()
		}
	}
	return ""
}

// annotations adds the keys of annotations.
func (c *completer) annotations() {
	value := " = \"\""
	if rest := strings.TrimLeft(c.f.src[c.word.to:], " \t"); strings.HasPrefix(rest, "=") {
		value = ""
	}
	for _, a := range annotations {
		item := c.add(1, protocol.CompletionItemKindProperty, a.key, a.doc)
		if !strings.HasSuffix(a.key, ".") {
			item.InsertText = new(a.key + value)
		}
	}
}

// includes adds the files and folders that an include line can name.
func (c *completer) includes() {
	typed := c.f.text(span{c.word.from, min(c.at, c.word.to)})
	dir := typed[:strings.LastIndexByte(typed, '/')+1]
	if strings.ContainsRune(dir, 0) {
		return
	}
	seen := map[string]bool{}
	for _, place := range places(c.f.path, "./"+dir, c.workspace.dirs, c.roots) {
		entries, err := os.ReadDir(place)
		if err != nil {
			continue
		}
		for _, e := range entries[:min(len(entries), maxSymbols)] {
			name := dir + e.Name()
			switch {
			case seen[name] || strings.HasPrefix(e.Name(), "."):
			case e.IsDir():
				c.add(2, protocol.CompletionItemKindFolder, name+"/", "")
			case strings.HasSuffix(name, ".thrift") && filepath.Join(place, e.Name()) != c.f.path:
				c.add(1, protocol.CompletionItemKindFile, name, "")
			}
			seen[name] = true
		}
	}
}
