package golang

import (
	"fmt"
	"go/build/constraint"
	"strconv"
	"strings"
	"unicode"

	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// withDeprecation returns text. If an annotation asks for it, a paragraph "Deprecated: …", which
// Go's tools recognise, is added.
func withDeprecation(text string, a schema.Annotations) string {
	why, ok := a.Get("deprecated")
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

// newlines replaces all characters that some editors take for the end of a line by "\n".
var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n",
	"\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// doc returns text, which may be any bytes, as lines of a Go comment. A space follows each //, so
// that no line is a directive. A line with +build is also quoted, because gofmt would move it to
// the top of the file.
func doc(text string) string {
	if text == "" {
		return ""
	}
	var b strings.Builder
	for line := range strings.SplitSeq(newlines.Replace(text), "\n") {
		line = "// " + strings.Map(printable, line)
		if constraint.IsPlusBuild(line) {
			line = strings.Replace(line, "+build", `"+build"`, 1)
		}
		b.WriteString(strings.TrimRightFunc(line, unicode.IsSpace) + "\n")
	}
	return b.String()
}

// printable returns r, or U+FFFD if r is a control character or a byte order mark. Bytes that are
// not UTF-8 are U+FFFD already.
func printable(r rune) rune {
	if unicode.IsControl(r) && r != '\t' || r == '\ufeff' {
		return unicode.ReplacementChar
	}
	return r
}

// info returns the expression for a declaration's comment and annotations, or "" if it has none.
func info(doc string, a schema.Annotations) string {
	var parts []string
	if doc != "" {
		parts = append(parts, "Doc: "+strconv.Quote(doc))
	}
	if len(a) > 0 {
		var list []string
		for _, x := range a {
			list = append(list, fmt.Sprintf("{Name: %q, Value: %q}", x.Key, x.Value))
		}
		parts = append(parts, "Annotations: []impl.Annotation{"+strings.Join(list, ", ")+"}")
	}
	if len(parts) == 0 {
		return ""
	}
	return "impl.Info{" + strings.Join(parts, ", ") + "}"
}
