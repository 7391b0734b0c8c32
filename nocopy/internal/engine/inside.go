package engine

import (
	"errors"
	"fmt"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// CompactAlways makes every change of the message compact it first.
func CompactAlways(m *Message) {
	m.ownSeldom()
	m.dead.everyChange, m.ix.Full, m.ix.More = true, true, true
}

// Pieces returns the bytes that the message has, as they lie in memory, without finishing it.
func Pieces(m *Message) (pieces [][]byte) {
	m.buf.Pieces(func(_ chain.Pos, mem []byte) bool {
		pieces = append(pieces, mem)
		return true
	})
	return pieces
}

// Indexed returns a message with an index, however small it is.
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
	c := indexCheck{x: &x, b: b}
	if at, fits := c.structure(0); !ok || !fits || at != len(b) || c.k != x.N || len(cuts) > 1 {
		return fmt.Errorf("at %d: %w", at, wire.ErrIndex)
	}
	return nil
}

// Numbers of the index, and how deep messages may be without Limits.
const (
	MaxWords     = index.MaxWords // the most that an index has
	FirstEntry   = index.First    // the words before the first entry
	IndexPerByte = indexPerByte   // the most bytes of index for a byte of the message, without Limits
	MaxDepth     = parse.MaxDepth
)

// MostLinks is the most large pieces of a message that a copy of it, to be sent, refers to.
const MostLinks = mostLinks

// IndexWords returns how many words of the message's index are in use.
func IndexWords(m *Message) int { return int(m.ix.Used) }

// Shadows returns how many occurrences of fields are known that a later one takes the place of.
func Shadows(m *Message) int { return len(m.shadows.all) }
