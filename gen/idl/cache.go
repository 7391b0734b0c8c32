package idl

import (
	"reflect"

	"github.com/alecthomas/participle/v2/lexer"
)

// A Cache parses one text of a file after the other, and only those definitions that the text
// before did not have. The zero value is ready for use. It is not safe for concurrent use.
type Cache struct {
	pieces map[string][]*piece // of the text before, by their texts
	next   map[string][]*piece // of the text that is being parsed

	// Parsed counts the definitions that were parsed.
	Parsed int
}

// piece is a parsed definition.
type piece struct {
	item      *item
	at        Position // where it begins
	tokens    []lexer.Token
	positions []*Position // all that item has, apart from those of tokens
}

// Parse is Parse. It changes Files that it has returned before: definitions that are unchanged
// belong to the new File, with new positions.
func (c *Cache) Parse(name string, src []byte) (*File, error) {
	c.next = map[string][]*piece{}
	f, err := parseBoth(name, src, c)
	c.pieces, c.next = c.next, nil
	return f, err
}

// item returns the definition that tokens are, which end before end.
func (c *Cache) item(src string, tokens []lexer.Token, end Position) (*item, error) {
	first, last := tokens[0], tokens[len(tokens)-1]
	key := src[first.Pos.Offset : last.Pos.Offset+len(last.Value)]
	if list := c.pieces[key]; len(list) > 0 {
		p := list[len(list)-1]
		c.pieces[key] = list[:len(list)-1]
		p.move(first.Pos)
		c.next[key] = append(c.next[key], p)
		return p.item, nil
	}
	c.Parsed++
	it, parsed, err := parseTokens(tokens, end)
	if err == nil {
		p := &piece{item: it, at: first.Pos, tokens: parsed}
		p.collect(reflect.ValueOf(it))
		c.next[key] = append(c.next[key], p)
	}
	return it, err
}

// move changes all positions for a piece that now begins at to.
func (p *piece) move(to Position) {
	if p.at == to {
		return
	}
	from := p.at
	move := func(pos *Position) {
		pos.Filename = to.Filename
		if pos.Line == from.Line {
			pos.Column += to.Column - from.Column
		}
		pos.Line += to.Line - from.Line
		pos.Offset += to.Offset - from.Offset
	}
	for _, pos := range p.positions {
		move(pos)
	}
	for i := range p.tokens {
		move(&p.tokens[i].Pos)
	}
	p.at = to
}

var positionType = reflect.TypeFor[Position]()

// collect adds the positions in a value of the syntax tree. Its Tokens are parts of p.tokens.
func (p *piece) collect(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			p.collect(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			p.collect(v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == positionType {
			p.positions = append(p.positions, v.Addr().Interface().(*Position))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).Name != "Tokens" {
				p.collect(v.Field(i))
			}
		}
	}
}
