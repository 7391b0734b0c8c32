package parse

import (
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/program"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// owner is the message of an index that is not nearly full, and is not changed at once.
type owner struct{}

func (owner) MostWords(int) int   { return index.MaxWords }
func (owner) EndChange()          {}
func (owner) PanicChangedAtOnce() { panic("changed at once") }

// parserFor returns a parser for these bytes.
func parserFor(b []byte) *Parser {
	x, buf := new(index.Index), new(chain.Buffer)
	x.Begin(owner{})
	x.Used = index.First
	buf.Reset(false)
	p := New(x, buf, nil)
	p.Reset(len(b), Settings{MaxDepth: MaxDepth})
	p.B, p.Base = b, buf.AddForeign(b, false)
	return p
}

// TestProgramOfBuilt: the program for the order of New reads a built message to the end. It does
// not read a message in the other order that only lacks a field.
func TestProgramOfBuilt(t *testing.T) {
	d := schema.NewStruct("Mixed")
	d.Define(
		schema.FieldDesc{ID: 5, Name: "x", Type: schema.TypeI8},
		schema.FieldDesc{ID: 1, Name: "a", Type: schema.TypeString},
		schema.FieldDesc{ID: 2, Name: "b", Type: schema.TypeI32},
		schema.FieldDesc{ID: 3, Name: "c", Type: schema.TypeString},
		schema.FieldDesc{ID: 4, Name: "d", Type: schema.TypeI64},
	)
	// ran returns whether a program has read all of the message, and if not, whether it was that for
	// what New makes.
	ran := func(wire string) (whole, built bool) {
		p := parserFor([]byte(wire))
		p.depth = 1
		var s machine
		s.pc, s.entry = program.Of(d).Start, p.allot(0, d.Words(), 1, 0)
		p.load(&s)
		why := p.start(&s)
		p.Drop()
		return why == finished, s.pc >= program.Of(d).Built
	}
	const (
		x, a, b, c = "\x03\x00\x05\x01", "\x0b\x00\x01\x00\x00\x00\x01a", "\x08\x00\x02\x00\x00\x00\x07", "\x0b\x00\x03\x00\x00\x00\x01c"
		dd         = "\x0a\x00\x04\x00\x00\x00\x00\x00\x00\x00\x08"
	)
	made := string(d.Template()) + a + c + "\x00" // as New and setters make it
	if whole, _ := ran(made); !whole {
		t.Error("what New makes is not read to its end")
	}
	if _, built := ran(made[:len(made)-1]); !built {
		t.Error("what New makes is not read by its program")
	}
	if _, built := ran(x + b + c + dd + "\x00"); built {
		t.Error("a message without its second field is taken for one made by New")
	}
}

// TestProgramOfGaps: elements of a list are read by programs whichever of their fields are absent,
// also those after one that could be of the other order.
func TestProgramOfGaps(t *testing.T) {
	d := schema.NewStruct("Gaps")
	d.Define(
		schema.FieldDesc{ID: 1, Name: "x", Type: schema.TypeI8},
		schema.FieldDesc{ID: 2, Name: "a", Type: schema.TypeString},
		schema.FieldDesc{ID: 3, Name: "b", Type: schema.TypeString},
		schema.FieldDesc{ID: 4, Name: "c", Type: schema.TypeI32},
		schema.FieldDesc{ID: 5, Name: "d", Type: schema.TypeI64},
	)
	fields := []string{"\x03\x00\x01\x01", "\x0b\x00\x02\x00\x00\x00\x01a", "\x0b\x00\x03\x00\x00\x00\x01b",
		"\x08\x00\x04\x00\x00\x00\x07", "\x0a\x00\x05\x00\x00\x00\x00\x00\x00\x00\x08"}
	element := func(set int) string {
		e := ""
		for i, f := range fields {
			if set>>i&1 != 0 {
				e += f
			}
		}
		return e + "\x00"
	}
	for first := range 1 << len(fields) {
		for second := range 1 << len(fields) {
			wire := []byte("\x0c\x00\x00\x00\x02" + element(first) + element(second))
			p := parserFor(wire)
			if end := p.pass(schema.ListOf(d.Type()), 0); end != len(wire) {
				t.Errorf("elements with fields %05b and %05b: passed to %d of %d", first, second, end, len(wire))
			}
			p.Drop()
		}
	}
}

// TestScannerForgets: after the end of a value that is nested as deeply as may be, or an error in
// it, a Scanner keeps little memory.
func TestScannerForgets(t *testing.T) {
	for _, last := range []string{"\x0f\x00\x00\x00\x00\x00", "\x0f\xff\xff\xff\xff"} {
		var s Scanner
		b := []byte("\x0f\x00\x01" + strings.Repeat("\x0f\x00\x00\x00\x01", 16_000) + last)
		s.Scan(b[:len(b)-len(last)])
		within := cap(s.levels)
		end, need, err := s.Scan(b)
		if after := cap(s.levels); within <= keepLevels || after > keepLevels || need > 0 || (end == len(b)) == (err != nil) {
			t.Errorf("memory for %d levels within, %d afterwards; end %d, need %d, %v", within, after, end, need, err)
		}
	}
}
