package idlfmt

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// Format returns the file src, formatted; name is for positions in errors. The error is that of
// idl.Parse if the file does not parse; a file with errors is not formatted.
//
// Lines are indented by two spaces per level. Each declaration, field, value and method has a line
// of its own. Line breaks between arguments, annotations and elements of constants stay. Several
// empty lines become one; a definition with a body has an empty line before and after it.
// Separators and comments stay unchanged, except for white space before and after lines. A byte
// order mark stays, too.
func Format(name string, src []byte) ([]byte, error) {
	tokens, err := idl.Tokens(name, src)
	if err != nil {
		return nil, err
	}
	p := &printer{}
	for _, t := range tokens {
		if t.Kind == idl.CommentToken {
			p.comments = append(p.comments, t)
			continue
		}
		p.tokens = append(p.tokens, token{t, p.comments})
		p.comments = nil
	}
	p.file()
	out := p.out.Bytes()
	if bytes.HasPrefix(src, []byte(idl.ByteOrderMark)) {
		out = slices.Concat([]byte(idl.ByteOrderMark), out)
	}
	if err := same(name, tokens, out); err != nil {
		return nil, err
	}
	return out, nil
}

// same returns an error unless out consists of the given tokens.
func same(name string, tokens []idl.Token, out []byte) error {
	again, err := idl.Tokens(name, out)
	ok := err == nil && len(again) == len(tokens)
	for i := 0; ok && i < len(tokens); i++ {
		a, b := tokens[i], again[i]
		ok = a.Kind == b.Kind && a.Above == b.Above && a.Beside == b.Beside
		if a.Kind == idl.CommentToken {
			ok = ok && strings.Join(strings.Fields(a.Text), " ") == strings.Join(strings.Fields(b.Text), " ")
		} else {
			ok = ok && a.Text == b.Text
		}
		if !ok {
			return fmt.Errorf("%s:%d:%d: nocopyc fmt has a bug, please report it with this file", name, a.Pos.Line, a.Pos.Column)
		}
	}
	if !ok {
		return errors.Join(fmt.Errorf("%s: nocopyc fmt has a bug, please report it with this file", name), err)
	}
	return nil
}

// A token with the comments before it.
type token struct {
	idl.Token
	before []idl.Token
}

// A gap is the white space between two tokens.
type gap uint8

const (
	none  gap = iota
	space     // nothing at the start of a line
	keep      // a new line if there was one, else nothing
	wrap      // a new line if there was one, else a space
	line      // a new line, and an empty one if there was one
	tight     // a new line
	blank     // a new line and an empty one
)

// A printer writes tokens.
type printer struct {
	tokens   []token
	comments []idl.Token // those after the last token
	next     int         // the token that is written next
	out      bytes.Buffer
	endLine  int // the source line on which the last written token or comment ends
	indent   int // of the next lines
	started  int // the indentation of the current line
}

// text returns the next token's text, or "" at the end. For a string it returns only the quote.
func (p *printer) text() string { return p.peek(0) }

// peek returns the text of the n-th token after the next one.
func (p *printer) peek(n int) string {
	switch {
	case p.next+n >= len(p.tokens):
		return ""
	case p.tokens[p.next+n].Kind == idl.TextToken:
		return `"`
	}
	return p.tokens[p.next+n].Text
}

// write writes the next token, after a gap.
func (p *printer) write(g gap) { p.writeClosing(g, p.indent) }

// writeClosing writes the next token, after a gap. Comments before it have the current
// indentation, the token itself has indent.
func (p *printer) writeClosing(g gap, indent int) {
	if p.next == len(p.tokens) {
		return
	}
	t := p.tokens[p.next]
	p.next++
	if len(t.before) == 0 {
		p.indent, indent = indent, p.indent
		p.separate(g, t.Pos.Line-p.endLine)
		p.indent = indent
	} else {
		p.commented(g, t, indent)
	}
	p.out.WriteString(t.Text)
	p.endLine = t.EndLine()
}

// commented writes the comments before a token, and the white space between it and the last token.
// Line breaks and empty lines between them stay, because they say to which declaration a comment
// belongs. If the gap needs a new line, an existing one serves as that; otherwise it comes before
// all comments.
func (p *printer) commented(g gap, t token, indent int) {
	last := len(t.before)
	lines := make([]int, last+1) // how many lines each starts after the end of the previous one
	first := -1                  // the first comment that starts on a new line
	long := 0                    // the last comment of several lines, or else the first one
	end := p.endLine
	for i := range lines {
		of := t.Token
		if i < last {
			of = t.before[i]
		}
		lines[i] = of.Pos.Line - end
		if lines[i] > 0 && first < 0 {
			first = i
		}
		if i < last && of.EndLine() > of.Pos.Line {
			long = i
		}
		end = of.EndLine()
	}
	if first < 0 && g >= line {
		// The comments before a long one belong to the last token, the others to t.
		first = long
		lines[first] = 1
	}
	// Comments before first belong to the last token if they start on its line. An empty line
	// after them then has no meaning.
	free := first == 0 || first > 0 && t.before[first-1].Pos.Line == p.endLine
	switch {
	case free && g == blank:
		lines[first] = 2
	case free && g == tight:
		lines[first] = 1
	}
	for i := range lines {
		if i == last {
			p.indent, indent = indent, p.indent
		}
		if lines[i] > 0 {
			p.separate(line, lines[i])
		} else {
			p.separate(space, 0)
		}
		if i < last {
			p.comment(t.before[i])
		}
	}
	p.indent = indent
}

// separate writes the white space of a gap. lines is the number of lines from one end of the gap
// to the other.
func (p *printer) separate(g gap, lines int) {
	if p.out.Len() == 0 {
		p.started = p.indent
		return
	}
	switch {
	case g == none || g == keep && lines <= 0:
		return
	case g == space || g == wrap && lines <= 0:
		p.out.WriteByte(' ')
		return
	}
	p.out.WriteByte('\n')
	if g == blank || g == line && lines > 1 {
		p.out.WriteByte('\n')
	}
	p.started = p.indent
	for range p.indent {
		p.out.WriteString("  ")
	}
}

// comment writes a comment. It aligns the lines of a comment with a star on each line.
func (p *printer) comment(c idl.Token) {
	lines := strings.Split(c.Text, "\n")
	starred := len(lines) > 1
	for i, text := range lines {
		lines[i] = strings.TrimRight(text, " \t\r")
		bare := strings.TrimLeft(lines[i], " \t")
		starred = starred && (i == 0 || bare == "" || bare[0] == '*')
	}
	for i, text := range lines {
		if i > 0 {
			p.out.WriteByte('\n')
		}
		if i > 0 && starred && text != "" {
			text = strings.Repeat("  ", p.started) + " " + strings.TrimLeft(text, " \t")
		}
		p.out.WriteString(text)
	}
	p.endLine = c.EndLine()
}
