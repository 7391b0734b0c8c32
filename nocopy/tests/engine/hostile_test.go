// Parts of hostile messages, which tests put together.

package engine_test

import (
	"strings"
)

// The heads of fields of allDesc, up to where a length or count stands.
const (
	textField  = "\x0b\x00\x07"         // 7: string text
	blobField  = "\x0b\x00\x08"         // 8: binary blob
	numbers    = "\x0f\x00\x0d\x0a"     // 13: list<i64> numbers
	words      = "\x0f\x00\x0e\x0b"     // 14: list<string> words
	unique     = "\x0e\x00\x0f\x08"     // 15: set<i32> unique
	counts     = "\x0d\x00\x10\x0b\x0a" // 16: map<string,i64> counts
	points     = "\x0f\x00\x11\x0c"     // 17: list<Point> points
	matrix     = "\x0f\x00\x12\x0f"     // 18: list<list<i32>> matrix
	groups     = "\x0d\x00\x14\x0b\x0f" // 20: map<string,list<Point>> groups
	byPoint    = "\x0d\x00\x16\x0c\x0b" // 22: map<Point,string> byPoint
	self       = "\x0c\x00\x17"         // 23: All self
	children   = "\x0f\x00\x18\x0c"     // 24: list<All> children
	flags      = "\x0f\x00\x19\x02"     // 25: list<bool> flags
	mapOfMaps  = "\x0d\x00\x1c\x0a\x0d" // 28: map<i64,map<string,i32>> nested
	tags       = "\x0e\x00\x1d\x0b"     // 29: set<string> tags
	named      = "\x0d\x00\x21\x0b\x0c" // 33: map<string,All> named
	pairs      = "\x0d\x00\x22\x02\x02" // 34: map<bool,bool> pairs
	grown      = "\x0e\x00\x23\x0c"     // 35: set<Point> grown
	wide       = "\x0f\x00\x24\x0c"     // 36: list<Wide> wide, of structs with 250 fields
	forest     = "\x0f\x00\x27\x0f"     // 39: list<list<Tree>> forest
	unkText    = "\x0b\x00\x64"         // 100: nobody knows these
	unkList    = "\x0f\x00\x64"
	unkMap     = "\x0d\x00\x64"
	unkStruct  = "\x0c\x00\x64"
	minusOne   = "\xff\xff\xff\xff"
	minInt     = "\x80\x00\x00\x00"
	maxInt     = "\x7f\xff\xff\xff"
	none       = "\x00\x00\x00\x00"
	one        = "\x00\x00\x00\x01"
	two        = "\x00\x00\x00\x02"
	stop       = "\x00"
	million100 = "\x06\x40\x00\x00" // 100 MiB
)

func times(n int, s string) string { return strings.Repeat(s, n) }

// structs is n of them in each other.
func structs(n int) string { return times(n-1, self) + times(n, stop) }
