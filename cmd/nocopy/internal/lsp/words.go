package lsp

import "strings"

// words returns the set of the words in a text.
func words(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}

// baseTypes are the names of types that need no definition; byte is an old name of i8.
const baseTypes = "bool byte i8 i16 i32 i64 double string binary uuid"

// keywords are the words that do not refer to a definition where a type or a value is expected.
var keywords = words(baseTypes + " map set list void required optional oneway async extends throws const typedef")
