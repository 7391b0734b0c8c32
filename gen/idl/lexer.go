package idl

import (
	"errors"
	"io"
	"strconv"
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

// keywords holds all keywords. uuid is not one of them, since files had types of that name before
// it became a base type. Package schema tells the two apart.
var keywords = wordSet(`namespace cpp_include cpp_type include void
	bool byte i8 i16 i32 i64 double string binary map list set
	oneway async typedef struct union exception extends throws service enum const
	required optional xsd_all xsd_optional xsd_nillable xsd_attrs`)

// wordSet returns the set of the words in a text.
func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// A scanner splits text into tokens. It does not stop at errors: it reports and skips characters
// that form no token, so that one run finds all errors.
type scanner struct {
	src      string
	pos      Position // of the next byte
	errs     *ErrorList
	warnings ErrorList // text that thriftgo accepts and Apache's compiler does not
	guess    bool      // see guessQuotes
	long     bool      // there is a string of several lines
	cuts     int       // number of strings without an end
	tokens   []lexer.Token
	comments commentTable
	remarks  []Token    // the comments
	binary   []Position // positions of bytes outside comments and strings that are not UTF-8
}

// bytesPerToken is less than the usual number, with white space and comments.
const bytesPerToken = 6

// maxCuts bounds the strings without an end whose end is searched beyond their lines. It keeps the
// time proportional to the text.
const maxCuts = 8

// ByteOrderMark, in UTF-8, may begin a file.
const ByteOrderMark = "\ufeff"

// scan returns a scanner that has scanned all of src; name is for positions. It adds errors to
// errs. It stops early if src is not text.
func scan(name, src string, errs *ErrorList) *scanner {
	s := &scanner{src: src, errs: errs}
	s.all(name)
	return s
}

// guessQuotes is scan for a file that has errors. It looks for forgotten quotes: if the closing
// quote of a string of several lines seems to be the opening quote of another string, the string
// ends with its first line, and an error says so.
func guessQuotes(name, src string, errs *ErrorList) *scanner {
	s := &scanner{src: src, errs: errs, guess: true}
	s.all(name)
	return s
}

// all scans the file.
func (s *scanner) all(name string) {
	s.comments = newCommentTable()
	s.pos = Position{Filename: name, Line: 1, Column: 1}
	s.tokens = make([]lexer.Token, 0, len(s.src)/bytesPerToken)
	if strings.HasPrefix(s.src, ByteOrderMark) {
		s.pos.Offset = len(ByteOrderMark)
	}
	for s.skipSpace(); s.pos.Offset < len(s.src) && len(s.binary) <= maxBinary; s.skipSpace() {
		s.next()
	}
	beyond := s.pos
	beyond.Line++ // a comment on the last line then belongs to the token there
	s.comments.token(beyond)
	s.tokens = append(s.tokens, lexer.EOFToken(s.pos))
}

// rest returns the text that was not yet scanned.
func (s *scanner) rest() string { return s.src[s.pos.Offset:] }

// advance moves the position by n bytes, which it returns.
func (s *scanner) advance(n int) string {
	text := s.src[s.pos.Offset : s.pos.Offset+n]
	s.pos = after(s.pos, text)
	return text
}

// after returns the position after a text that begins at pos.
func after(pos Position, text string) Position {
	pos.Offset += len(text)
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		pos.Line += strings.Count(text, "\n")
		pos.Column = len(text) - i
	} else {
		pos.Column += len(text)
	}
	return pos
}

// skipSpace skips white space and comments, and adds the comments to s.comments.
func (s *scanner) skipSpace() {
	for {
		rest := s.rest()
		n := len(rest) - len(strings.TrimLeft(rest, " \t\r\n\v"))
		if tab := strings.IndexByte(rest[:n], '\v'); tab >= 0 {
			s.advance(tab)
			s.warn(s.pos, "vertical tabs")
			n -= tab
		}
		s.advance(n)
		rest = s.rest()
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
		if n := binaryLen(rest); n > 0 {
			s.errs.Add(s.pos, "the binary number %s"+isFbthrift, rest[:n])
			s.emit(tokInt, n)
			return
		}
		if kind, n := numberLen(rest); n > 0 {
			s.number(kind, n)
			return
		}
		s.strayCharacter(c)
	}
}

// emit adds a token of the next n bytes.
func (s *scanner) emit(kind lexer.TokenType, n int) {
	start := s.pos
	s.comments.token(start)
	text := s.advance(n)
	s.comments.tokenEnd(s.pos)
	s.tokens = append(s.tokens, lexer.Token{Type: kind, Value: text, Pos: start})
}

// number adds a number of n bytes, and an error if its value is not representable.
func (s *scanner) number(kind lexer.TokenType, n int) {
	text := s.rest()[:n]
	switch {
	case kind == tokDouble:
		if _, err := parseDouble(text); err != nil {
			s.errs.Add(s.pos, "number %s does not fit in a double", text)
		}
	default:
		switch v, err := parseInt(text); {
		case errors.Is(err, strconv.ErrSyntax):
			s.errs.Add(s.pos, "%s is no octal number", text)
		case err != nil:
			s.errs.Add(s.pos, "integer %s does not fit in 64 bits", text)
		case strings.HasPrefix(text, "0o"):
			s.warn(s.pos, "the octal number %s", text)
		default:
			s.warnOfOctal(text, v)
		}
	}
	s.emit(kind, n)
}

// warnOfOctal adds a warning if thriftgo takes the decimal number text, whose value is v, for an
// octal one. Thriftgo does not do that for field ids.
func (s *scanner) warnOfOctal(text string, v int64) {
	rest := strings.TrimLeft(s.rest()[len(text):], " \t\r\n\v")
	if digits := strings.TrimLeft(text, "+-"); len(digits) < 2 || digits[0] != '0' || digits[1] == 'x' ||
		v == 0 || strings.HasPrefix(rest, ":") {
		return
	}
	s.warnings.AddAbout(Thriftgo, s.pos, "%s is %d, as for Apache's compiler; thriftgo takes it for an octal number", text, v)
}

// literal scans a quoted string. The token's text includes the quotes, and thus differs from all
// keywords and brackets.
func (s *scanner) literal(quote byte) {
	rest := s.rest()
	if three := rest[:min(3, len(rest))]; three == `"""` || three == "'''" {
		s.errs.Add(s.pos, "a string in triple quotes"+isFbthrift)
		text, _, _ := strings.Cut(rest[3:], three)
		s.emit(tokString, min(len(text)+6, len(rest)))
		return
	}
	if s.cuts >= maxCuts {
		rest, _, _ = strings.Cut(rest, "\n")
	}
	text, closed := quoted(rest, quote)
	line, _, long := strings.Cut(text, "\n")
	if !closed || s.guess && long && misquoted(text, rest[len(text):]) {
		s.errs.Add(s.pos, "string not terminated")
		s.cuts++
		s.emit(tokString, len(line))
		return
	}
	if long {
		s.long = true
		s.warn(s.pos, "strings over several lines")
	}
	s.escapes(text)
	s.emit(tokString, len(text))
}

// escapes adds a warning for each unknown escape sequence of a string at s.pos.
func (s *scanner) escapes(text string) {
	for i := 1; i < len(text)-1; i++ {
		if text[i] != '\\' {
			continue
		}
		if i++; !isEscape(text[i]) {
			sequence := `\` + firstRune(text[i:])
			if !strconv.CanBackquote(sequence) {
				sequence = strconv.Quote(sequence)
			}
			s.warn(after(s.pos, text[:i-1]), `the escape sequence %s, which stands for itself; write \\ for a backslash`, sequence)
		}
	}
}

// warn adds a warning about text that Apache's compiler refuses.
func (s *scanner) warn(pos Position, format string, args ...any) {
	s.warnings.AddAbout(Apache, pos, "Apache's compiler refuses "+format, args...)
}

// quoted returns the string at the start of text, with its quotes, and whether it has a closing
// quote.
func quoted(text string, quote byte) (string, bool) {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case quote:
			return text[:i+1], true
		case '\\':
			i++
		}
	}
	return text, false
}

// misquoted reports whether the last quote of text, a string of several lines, looks like the
// opening quote of another string. rest is the text after it.
func misquoted(text, rest string) bool {
	inside := strings.TrimRight(text[1:len(text)-1], " \t\r\n")
	before := inside == "" || strings.IndexByte("=(,[:", inside[len(inside)-1]) >= 0 || strings.HasSuffix(inside, "include")
	after := rest != "" && strings.IndexByte(" \t\r\n\v,;:)]}#/", rest[0]) < 0
	return before || after
}

// strayCharacter reports and skips a character that cannot begin a token.
func (s *scanner) strayCharacter(c byte) {
	switch {
	case c == '@':
		s.errs.Add(s.pos, "@ annotations are fbthrift's dialect of the IDL, which is out of scope")
		if rest := s.rest(); len(rest) > 1 && isLetter(rest[1]) {
			s.advance(1 + identLen(rest[1:]))
			return
		}
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

// definition tells participle the kinds of token. The parser gets scanned tokens, so that Lex is
// never called.
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

// tokenLexer is a participle lexer that returns tokens. The last one is EOF.
type tokenLexer struct{ tokens []lexer.Token }

func (l *tokenLexer) Next() (lexer.Token, error) {
	t := l.tokens[0]
	if !t.EOF() {
		l.tokens = l.tokens[1:]
	}
	return t, nil
}
