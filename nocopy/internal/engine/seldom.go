package engine

import (
	"reflect"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/keytable"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// seldom has the state that few messages need. Most only read noSeldom, which all messages share
// until they need one of their own. Code that stores into it calls ownSeldom first.
type seldom struct {
	// Left by edits
	liveSets   []keytable.Set // see edit.live
	shadows    shadows        // fields that came twice
	handouts   []handout      // memory for binaries, handed out since the message was last finished
	dead       deadEntries    // entries in the index whose values are no longer in the message
	looseNodes []uint32       // words of texts that no loose element has any more, see arrange.go

	// Memory for copies, which waits for more
	copied     []byte      // for a value that is copied from another message
	spentRange chain.Range // has memory for the pieces of the next Range, see source
	scratch    []byte      // for a zero value that is encoded before it is appended

	// Required fields that were filled in, see default.go
	fillings int
	filled   []filled

	// An index on the wire
	landing   *landing     // of a message that is read by its index, see landing.go
	late      error        // the first that was found in what Lazy left for later
	indexNode chain.NodeID // with the index that finishing added

	limits Limits

	absentIn *schema.Field // the field that is absent; nil if that is not known
}

// noSeldom is only read.
var noSeldom = *newSeldom()

func newSeldom() *seldom {
	return &seldom{limits: usualLimits}
}

// ownSeldom makes seldom the message's own, if it is not.
func (m *Message) ownSeldom() {
	if m.seldom == &noSeldom {
		m.seldom = newSeldom()
	}
}

// mustBeUntouched panics if something was stored into noSeldom.
func mustBeUntouched() {
	if !reflect.DeepEqual(&noSeldom, newSeldom()) {
		panic("nocopy: internal error: stored into what all messages read")
	}
}

// endSeldom empties s. It keeps some of its memory for the next message.
func (m *Message) endSeldom(s *seldom) {
	if len(s.shadows.all) > 0 || s.shadows.found.Len() > 0 {
		if cap(s.shadows.all) > keepShadows {
			s.shadows.all = nil
		}
		s.shadows = shadows{all: s.shadows.all[:0]}
	}
	if cap(s.copied) > keepCopied {
		s.copied = nil
	}
	s.looseNodes = s.looseNodes[:0]
	if s.fillings > 0 {
		s.filled, s.fillings = s.filled[:0], 0
	}
	if len(s.handouts) > 0 {
		m.dropHandouts()
	}
	if s.dead.used() {
		s.dead.reset()
	}
	if s.liveSets != nil || s.late != nil {
		s.liveSets, s.late = nil, nil
	}
	if m.guarded && s.landing != nil {
		s.landing.reset()
	}
}
