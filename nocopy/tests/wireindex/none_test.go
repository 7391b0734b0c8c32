package wireindex_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// TestNoIndex: if there is no index, or one that does not fit, Parse with ByIndex does the same as
// without it, and Parse with RequireIndex fails.
func TestNoIndex(t *testing.T) {
	wire := largeBusiness(t, 300)
	with := withIndex(t, businessDesc, wire)
	spoil := func(f func(b []byte) []byte) []byte { return f(bytes.Clone(with)) }
	n := len(with)
	cases := map[string][]byte{
		"none":     wire,
		"magic":    spoil(func(b []byte) []byte { b[n-2]++; return b }),
		"version":  spoil(func(b []byte) []byte { b[n-6]++; return b }),
		"length":   spoil(func(b []byte) []byte { b[n-10]++; return b }),
		"message":  spoil(func(b []byte) []byte { b[n-14]++; return b }),
		"count":    spoil(func(b []byte) []byte { b[n-20]++; return b }),
		"id":       spoil(func(b []byte) []byte { b[len(wire)]++; return b }),
		"longer":   append(with[:n-1:n-1], "\x08\x03\xe8\x00\x00\x00\x01\x00"...),
		"unsorted": spoil(func(b []byte) []byte { b[len(wire)+6+3] ^= 0x20; return b }),
	}
	for name, b := range cases {
		_, err := engine.Parse(businessDesc, b, engine.RequireIndex)
		if !errors.Is(err, nocopy.ErrIndex) {
			t.Errorf("%s: RequireIndex: %v", name, err)
		}
		plain, plainErr := engine.Parse(businessDesc, b)
		s, err := engine.Parse(businessDesc, b, engine.ByIndex)
		if fmt.Sprint(err) != fmt.Sprint(plainErr) {
			t.Fatalf("%s: %v, not %v", name, err, plainErr)
		}
		if err != nil {
			continue
		}
		if render.Text(s, businessDesc) != render.Text(plain, businessDesc) {
			t.Errorf("%s: reads otherwise", name)
		}
		s.Release()
		plain.Release()
	}
}

// TestNoIndexOfSmall: a message gets no index if it is too small for one once it is compacted.
func TestNoIndexOfSmall(t *testing.T) {
	s := engine.New(allDesc)
	s.SetText(fieldNamed(allDesc, "text"), strings.Repeat("t", wireindex.MinIndexed*3/4))
	once := bytes.Clone(s.Message().Bytes())
	s.Release()
	s = mustParse(t, allDesc, append(bytes.Clone(once[:len(once)-1]), once...), engine.WithIndex)
	s.SetInt32(fieldNamed(allDesc, "medium"), 1)
	b := s.Message().Bytes()
	if _, is := wireindex.Find(b); is || len(b) > wireindex.MinIndexed {
		t.Errorf("%d bytes with an index", len(b))
	}
	s.Release()
}
