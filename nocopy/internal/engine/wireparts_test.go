// Parts of wire bytes of allDesc.

package engine

import "strings"

// The heads of fields of allDesc, up to where a length or count stands.
const (
	textField = "\x0b\x00\x07" // 7: string text

	numbers = "\x0f\x00\x0d\x0a"     // 13: list<i64> numbers
	words   = "\x0f\x00\x0e\x0b"     // 14: list<string> words
	unique  = "\x0e\x00\x0f\x08"     // 15: set<i32> unique
	counts  = "\x0d\x00\x10\x0b\x0a" // 16: map<string,i64> counts
	points  = "\x0f\x00\x11\x0c"     // 17: list<Point> points
	matrix  = "\x0f\x00\x12\x0f"     // 18: list<list<i32>> matrix

	self = "\x0c\x00\x17" // 23: All self

	grown = "\x0e\x00\x23\x0c" // 35: set<Point> grown

	unkList = "\x0f\x00\x64"

	unkStruct = "\x0c\x00\x64"

	none = "\x00\x00\x00\x00"
	one  = "\x00\x00\x00\x01"
	two  = "\x00\x00\x00\x02"
	stop = "\x00"
)

func times(n int, s string) string { return strings.Repeat(s, n) }

// structs is n of them in each other.
func structs(n int) string { return times(n-1, self) + times(n, stop) }
