// A checker of indexes: each word belongs to one entry at most, or is free.

package engine

import (
	"fmt"
	"math/bits"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// CheckIndex returns what is wrong with the words of a message's index: each is of one entry at
// most, or free.
func CheckIndex(m *Message) (err error) {
	if m.pending&byIndex != 0 {
		return nil // there are no words yet for what has not been read
	}
	c := indexChecker{m: m, taken: make([]string, m.words)}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	for t, blocks := range m.dead.free.All() {
		for _, b := range blocks {
			c.claim(b.e, b.words, fmt.Sprintf("a free block of type %d", t.Kind()))
			if m.idx[b.e] != 0 {
				return fmt.Errorf("a free block at %d is not empty", b.e)
			}
		}
	}
	for words, all := range m.dead.rawWords.All() {
		for _, at := range all {
			c.claim(at, words, "free words")
		}
	}
	for class, t := range m.spareTables {
		for ; t != 0; t = m.idx[t+tableUsed] {
			c.claim(t, m.idx[t+tableRoom], "a free table")
			if bits.Len32(m.idx[t+tableRoom])-1 != class {
				return fmt.Errorf("a free table of %d words is in class %d", m.idx[t+tableRoom], class)
			}
		}
	}
	c.value(m.desc.Type(), m.root, m.desc.Name())
	return nil
}

type indexChecker struct {
	m     *Message
	taken []string
}

func (c indexChecker) claim(at, words uint32, who string) {
	for w := at; w < at+words; w++ {
		if w >= c.m.words {
			panic(fmt.Sprintf("%s: word %d of %d", who, w, c.m.words))
		}
		if c.taken[w] != "" {
			panic(fmt.Sprintf("word %d belongs to %s and to %s", w, who, c.taken[w]))
		}
		c.taken[w] = who
	}
}

func (c indexChecker) value(t *schema.Type, e uint32, path string) {
	m := c.m
	if t.Kind() == schema.Record {
		c.claim(e, uint32(t.Struct().Words()), path)
		c.inside(t.Struct(), e, path)
		return
	}
	c.claim(e, listWords, path)
	if schema.TypeByID(m.idx[e+listType]) != t {
		panic(path + " is of another type")
	}
	ed, per := m.editOf(e), uint32(t.ElemWords())
	n := m.idx[e+listCount]
	if t.Kind() == schema.List && t.Elem().Kind() == schema.Record && m.idx[e+listRoom]&roomTable == 0 {
		for i := range n {
			c.value(t.Elem(), m.structEntry(e, i), fmt.Sprintf("%s[%d]", path, i))
		}
		return
	}
	if t.Kind() == schema.List && t.Elem().Kind() == schema.Record {
		per = 1
	}
	c.claim(m.idx[e+listElems]-ed.gap, (m.idx[e+listRoom]&roomMask+ed.gap)*per, path+"'s words")
	if t.Kind() == schema.List && t.Elem().Kind() == schema.Fixed {
		return
	}
	for i := range n {
		slot := m.idx[e+listElems] + i*per
		switch {
		case m.idx[slot] == 0:
			continue
		case t.Kind() == schema.List && t.Elem().Kind() >= schema.Record:
			c.value(t.Elem(), m.idx[slot], fmt.Sprintf("%s[%d]", path, i))
		case t.Kind() == schema.Dict && t.Key().Kind() >= schema.Record:
			c.value(t.Key(), m.idx[slot], fmt.Sprintf("%s's key %d", path, i))
		}
		if t.Kind() == schema.Dict && t.Elem().Kind() >= schema.Record {
			c.value(t.Elem(), m.idx[slot+pairValue], fmt.Sprintf("%s[pair %d]", path, i))
		}
	}
}

// table checks the table t of a struct of span words.
func (c indexChecker) table(t, span uint32, who string) {
	switch {
	case t == 0:
	case span <= flatSpan:
		c.flat(t, span, who)
	default:
		for _, inner := range c.flat(t, entry.Chunks(span), who) {
			if inner != 0 {
				c.flat(inner, chunkSpan, who)
			}
		}
	}
}

// flat checks a table of one level and returns the words in it.
func (c indexChecker) flat(t, span uint32, who string) (words []uint32) {
	table := c.m.idx[t:][:c.m.idx[t+tableRoom]]
	c.claim(t, uint32(len(table)), who)
	taken := map[uint32]bool{}
	for n := range span {
		group := table[tableGroups+n>>groupLog*groupWords:]
		if group[0]>>(n&groupMask)&1 == 0 {
			continue
		}
		at := group[1] + uint32(bits.OnesCount32(group[0]&(1<<(n&groupMask)-1)))
		if at < entry.BareTable(span) || at >= table[tableUsed] || taken[at] {
			panic(fmt.Sprintf("%s: word %d is at %d, of %d, or twice", who, n, at, table[tableUsed]))
		}
		if table[at] == 0 {
			panic(fmt.Sprintf("%s: word %d is in the set, and 0", who, n))
		}
		taken[at] = true
		words = append(words, table[at])
	}
	return words
}

func (c indexChecker) inside(d *schema.Struct, e uint32, path string) {
	if slots := c.m.editOf(e).fieldNodes; slots != 0 && d.IsWide() {
		c.table(slots, d.Span(), path+"'s nodes")
	} else if slots != 0 {
		c.claim(slots, uint32(d.Words()), path+"'s nodes")
	}
	if d.IsWide() {
		c.table(c.m.idx[e+tableWord], d.Span(), path+"'s table")
	}
	for i := range d.Fields() {
		f := &d.Fields()[i]
		if word := c.m.at(e, f.Ref()); f.Kind() >= schema.Record && word != 0 && word&notIndexed == 0 {
			c.value(f.Type, word, path+"."+f.Name)
		}
	}
	if d.IsUnion() {
		for w := c.m.idx[e+unionWord]; w&hasExtra != 0; w = c.m.idx[w&^hasExtra+extraNext] {
			c.claim(w&^hasExtra, extraWords, path+"'s unknown fields")
		}
	}
}
