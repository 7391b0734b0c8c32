package testtypes

import "strings"

// The heads of fields of All, up to where a length or count stands.
const (
	HeadText      = "\x0b\x00\x07"         // 7: string text
	HeadBlob      = "\x0b\x00\x08"         // 8: binary blob
	HeadNumbers   = "\x0f\x00\x0d\x0a"     // 13: list<i64> numbers
	HeadWords     = "\x0f\x00\x0e\x0b"     // 14: list<string> words
	HeadUnique    = "\x0e\x00\x0f\x08"     // 15: set<i32> unique
	HeadCounts    = "\x0d\x00\x10\x0b\x0a" // 16: map<string,i64> counts
	HeadPoints    = "\x0f\x00\x11\x0c"     // 17: list<Point> points
	HeadMatrix    = "\x0f\x00\x12\x0f"     // 18: list<list<i32>> matrix
	HeadGroups    = "\x0d\x00\x14\x0b\x0f" // 20: map<string,list<Point>> groups
	HeadByPoint   = "\x0d\x00\x16\x0c\x0b" // 22: map<Point,string> byPoint
	HeadSelf      = "\x0c\x00\x17"         // 23: All self
	HeadChildren  = "\x0f\x00\x18\x0c"     // 24: list<All> children
	HeadFlags     = "\x0f\x00\x19\x02"     // 25: list<bool> flags
	HeadMapOfMaps = "\x0d\x00\x1c\x0a\x0d" // 28: map<i64,map<string,i32>> nested
	HeadTags      = "\x0e\x00\x1d\x0b"     // 29: set<string> tags
	HeadNamed     = "\x0d\x00\x21\x0b\x0c" // 33: map<string,All> named
	HeadPairs     = "\x0d\x00\x22\x02\x02" // 34: map<bool,bool> pairs
	HeadGrown     = "\x0e\x00\x23\x0c"     // 35: set<Point> grown
	HeadWide      = "\x0f\x00\x24\x0c"     // 36: list<Wide> wide, of structs with 250 fields
	HeadForest    = "\x0f\x00\x27\x0f"     // 39: list<list<Tree>> forest
	UnkText       = "\x0b\x00\x64"         // 100: nobody knows these
	UnkList       = "\x0f\x00\x64"
	UnkMap        = "\x0d\x00\x64"
	UnkStruct     = "\x0c\x00\x64"
	MinusOne      = "\xff\xff\xff\xff"
	MinInt        = "\x80\x00\x00\x00"
	MaxInt        = "\x7f\xff\xff\xff"
	None          = "\x00\x00\x00\x00"
	One           = "\x00\x00\x00\x01"
	Two           = "\x00\x00\x00\x02"
	Stop          = "\x00"
	Million100    = "\x06\x40\x00\x00" // 100 MiB
)

func Times(n int, s string) string { return strings.Repeat(s, n) }

// Structs is n of them in each other.
func Structs(n int) string { return Times(n-1, HeadSelf) + Times(n, Stop) }
