package idl

import (
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

// TokenKind is the kind of a Token.
type TokenKind uint8

// The kinds of token.
const (
	WordToken TokenKind = iota // a name or keyword
	NumberToken
	TextToken // a string in quotes
	PunctToken
	CommentToken
)

// Token is a piece of a file's text, unchanged. All text that is in no Token is white space.
type Token struct {
	Kind TokenKind
	Text string
	Pos  Position
	// Above and Beside are the comments that belong to a declaration that begins or ends with the
	// token. They are empty for comments.
	Above, Beside string
}

// EndLine returns the line on which the token ends.
func (t Token) EndLine() int { return t.Pos.Line + strings.Count(t.Text, "\n") }

// Tokens returns the tokens of the file src, with its comments; name is for positions only. The
// error is that of Parse: there are no tokens of a file that does not parse.
func Tokens(name string, src []byte) ([]Token, error) {
	f, err := Parse(name, src)
	return f.Tokens(src), err
}

// Tokens returns the tokens of the text src, which Parse has parsed as f. There are none if Parse
// has returned an error.
func (f *File) Tokens(src []byte) []Token {
	if !f.Complete {
		return nil
	}
	var errs ErrorList
	s := scan(f.Name, string(src), &errs)
	kinds := map[lexer.TokenType]TokenKind{tokIdent: WordToken, tokKeyword: WordToken, tokInt: NumberToken,
		tokDouble: NumberToken, tokString: TextToken, tokPunct: PunctToken}
	list := make([]Token, 0, len(s.tokens)+len(s.remarks))
	for _, t := range s.tokens {
		for len(s.remarks) > 0 && s.remarks[0].Pos.Offset < t.Pos.Offset || t.EOF() && len(s.remarks) > 0 {
			list, s.remarks = append(list, s.remarks[0]), s.remarks[1:]
		}
		if at := t.Pos.Offset; !t.EOF() {
			list = append(list, Token{kinds[t.Type], t.Value, t.Pos, s.comments.above[at], s.comments.beside[at]})
		}
	}
	return list
}
