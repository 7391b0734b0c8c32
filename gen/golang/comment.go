package golang

import (
	"go/build/constraint"
	"strings"
	"unicode"

	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// withDeprecation adds the paragraph by which Go knows what is deprecated.
func withDeprecation(text string, a schema.Annotations) string {
	why, ok := a["deprecated"]
	if !ok {
		return text
	}
	if why == "" || why == "1" {
		why = "do not use."
	}
	if text != "" {
		text += "\n\n"
	}
	return text + "Deprecated: " + why
}

// lineBreaks are what ends a line in some editor or other.
var lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// doc turns a comment's text, which may be any bytes, into comment lines. None
// of them is a directive: the space after // sees to that, but for +build, which
// gofmt would move to the top of the file.
func doc(text string) string {
	if text == "" {
		return ""
	}
	var b strings.Builder
	for line := range strings.SplitSeq(lineBreaks.Replace(text), "\n") {
		line = "// " + strings.Map(printable, line)
		if constraint.IsPlusBuild(line) {
			line = strings.Replace(line, "+build", `"+build"`, 1)
		}
		b.WriteString(strings.TrimRightFunc(line, unicode.IsSpace) + "\n")
	}
	return b.String()
}

// printable replaces what is no character, or none that Go allows or that can be
// seen, by U+FFFD. Bytes that are not UTF-8 come as U+FFFD already.
func printable(r rune) rune {
	if unicode.IsControl(r) && r != '\t' || r == '\ufeff' {
		return unicode.ReplacementChar
	}
	return r
}
