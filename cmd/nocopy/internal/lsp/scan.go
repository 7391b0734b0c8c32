package lsp

import (
	"sort"
	"strings"
)

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	wordToken tokenKind = iota // a name, perhaps with dots, or a keyword
	numberToken
	textToken // in quotes
	punctToken
	commentToken
)

// token is a piece of a text, from one offset to another.
type token struct {
	span
	kind  tokenKind
	first bool // of its line; comments do not count
}

// span is the range between two offsets of a text.
type span struct{ from, to int32 }

// in returns the text of the range.
func (s span) in(src string) string { return src[s.from:s.to] }

// has reports whether an offset is in the range or at its end, as a cursor after a word is.
func (s span) has(at int) bool { return int(s.from) <= at && at <= int(s.to) }

// scan splits a text into tokens. Any text has some: characters that begin none are tokens of
// their own, a string ends with its line at the latest, and a comment with the text. Package idl
// has the scanner that finds errors; this one takes a tenth of its time and memory.
func scan(src string) (tokens []token) {
	tokens = make([]token, 0, len(src)/6) // that is usually enough
	first := true
	for i := 0; i < len(src); {
		c := src[i]
		switch c {
		case '\n', '\r':
			first = true
			i++
			continue
		case ' ', '\t', '\v':
			i++
			continue
		}
		if i == 0 && strings.HasPrefix(src, "\ufeff") {
			i = 3
			continue
		}
		kind, n := next(src[i:])
		tokens = append(tokens, token{span{int32(i), int32(i + n)}, kind, first && kind != commentToken})
		first = first && kind == commentToken || kind == commentToken && strings.Contains(src[i:i+n], "\n")
		i += n
	}
	return tokens
}

// next returns the kind and the length of the token at the start of a text.
func next(src string) (tokenKind, int) {
	c := src[0]
	switch {
	case c == '#', strings.HasPrefix(src, "//"), strings.HasPrefix(src, "/*"):
		return commentToken, commentLen(src)
	case isLetter(c):
		n := 1
		for n < len(src) && (isWord(src[n]) || src[n] == '.') {
			n++
		}
		return wordToken, n
	case isDigit(c), strings.IndexByte("-+.", c) >= 0 && len(src) > 1 && (isDigit(src[1]) || src[1] == '.'):
		return numberToken, numberLen(src)
	case c == '"' || c == '\'':
		return textToken, textLen(src)
	}
	n := 1
	for c >= 0x80 && n < len(src) && src[n]&0xC0 == 0x80 { // the rest of a character in UTF-8
		n++
	}
	return punctToken, n
}

// lineLen returns the length of the first line of a text.
func lineLen(src string) int {
	if n := strings.IndexAny(src, "\r\n"); n >= 0 {
		return n
	}
	return len(src)
}

// commentLen returns the length of the comment at the start of a text.
func commentLen(src string) int {
	if !strings.HasPrefix(src, "/*") {
		return lineLen(src)
	}
	if n := strings.Index(src[2:], "*/"); n >= 0 {
		return n + 4
	}
	return len(src)
}

// numberLen returns the length of the number at the start of a text.
func numberLen(src string) int {
	n := 1
	for n < len(src) && (isWord(src[n]) || src[n] == '.' || (src[n] == '-' || src[n] == '+') && (src[n-1] == 'e' || src[n-1] == 'E')) {
		n++
	}
	return n
}

// textLen returns the length of the string at the start of a text, with its quotes.
func textLen(src string) int {
	for n := 1; n < len(src); n++ {
		switch src[n] {
		case src[0]:
			return n + 1
		case '\n', '\r':
			return n
		case '\\':
			if n+1 < len(src) && src[n+1] != '\n' && src[n+1] != '\r' {
				n++
			}
		}
	}
	return len(src)
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isWord(c byte) bool   { return isLetter(c) || isDigit(c) }

// tokenAt returns the index of the token that an offset is in, or that ends there; the one that
// begins there is preferred if it is a word. It is -1 between tokens.
func tokenAt(tokens []token, at int) int {
	i := sort.Search(len(tokens), func(i int) bool { return int(tokens[i].to) >= at })
	if i == len(tokens) || int(tokens[i].from) > at {
		return -1
	}
	if int(tokens[i].to) == at && i+1 < len(tokens) && int(tokens[i+1].from) == at && tokens[i].kind != wordToken {
		return i + 1
	}
	return i
}
