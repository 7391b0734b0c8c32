package idl

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"
)

// The kinds of token. A keyword may also be a field's name.
const (
	tokIdent lexer.TokenType = iota + 1
	tokKeyword
	tokInt
	tokDouble
	tokString
	tokPunct
)

// tokenTypes holds the kinds by the names that the grammar uses.
var tokenTypes = map[string]lexer.TokenType{
	"EOF":     lexer.EOF,
	"Ident":   tokIdent,
	"Keyword": tokKeyword,
	"Int":     tokInt,
	"Double":  tokDouble,
	"String":  tokString,
	"Punct":   tokPunct,
}

// keywords holds all keywords. uuid is none, since files had types of that name before
// it became a base type; package schema tells the two apart.
var keywords = wordSet(`namespace cpp_include cpp_type include void
	bool byte i8 i16 i32 i64 double string binary map list set
	oneway async typedef struct union exception extends throws service enum const
	required optional xsd_all xsd_optional xsd_nillable xsd_attrs`)

// wordSet returns the set of words that are separated by spaces.
func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// A scanner turns text into tokens. It does not stop at errors: characters that are no
// token are reported and left out, so that all errors are found in one run.
type scanner struct {
	src      string
	pos      Position // of the next byte
	errs     *ErrorList
	tokens   []lexer.Token
	comments commentTable
	remarks  []Token    // the comments
	binary   []Position // of bytes outside of comments and strings that are not UTF-8
}

// scan returns a scanner that has scanned all of src; name is for positions. Errors are added to
// errs. It stops early if src is no text.
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
	beyond.Line++ // so that a comment on the last line belongs to the token there
	s.comments.token(beyond)
	s.tokens = append(s.tokens, lexer.EOFToken(s.pos))
	return s
}

// rest returns the text that has not been scanned.
func (s *scanner) rest() string { return s.src[s.pos.Offset:] }

// advance moves the position by n bytes, which it returns.
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

// skipSpace skips white space and comments, which it adds to s.comments.
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
		s.remarks = append(s.remarks, Token{Kind: CommentToken, Text: text, Pos: start})
	}
}

// next scans one token.
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
		s.strayCharacter(c)
	}
}

// emit adds the token of the next n bytes.
func (s *scanner) emit(kind lexer.TokenType, n int) {
	start := s.pos
	s.comments.token(start)
	text := s.advance(n)
	s.comments.tokenEnd(s.pos)
	s.tokens = append(s.tokens, lexer.Token{Type: kind, Value: text, Pos: start})
}

// number adds a number of n bytes, and an error if it is too large.
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

// literal scans a quoted string. The token's text has its quotes, so that it differs
// from that of any keyword or bracket.
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

// strayCharacter reports and skips a character that begins no token.
func (s *scanner) strayCharacter(c byte) {
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

// firstRune returns the bytes of the first character of text.
func firstRune(text string) string {
	for i := range text {
		if i > 0 {
			return text[:i]
		}
	}
	return text
}

// definition tells participle the kinds of token. The parser gets tokens that were
// scanned before, so that Lex is called in no parse.
type definition struct{}

func (definition) Symbols() map[string]lexer.TokenType { return tokenTypes }

func (definition) Lex(name string, r io.Reader) (lexer.Lexer, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var errs ErrorList
	s := scan(name, string(text), &errs)
	return &tokenLexer{tokens: s.tokens}, errs.Err()
}

// tokenLexer is a participle lexer for tokens, the last of which is EOF.
type tokenLexer struct{ tokens []lexer.Token }

func (l *tokenLexer) Next() (lexer.Token, error) {
	t := l.tokens[0]
	if !t.EOF() {
		l.tokens = l.tokens[1:]
	}
	return t, nil
}
