package engine

import (
	"bytes"
	"math"
	"math/bits"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/steps"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// The part of TestHostileSteps about indexes that lie: reading all elements of a list by their
// numbers, or asking what Index is needed for, takes steps in proportion to the message's bytes.

// farAnchors returns a message with a list of n items, and an index that has one anchor, for the
// last of them. With broken, the last one is not valid.
func farAnchors(t testing.TB, n int, broken bool) []byte {
	wire := largeBusiness(t, n)
	s, err := Parse(businessDesc, wire)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	f := businessDesc.FieldOf(fieldNamed(businessDesc, "items"))
	at, to := s.m.extent(index.Word(s.word(fieldNamed(businessDesc, "items"))).Entry(), f.Type)
	at -= s.m.ix.StartOf(s.m.root)
	last, _ := s.m.extent(StructList[Struct](s.Child(fieldNamed(businessDesc, "items"), businessDesc)).At(n-1).entry(), f.Type.Elem())
	last -= s.m.ix.StartOf(s.m.root)
	if wire = bytes.Clone(wire); broken {
		wire[last] = 1
	}
	stride := uint32(bits.Len(uint(n-1)) - 1)
	e := wireindex.AppendNumber(wireindex.AppendNumber(nil, at), to-s.m.ix.StartOf(s.m.root))
	e = wireindex.AppendNumber(wireindex.AppendNumber(e, f.Header()<<wireindex.StrideBits|stride), f.Type.Hash())
	e = wireindex.AppendNumber(wireindex.AppendNumber(e, wireindex.EntryBytes), last)
	return withEntries(wire, 1, e)
}

func countLandingSteps(t *testing.T) {
	defer func() { steps.Limit = 0 }()
	for _, broken := range []bool{false, true} {
		read := func(n, limit int) (size, took int) {
			wire := farAnchors(t, n, broken)
			s, err := Parse(businessDesc, wire, RequireIndex)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Release()
			l := StructList[Struct](s.Child(fieldNamed(businessDesc, "items"), businessDesc))
			steps.N, steps.Limit = 0, limit
			for i := range l.Len() {
				if x := l.At(i); i < l.Len()/2 && !x.Valid() { // the anchor is wrong for the others
					t.Fatalf("element %d is absent", i)
				}
			}
			steps.Limit = 0
			return len(wire), steps.N
		}
		small, few := read(200, math.MaxInt)
		large, many := read(200*16, math.MaxInt)
		if times := float64(large) / float64(small); float64(many) > 2*times*float64(few)+100_000 {
			t.Errorf("broken %t: %d bytes take %d steps, %d bytes %d", broken, small, few, large, many)
		}
		t.Logf("anchors far apart, broken %t: %.1f steps a byte", broken, float64(many)/float64(large))
	}
	few, many := countAsking(t, 400), countAsking(t, 400*16)
	if many > 24*few {
		t.Errorf("asking each element of a message that is not valid: %d steps, of 16 times the bytes %d", few, many)
	}
}

// countAsking returns the steps of asking Index for each of n elements. The last one is not valid.
func countAsking(t *testing.T, n int) int {
	s, err := Parse(orchardDesc, spoilElement(t, "list", n, n-1), RequireIndex)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	steps.N = 0
	for _, x := range StructList[Struct](s.Child(fieldNamed(orchardDesc, "list"), orchardDesc)).All() {
		for range x.Unknown(fruitDesc) {
		}
	}
	return steps.N
}

// TestSmallIndex: a message that is too small for an index may have bytes that look like one, such
// as a text that comes last. They are not taken for an index.
func TestSmallIndex(t *testing.T) {
	wire := largeBusiness(t, 20)
	if len(wire) >= wireindex.MinIndexed {
		t.Fatal("the message is large enough")
	}
	forged := Indexed(businessDesc, wire)
	if _, ok := wireindex.Find(forged); !ok {
		t.Fatal("there is no index")
	}
	if _, err := Parse(businessDesc, forged, RequireIndex); err == nil {
		t.Error("an index is found in a small message")
	}
	s, err := Parse(businessDesc, forged, ByIndex)
	if err != nil || s.m.pending&byIndex != 0 {
		t.Errorf("a small message is read by its index; %v", err)
	}
	s.Release()
}
