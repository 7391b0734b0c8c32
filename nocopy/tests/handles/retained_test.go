package handles_test

import (
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
)

// TestReleaseOfRetained: a message that a call owns stays as it is after Release while it is
// retained.
func TestReleaseOfRetained(t *testing.T) {
	text := fieldNamed(allDesc, "text")
	for name, release := range map[string]func(s engine.Struct){"End": engine.Struct.End, "Release": engine.Struct.Release} {
		s := engine.New(allDesc)
		s.SetText(text, "some text")
		s.Offer()
		if !s.Claim(allDesc) || !s.Retain() {
			t.Fatal("it can't be claimed and retained")
		}
		release(s)
		if got := s.Text(text); got != "some text" || s.Retain() {
			t.Errorf("%s: while it is retained it has %q, or can be retained again", name, got)
		}
		s.Drop()
		if s.Is(allDesc) {
			t.Errorf("%s: it is still there", name)
		}
	}
}
