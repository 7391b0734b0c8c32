package idl

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"
)

// The kinds of token. Words with a meaning of their own are keywords; a field
// may nevertheless be called by one.
const (
	tokIdent lexer.TokenType = iota + 1
	tokKeyword
	tokInt
	tokDouble
	tokString
	tokPunct
)

var symbols = map[string]lexer.TokenType{
	"EOF":     lexer.EOF,
	"Ident":   tokIdent,
	"Keyword": tokKeyword,
	"Int":     tokInt,
	"Double":  tokDouble,
	"String":  tokString,
	"Punct":   tokPunct,
}

// uuid is missing on purpose: it became a base type only after files had types
// of that name, and schema can tell the two apart.
var keywords = wordSet(`namespace cpp_include cpp_type include void
	bool byte i8 i16 i32 i64 double string binary map list set
	oneway async typedef struct union exception extends throws service enum const
	required optional xsd_all xsd_optional xsd_nillable xsd_attrs`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// scanner turns text into tokens. It never stops at an error: what cannot be a
// token is reported and left out, so that one slip hides no other.
type scanner struct {
	src      string
	pos      Position // of the next byte
	errs     *ErrorList
	tokens   []lexer.Token
	comments commentTable
	binary   []Position // of bytes outside of comments and strings that no text in UTF-8 has
}

func scan(name, src string, errs *ErrorList) *scanner {
	s := &scanner{src: src, errs: errs, comments: newCommentTable()}
	s.pos = Position{Filename: name, Line: 1, Column: 1}
	if strings.HasPrefix(src, "\ufeff") {
		s.pos.Offset = len("\ufeff")
	}
	for s.skipSpace(); s.pos.Offset < len(s.src) && len(s.binary) <= maxBinary; s.skipSpace() {
		s.next()
	}
	beyond := s.pos
	beyond.Line++ // so that a comment on the last line is about what stands there
	s.comments.token(beyond)
	s.tokens = append(s.tokens, lexer.EOFToken(s.pos))
	return s
}

func (s *scanner) rest() string { return s.src[s.pos.Offset:] }

func (s *scanner) advance(n int) string {
	text := s.src[s.pos.Offset : s.pos.Offset+n]
	s.pos.Offset += n
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		s.pos.Line += strings.Count(text, "\n")
		s.pos.Column = len(text) - i
	} else {
		s.pos.Column += n
	}
	return text
}

// skipSpace passes over white space and comments; comments go into the table.
func (s *scanner) skipSpace() {
	for {
		rest := s.rest()
		n := len(rest) - len(strings.TrimLeft(rest, " \t\r\n"))
		s.advance(n)
		rest = rest[n:]
		switch {
		case strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, "#"):
			n = strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
		case strings.HasPrefix(rest, "/*"):
			n = strings.Index(rest[2:], "*/") + 4
			if n == 3 {
				s.errs.Add(s.pos, "comment not terminated")
				n = len(rest)
			}
		default:
			return
		}
		start := s.pos
		text := s.advance(n)
		s.comments.comment(start, s.pos, text)
	}
}

func (s *scanner) next() {
	rest := s.rest()
	switch c := rest[0]; {
	case isLetter(c):
		word := rest[:identLen(rest)]
		if keywords[word] {
			s.emit(tokKeyword, len(word))
		} else {
			s.emit(tokIdent, len(word))
		}
	case c == '"' || c == '\'':
		s.literal(c)
	case strings.IndexByte(":;,{}()=<>[]*&", c) >= 0:
		s.emit(tokPunct, 1)
	default:
		if kind, n := numberLen(rest); n > 0 {
			s.number(kind, n)
			return
		}
		s.stray(c)
	}
}

func (s *scanner) emit(kind lexer.TokenType, n int) {
	start := s.pos
	s.comments.token(start)
	text := s.advance(n)
	s.comments.tokenEnd(s.pos)
	s.tokens = append(s.tokens, lexer.Token{Type: kind, Value: text, Pos: start})
}

func (s *scanner) number(kind lexer.TokenType, n int) {
	text := s.rest()[:n]
	if kind == tokInt {
		if _, err := parseInt(text); err != nil {
			s.errs.Add(s.pos, "integer %s does not fit in 64 bits", text)
		}
	} else if _, err := parseDouble(text); err != nil {
		s.errs.Add(s.pos, "number %s does not fit in a double", text)
	}
	s.emit(kind, n)
}

// literal scans a quoted string. The token's text keeps its quotes, which also
// keeps a string apart from the keyword or bracket it may spell.
func (s *scanner) literal(quote byte) {
	rest := s.rest()
	for i := 1; i < len(rest) && rest[i] != '\n'; i++ {
		switch rest[i] {
		case quote:
			s.emit(tokString, i+1)
			return
		case '\\':
			i++
			if i < len(rest) && rest[i] != '\n' && !isEscape(rest[i]) {
				at := s.pos
				at.Offset += i - 1
				at.Column += i - 1
				s.errs.Add(at, `invalid escape sequence %s, use \\ for a backslash`, rest[i-1:i+1])
			}
			if i < len(rest) && rest[i] == '\n' {
				i--
			}
		}
	}
	s.errs.Add(s.pos, "string not terminated on its line")
	line, _, _ := strings.Cut(rest, "\n")
	s.emit(tokString, len(line))
}

func (s *scanner) stray(c byte) {
	switch {
	case c == '@':
		s.errs.Add(s.pos, "@ annotations are fbthrift's dialect of the IDL, which is out of scope")
	case c < ' ' || c >= 0x7f:
		r := firstRune(s.rest())
		if c <= 0x7f || !utf8.ValidString(r) {
			s.binary = append(s.binary, s.pos)
		}
		if letter, _ := utf8.DecodeRuneInString(r); unicode.IsLetter(letter) {
			s.errs.Add(s.pos, "unexpected character %q, names consist of ASCII letters, digits and underscores", r)
		} else {
			s.errs.Add(s.pos, "unexpected character %q", r)
		}
	default:
		s.errs.Add(s.pos, "unexpected character '%c'", c)
	}
	s.advance(len(firstRune(s.rest())))
}

func firstRune(text string) string {
	for i := range text {
		if i > 0 {
			return text[:i]
		}
	}
	return text
}

// definition lets participle know the token kinds. The parser is always given
// tokens that were scanned before, so nothing is ever lexed through it.
type definition struct{}

func (definition) Symbols() map[string]lexer.TokenType { return symbols }

func (definition) Lex(name string, r io.Reader) (lexer.Lexer, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var errs ErrorList
	s := scan(name, string(text), &errs)
	return &tokenLexer{tokens: s.tokens}, errs.Err()
}

// tokenLexer hands out tokens, the last of which is EOF.
type tokenLexer struct{ tokens []lexer.Token }

func (l *tokenLexer) Next() (lexer.Token, error) {
	t := l.tokens[0]
	if !t.EOF() {
		l.tokens = l.tokens[1:]
	}
	return t, nil
}
