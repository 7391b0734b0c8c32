// What tests outside of the package need of its inside.

package nocopy

import (
	"errors"
	"fmt"

	"github.com/nocopythrift/nocopythrift/internal/entry"
)

// CompactAlways makes every change of the message compact it first.
func CompactAlways(m *Message) { m.dead.everyChange, m.maybeFull, m.more = true, true, true }

// AnySize makes WithIndex and ByIndex be for messages of any size.
const AnySize = anySize

// AlwaysSparse makes a message sparse.
const AlwaysSparse = alwaysSparse

// DefineFar completes a descriptor as Define does. The struct is far, however few fields it has.
func DefineFar(d *XDesc, fields []XFieldDesc) { d.define(fields, entry.FarWords, entry.Far) }

// Indexed returns a message with an index, however small it is.
func Indexed(d *XDesc, wire []byte, opts ...Option) []byte {
	s, err := parseStruct(d, wire, append(opts, Lazy)...)
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
func CheckSentIndex(d *XDesc, b []byte, with bool, opts ...Option) error {
	s, err := parseStruct(d, b, opts...)
	if err != nil {
		return err
	}
	_, cuts := s.FindFields(entry.IndexID)
	s.Release()
	if len(cuts) == 0 {
		if with && !d.union {
			return errors.New("no index")
		}
		return nil
	}
	x, ok := findWireIndex(b)
	c := indexCheck{x: &x, b: b}
	if at, fits := c.structure(0); !ok || !fits || at != len(b) || c.k != x.n || len(cuts) > 1 {
		return fmt.Errorf("at %d: %w", at, ErrIndex)
	}
	return nil
}

// ParseKept and NewKept are ParseInto and NewInto of the type that d describes.
func ParseKept(m *Message, d *XDesc, b []byte, opts ...Option) (XStruct, error) {
	return d.parseInto(m, b, opts)
}

func NewKept(m *Message, d *XDesc, opts ...Option) XStruct { return d.newInto(m, opts) }

// IndexID is the id of the field with a message's index.
const IndexID = entry.IndexID

// RaceEnabled tells tests from outside that the race detector is on.
const RaceEnabled = raceEnabled

// Debugging reports whether the tag nocopydebug is set.
const Debugging = debugging

// What the environment leaves of the tag's checks.
var ChecksMissing, ChecksRemoved = checksMissing, checksRemoved
