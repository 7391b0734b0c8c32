package engine_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
)

// TestClaimCopyLinks: a copy of a large message is the same message, also once either is changed;
// it has none of its bytes, unless some were the program's.
func TestClaimCopyLinks(t *testing.T) {
	text, blob, list := fieldNamed(allDesc, "text"), fieldNamed(allDesc, "blob"), fieldNamed(allDesc, "words")
	large := bytes.Repeat([]byte("large "), 5000)
	build := func(foreign bool) engine.Struct {
		s := engine.New(allDesc)
		s.SetText(text, "a text")
		if foreign {
			s.SetBytes(blob, large)
		} else {
			copy(s.NewBytes(blob, len(large)), large)
		}
		s.SetTexts(list, allDesc, []string{"one", strings.Repeat("two", 3000)})
		s.Message().Finish()
		return s
	}
	for name, from := range map[string]engine.Struct{
		"built":   build(false),
		"foreign": build(true),
		"parsed":  mustParse(t, allDesc, build(false).Message().Bytes()),
		"edited": func() engine.Struct {
			s := mustParse(t, allDesc, build(false).Message().Bytes())
			s.SetText(text, "edited")
			return s
		}(),
		"small": mustParse(t, allDesc, fullWire(t)),
	} {
		t.Run(name, func(t *testing.T) {
			from.Message().Finish()
			want := bytes.Clone(from.Message().Bytes())
			c, err := from.ClaimCopy(allDesc)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(c.Message().Bytes(), want) {
				t.Fatal("the copy has other bytes")
			}
			c.SetText(text, "changed")
			c.SetTexts(list, allDesc, []string{"three"})
			if !bytes.Equal(from.Message().Bytes(), want) {
				t.Fatal("the original has changed")
			}
			changed := bytes.Clone(c.Message().Bytes())
			from.SetText(text, "the original's")
			from.SetBytes(blob, nil)
			if !bytes.Equal(c.Message().Bytes(), changed) || c.Text(text) != "changed" {
				t.Fatal("the copy has changed")
			}
			again := mustParse(t, allDesc, changed)
			if !again.Equal(allDesc, c) {
				t.Fatal("the copy's bytes are not what it reads as")
			}
			second := c.Clone(allDesc)
			if c.Message().Release(); !bytes.Equal(second.Message().Bytes(), changed) {
				t.Fatal("a copy of the copy has changed")
			}
		})
	}
}
