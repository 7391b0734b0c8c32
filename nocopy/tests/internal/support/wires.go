package support

import (
	"bytes"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// The heads of fields of testtypes.All, up to where a length or count stands.
const (
	TextField  = "\x0b\x00\x07"         // 7: string text
	BlobField  = "\x0b\x00\x08"         // 8: binary blob
	Numbers    = "\x0f\x00\x0d\x0a"     // 13: list<i64> numbers
	Words      = "\x0f\x00\x0e\x0b"     // 14: list<string> words
	Unique     = "\x0e\x00\x0f\x08"     // 15: set<i32> unique
	Counts     = "\x0d\x00\x10\x0b\x0a" // 16: map<string,i64> counts
	Points     = "\x0f\x00\x11\x0c"     // 17: list<Point> points
	Matrix     = "\x0f\x00\x12\x0f"     // 18: list<list<i32>> matrix
	Groups     = "\x0d\x00\x14\x0b\x0f" // 20: map<string,list<Point>> groups
	ByPoint    = "\x0d\x00\x16\x0c\x0b" // 22: map<Point,string> byPoint
	Self       = "\x0c\x00\x17"         // 23: All self
	Children   = "\x0f\x00\x18\x0c"     // 24: list<All> children
	Flags      = "\x0f\x00\x19\x02"     // 25: list<bool> flags
	MapOfMaps  = "\x0d\x00\x1c\x0a\x0d" // 28: map<i64,map<string,i32>> nested
	Tags       = "\x0e\x00\x1d\x0b"     // 29: set<string> tags
	Named      = "\x0d\x00\x21\x0b\x0c" // 33: map<string,All> named
	Pairs      = "\x0d\x00\x22\x02\x02" // 34: map<bool,bool> pairs
	Grown      = "\x0e\x00\x23\x0c"     // 35: set<Point> grown
	Wide       = "\x0f\x00\x24\x0c"     // 36: list<Wide> wide, of structs with 250 fields
	Forest     = "\x0f\x00\x27\x0f"     // 39: list<list<Tree>> forest
	UnkText    = "\x0b\x00\x64"         // 100: nobody knows these
	UnkList    = "\x0f\x00\x64"
	UnkMap     = "\x0d\x00\x64"
	UnkStruct  = "\x0c\x00\x64"
	MinusOne   = "\xff\xff\xff\xff"
	MinInt     = "\x80\x00\x00\x00"
	MaxInt     = "\x7f\xff\xff\xff"
	None       = "\x00\x00\x00\x00"
	One        = "\x00\x00\x00\x01"
	Two        = "\x00\x00\x00\x02"
	Stop       = "\x00"
	Million100 = "\x06\x40\x00\x00" // 100 MiB
)

func Times(n int, s string) string { return strings.Repeat(s, n) }

// Structs is n of them in each other.
func Structs(n int) string { return Times(n-1, Self) + Times(n, Stop) }

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
