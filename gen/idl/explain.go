package idl

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/nocopythrift/nocopythrift/internal/nearest"
)

// syntaxError reports why a piece of tokens did not parse; next is the token after it. The parser
// often notices a mistake a few words late, because an unknown word may be the name of a type, and
// a keyword may be the name of a field. syntaxError reports the wrong word itself.
func (p *parser) syntaxError(err error, tokens []lexer.Token, next lexer.Token) {
	var unexpected *participle.UnexpectedTokenError
	if !errors.As(err, &unexpected) {
		var perr participle.Error
		if errors.As(err, &perr) {
			p.errs.Add(perr.Position(), "%s", perr.Message())
		} else {
			p.errs.Add(tokens[0].Pos, "%s", err)
		}
		return
	}
	t := unexpected.Unexpected
	at := slices.IndexFunc(tokens, func(other lexer.Token) bool { return other.Pos == t.Pos })
	if at < 0 { // the end of the piece
		at, t = len(tokens), next
	}
	if at > 0 && tokens[at-1].Pos.Line == t.Pos.Line {
		p.stuckAt = t.Pos
	}
	want := expected(unexpected.Message())
	if at == 0 {
		want = "a definition"
	}
	e := explain(tokens, at, t, want)
	p.errs.Add(e.Pos, "%s", e.Msg)
}

// explain returns the error for token t where the grammar wants another one. t is tokens[at], or
// the token after all of tokens.
func explain(tokens []lexer.Token, at int, t lexer.Token, want string) *Error {
	if t.Value == "<" && at > 0 && tokens[at-1].Type == tokIdent {
		switch name := tokens[at-1]; name.Value {
		case "stream", "sink":
			return fbthrift(t.Pos, name.Value+"<...>")
		case "hash_map", "hash_set":
			return fbthrift(name.Pos, name.Value+"<...>")
		default:
			return &Error{Pos: name.Pos, Msg: fmt.Sprintf(`unexpected %q before "<", expected "list", "set" or "map"`, name.Value)}
		}
	}
	if e := dialect(tokens, at, t, want); e != nil {
		return e
	}
	for i := range min(at, len(tokens)-2) {
		if e := strayBefore(tokens, i); e != nil {
			return e
		}
	}
	if want == "a name" {
		if e := strayAfter(tokens, at); e != nil {
			return e
		}
	}
	if t.Type == tokIdent {
		if e := misspelt(t, "struct union exception service typedef const enum include namespace cpp_include extends throws"); e != nil {
			return e
		}
	}
	if want == "" {
		return &Error{Pos: t.Pos, Msg: "unexpected " + describe(t)}
	}
	// A missing token is reported at the end of its line, except a brace, which has a line of its
	// own.
	if at > 0 && want != `"}"` {
		before := tokens[at-1]
		if end := after(before.Pos, before.Value); end.Line < t.Pos.Line {
			return &Error{Pos: end, Msg: fmt.Sprintf("expected %s after %s", want, describe(before))}
		}
	}
	return &Error{Pos: t.Pos, Msg: fmt.Sprintf("unexpected %s, expected %s", describe(t), want)}
}

// isFbthrift ends the message about a form that only fbthrift's dialect has.
const isFbthrift = " is fbthrift's dialect of the IDL, which is out of scope"

// fbthrift returns the error for such a form.
func fbthrift(pos Position, form string) *Error { return &Error{Pos: pos, Msg: form + isFbthrift} }

// dialect returns the error for what fbthrift's dialect has at token t, or nil. want is what the
// grammar wants there.
func dialect(tokens []lexer.Token, at int, t lexer.Token, want string) *Error {
	if at < 2 {
		return nil
	}
	return cmp.Or(dialectWord(tokens, at, t, want), dialectMethod(tokens, at, t, want), dialectValue(tokens, at, t))
}

// dialectWord is dialect for forms of its own in headers, annotations and lists of fields.
func dialectWord(tokens []lexer.Token, at int, t lexer.Token, want string) *Error {
	before := tokens[at-1]
	switch first := tokens[0].Value; {
	case first == "include" && t.Value == "as":
		return fbthrift(t.Pos, `"as" after an include`)
	case first == "namespace" && t.Type == tokString:
		return fbthrift(t.Pos, "a namespace in quotes")
	case want == "a string in quotes" && before.Value == "=" && (t.Type == tokInt || t.Value == "true" || t.Value == "false"):
		return fbthrift(t.Pos, "an annotation's value without quotes")
	case before.Value == "reserved" && slices.Contains([]string{"enum", "struct", "union", "exception"}, first) && (t.Type == tokInt || t.Type == tokString):
		return fbthrift(before.Pos, `"reserved"`)
	}
	return nil
}

// dialectMethod is dialect for services and methods.
func dialectMethod(tokens []lexer.Token, at int, t lexer.Token, want string) *Error {
	inService := tokens[0].Value == "service"
	if inService && tokens[at-2].Value == "performs" && tokens[at-1].Type == tokIdent && want == `"("` {
		return fbthrift(tokens[at-2].Pos, `"performs"`)
	}
	if t.Value != "," || at+1 >= len(tokens) {
		return nil
	}
	switch next := tokens[at+1]; {
	case next.Value == "sink" || next.Value == "stream":
		return fbthrift(next.Pos, next.Value+"<...>")
	case inService && depth(tokens[:at]) == 1 && (next.Type == tokIdent || typeWords[next.Value]):
		return fbthrift(next.Pos, "a second type before the name of a method")
	}
	return nil
}

// dialectValue is dialect for the value of a struct that names its type: Point{x = 1}.
func dialectValue(tokens []lexer.Token, at int, t lexer.Token) *Error {
	if tokens[at-1].Type != tokIdent {
		return nil
	}
	name := at - 1 // the type's, if there is one
	if t.Value == "=" && at >= 4 && tokens[at-2].Value == "{" {
		name = at - 3
	} else if t.Value != "{" {
		return nil
	}
	if tokens[name].Type == tokIdent && strings.Contains("=,[:;{", tokens[name-1].Value) {
		return fbthrift(tokens[name].Pos, tokens[name].Value+"{...}")
	}
	return nil
}

// depth returns how many brackets are open after tokens.
func depth(tokens []lexer.Token) int {
	n := 0
	for _, t := range tokens {
		n += bracket(t)
	}
	return n
}

// strayBefore returns an error if the word tokens[i] stands before the type of a field or method
// but is not a keyword, for example because it is misspelt. Three words in a row show this. It
// also returns an error for a misspelt throws, and otherwise nil.
func strayBefore(tokens []lexer.Token, i int) *Error {
	if i == 0 || tokens[i].Type != tokIdent {
		return nil
	}
	before, word, typ, name := tokens[i-1], tokens[i], tokens[i+1], tokens[i+2]
	if before.Value == ")" && typ.Value == "(" {
		return misspelt(word, "throws")
	}
	isType := typ.Type == tokKeyword && typeWords[typ.Value]
	if fbthriftWords[word.Value] && begins(before, word) && (isType || typ.Type == tokIdent) {
		return fbthrift(word.Pos, strconv.Quote(word.Value))
	}
	named := (name.Type == tokIdent || name.Type == tokKeyword) && name.Pos.Line == typ.Pos.Line
	switch {
	case !begins(before, word) || !named && name.Value != "<" || !isType && typ.Type != tokIdent:
		return nil
	case isType && typ.Pos.Line == word.Pos.Line:
		return cmp.Or(misspelt(word, "required optional oneway async"),
			&Error{Pos: word.Pos, Msg: fmt.Sprintf("unexpected %q before the type %s", word.Value, typ.Value)})
	}
	return misspelt(word, "required optional oneway async")
}

// misspelt returns the error that word is probably a misspelling of one of words, or nil if it
// resembles none of them.
func misspelt(word lexer.Token, words string) *Error {
	if meant := Nearest(word.Value, strings.Fields(words)); meant != "" {
		return &Error{Pos: word.Pos, Msg: fmt.Sprintf("unexpected %q, did you mean %q?", word.Value, meant)}
	}
	return nil
}

// begins reports whether word can be the first word of a field or a method.
func begins(before, word lexer.Token) bool {
	return before.Pos.Line < word.Pos.Line || before.Type == tokPunct && strings.Contains("{(,;:", before.Value)
}

// fbthriftWords stand before the type of a field or a method in fbthrift's dialect.
var fbthriftWords = wordSet(`terse idempotent readonly`)

var typeWords = wordSet(`void bool byte i8 i16 i32 i64 double string binary map list set`)

// strayAfter returns an error if the word tokens[at-1] follows the end of a field or a method on
// its line. The parser has taken the word for the type of the next field or method, and reports
// that its name is missing. Otherwise strayAfter returns nil.
func strayAfter(tokens []lexer.Token, at int) *Error {
	if at < 2 || tokens[at-1].Type != tokIdent || tokens[at-2].Pos.Line != tokens[at-1].Pos.Line {
		return nil
	}
	word, before := tokens[at-1], tokens[at-2]
	switch before.Type {
	case tokKeyword:
		if !typeWords[before.Value] {
			return nil // required Foo, const Foo
		}
	case tokPunct:
		if !strings.Contains(")]}", before.Value) {
			return nil
		}
	}
	return &Error{Pos: word.Pos, Msg: fmt.Sprintf("unexpected %q after %s", word.Value, describe(before))}
}

// describe returns a token in the form for messages.
func describe(t lexer.Token) string {
	switch {
	case t.EOF():
		return "end of file"
	case t.Type == tokString && strconv.CanBackquote(t.Value):
		return t.Value
	}
	return strconv.Quote(t.Value)
}

// expected translates what participle's message expects into words that users of the IDL know. It
// returns "" if it can't.
func expected(message string) string {
	_, hint, _ := strings.Cut(message, "(expected ")
	hint, _, _ = strings.Cut(strings.Trim(hint, "()"), " ")
	switch hint {
	case "FieldName", "Ident", "<ident>":
		return "a name"
	case "Type":
		return "a type"
	case "Value":
		return "a value"
	case "<string>":
		return "a string in quotes"
	case "<int>":
		return "an integer"
	}
	if len(hint) > 2 && hint[0] == '"' && hint[len(hint)-1] == '"' {
		return hint
	}
	return ""
}

// Nearest returns the one of words that a misspelt word probably stands for, or "" if none is
// near.
func Nearest(misspelt string, words []string) string { return nearest.Word(misspelt, words) }
