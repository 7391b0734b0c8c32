package engine

import (
	"errors"
	"fmt"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// This file is for tests. It checks an index: each word belongs to one entry at most, or is free.
// It also checks the index in a message's own bytes.

// CheckIndex returns an error if the words of a message's index are wrong: each belongs to one
// entry at most, or is free.
func CheckIndex(m *Message) (err error) {
	if m.pending&byIndex != 0 {
		return nil // unread values have no words yet
	}
	c := indexChecker{m: m, taken: make([]string, m.ix.Used)}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	m.ix.EachFree(func(at, words uint32, what string) {
		c.claim(at, words, what)
		if what == "a free block" && m.ix.Word(at) != 0 {
			panic(fmt.Sprintf("a free block at %d is not empty", at))
		}
	})
	c.value(m.desc.Type(), m.root, m.desc.Name())
	return nil
}

type indexChecker struct {
	m     *Message
	taken []string
}

func (c indexChecker) claim(at, words uint32, who string) {
	for w := at; w < at+words; w++ {
		if w >= c.m.ix.Used {
			panic(fmt.Sprintf("%s: word %d of %d", who, w, c.m.ix.Used))
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
	if m.ix.List(e).Type() != t {
		panic(path + " is of another type")
	}
	ed, l, per := m.editOf(e), m.ix.List(e), uint32(t.ElemWords())
	if t.Kind() == schema.List && t.Elem().Kind() == schema.Record {
		per = l.Room().WordsPerSlot()
	}
	c.claim(l.Slots()-ed.gap*per, (l.Room().Len()+ed.gap)*per, path+"'s words")
	c.parts(t, e, path)
}

// parts checks the values in the value of type t and entry e.
func (c indexChecker) parts(t *schema.Type, e uint32, path string) {
	for p := range c.m.parts(t, e) {
		switch {
		case p.word.IsLazy():
		case p.f != nil:
			c.value(p.t, p.word.Entry(), path+"."+p.f.Name)
		default:
			c.value(p.t, p.word.Entry(), fmt.Sprintf("%s[%d] (a key: %t)", path, p.i, p.key))
		}
	}
}

// table checks the table t of a struct of span words.
func (c indexChecker) table(t, span uint32, who string) {
	if t == 0 {
		return
	}
	words, err := c.m.ix.CheckTable(t, span)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", who, err))
	}
	c.claim(t, words, who)
}

func (c indexChecker) inside(d *schema.Struct, e uint32, path string) {
	if slots := c.m.editOf(e).fieldNodes; slots != 0 && d.IsWide() {
		c.table(slots, d.Span(), path+"'s nodes")
	} else if slots != 0 {
		c.claim(slots, uint32(d.Words()), path+"'s nodes")
	}
	if d.IsWide() {
		c.table(c.m.ix.Table(e), d.Span(), path+"'s table")
	}
	c.parts(d.Type(), e, path)
	if d.IsUnion() {
		for w := c.m.ix.Arm(e); w.HasExtra(); _, _, w = c.m.ix.Extra(w) {
			c.claim(w.Extra(), index.ExtraWords, path+"'s unknown fields")
		}
	}
}

// CompactAlways makes every change of the message compact it first.
func CompactAlways(m *Message) {
	m.ownSeldom()
	m.dead.everyChange, m.ix.Full, m.ix.More = true, true, true
}

// IndexWords returns how many words of the message's index are in use.
func IndexWords(m *Message) int { return int(m.ix.Used) }

// Duplicates returns how many occurrences of fields are known that a later one takes the place of.
func Duplicates(m *Message) int { return len(m.duplicates) }

// Indexed returns a message with a wire index, even if the message is small.
func Indexed(d *schema.Struct, wire []byte, opts ...Option) []byte {
	s, err := Parse(d, wire, append(opts, Lazy)...)
	if err == nil {
		err = s.m.Index()
	}
	if err != nil {
		panic(err)
	}
	defer s.Release()
	s.m.flags |= WithIndex | AnySize
	s.m.addWireIndex()
	s.m.buf.Seal()
	return s.m.AppendTo(nil)
}

// CheckSentIndex returns an error if the message b has an index that does not fit it, or has none
// though it was made WithIndex.
func CheckSentIndex(d *schema.Struct, b []byte, with bool, opts ...Option) error {
	s, err := Parse(d, b, opts...)
	if err != nil {
		return err
	}
	_, cuts := s.FindFields(entry.IndexID)
	s.Release()
	if len(cuts) == 0 {
		if with && !d.IsUnion() {
			return errors.New("no index")
		}
		return nil
	}
	x, ok := wireindex.Find(b)
	if at, fits := x.Check(b, parse.SkipValid); !ok || !fits || len(cuts) > 1 {
		return fmt.Errorf("at %d: %w", at, wire.ErrIndex)
	}
	return nil
}
