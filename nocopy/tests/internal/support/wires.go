package support

import (
	"bytes"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// Be returns n as a count on the wire.
func Be(n int) string { return string(wire.AppendBE32(nil, uint32(n))) }

// Bombs are messages of about n bytes, each as expensive as a message of its kind can be.
var Bombs = []struct {
	Name string
	Make func(n int) string
}{
	{"list of empty structs with 250 fields", func(n int) string { return "\x0f\x00\x24\x0c" + Be(n) + strings.Repeat("\x00", n) }},
	{"list of empty structs with 43 fields", func(n int) string { return "\x0f\x00\x18\x0c" + Be(n) + strings.Repeat("\x00", n) }},
	{"list of empty structs with 2 fields", func(n int) string { return "\x0f\x00\x11\x0c" + Be(n) + strings.Repeat("\x00", n) }},
	{"set of empty structs", func(n int) string { return "\x0e\x00\x23\x0c" + Be(n) + strings.Repeat("\x00", n) }},
	{"list of empty unions", func(n int) string { return "\x0f\x00\x1e\x0c" + Be(n) + strings.Repeat("\x00", n) }},
	{"map to empty structs", func(n int) string {
		return "\x0d\x00\x15\x08\x0c" + Be(n/5) + strings.Repeat("\x00\x00\x00\x01\x00", n/5)
	}},
	{"map of empty structs", func(n int) string {
		return "\x0d\x00\x16\x0c\x0b" + Be(n/5) + strings.Repeat("\x00\x00\x00\x00\x00", n/5)
	}},
	{"map of bools", func(n int) string { return "\x0d\x00\x22\x02\x02" + Be(n/2) + strings.Repeat("\x00\x01", n/2) }},
	{"list of empty lists", func(n int) string { return "\x0f\x00\x12\x0f" + Be(n/5) + strings.Repeat("\x08\x00\x00\x00\x00", n/5) }},
	{"list of empty maps", func(n int) string {
		return "\x0f\x00\x1f\x0d" + Be(n/6) + strings.Repeat("\x03\x04\x00\x00\x00\x00", n/6)
	}},
	{"map to empty maps", func(n int) string {
		return "\x0d\x00\x1c\x0a\x0d" + Be(n/14) + strings.Repeat("\x00\x00\x00\x00\x00\x00\x00\x00\x0b\x08\x00\x00\x00\x00", n/14)
	}},
	{"map of empty lists", func(n int) string {
		return "\x0d\x00\x20\x0f\x02" + Be(n/6) + strings.Repeat("\x08\x00\x00\x00\x00\x01", n/6)
	}},
	{"list of empty strings", func(n int) string { return "\x0f\x00\x0e\x0b" + Be(n/4) + strings.Repeat("\x00\x00\x00\x00", n/4) }},
	{"list of bools", func(n int) string { return "\x0f\x00\x19\x02" + Be(n) + strings.Repeat("\x01", n) }},
	{"one long string", func(n int) string { return "\x0b\x00\x07" + Be(n) + strings.Repeat("x", n) }},
	{"one bool, again and again", func(n int) string { return strings.Repeat("\x02\x00\x01\x01", n/4) }},
	{"one struct, again and again", func(n int) string { return strings.Repeat("\x0c\x00\x0b\x00", n/4) }},
	{"one big struct, again and again", func(n int) string { return strings.Repeat("\x0c\x00\x17\x00", n/4) }},
	{"one list, again and again", func(n int) string { return strings.Repeat("\x0f\x00\x0d\x0a\x00\x00\x00\x00", n/8) }},
	{"two fields in turn", func(n int) string { return strings.Repeat("\x02\x00\x01\x01\x03\x00\x02\x01", n/8) }},
	{"unknown fields", func(n int) string { return strings.Repeat("\x02\x00\x64\x01", n/4) }},
	{"unknown list of empty structs", func(n int) string { return "\x0f\x00\x64\x0c" + Be(n) + strings.Repeat("\x00", n) }},
	{"list of lists of another type at the end", func(n int) string {
		return "\x0f\x00\x12\x0f" + Be(n/5+1) + strings.Repeat("\x08\x00\x00\x00\x00", n/5) + "\x03\x00\x00\x00\x01\x00"
	}},
	{"children who are of another type at their end", func(n int) string {
		one := "\x0f\x00\x12\x0f" + Be(21) + strings.Repeat("\x08\x00\x00\x00\x00", 20) + "\x03\x00\x00\x00\x01\x00\x00"
		return "\x0f\x00\x18\x0c" + Be(n/len(one)) + strings.Repeat(one, n/len(one))
	}},
	{"lists of empty structs with 250 fields, in structs", func(n int) string {
		one := "\x0f\x00\x24\x0c" + Be(1000) + strings.Repeat("\x00", 1000) + "\x00"
		return "\x0f\x00\x18\x0c" + Be(n/len(one)) + strings.Repeat(one, n/len(one))
	}},
	{"forest of empty trees", func(n int) string {
		return "\x0f\x00\x27\x0f" + Be(n/6) + strings.Repeat("\x0c\x00\x00\x00\x01\x00", n/6)
	}},
}

// Nest returns n levels of head around core, with tail after each.
func Nest(n int, head, core, tail string) []byte {
	b := bytes.Repeat([]byte(head), n)
	b = append(b, core...)
	return append(b, bytes.Repeat([]byte(tail), n)...)
}

func Join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
