package idlfmt

import (
	"fmt"
	"iter"
	"strings"
)

// context is the number of unchanged lines that a diff shows around changed ones.
const context = 3

// An edit is a range of lines of the old text that a range of the new text replaces.
type edit struct{ oldStart, oldEnd, newStart, newEnd int }

// Diff returns the difference between two texts as a unified diff, or "" if there is none. name is
// the name of the file.
func Diff(name, old, new string) string {
	if old == new {
		return ""
	}
	a, b := splitLines(old), splitLines(new)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s.orig\n+++ %s\n", name, name)
	edits := compareLines(a, b, 0, 0, nil)
	for len(edits) > 0 {
		n := 1
		for n < len(edits) && edits[n].oldStart-edits[n-1].oldEnd <= 2*context {
			n++
		}
		hunk(&out, a, b, edits[:n])
		edits = edits[n:]
	}
	return out.String()
}

// splitLines returns the lines of a text, each with its end.
func splitLines(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		return lines[:len(lines)-1]
	}
	lines[len(lines)-1] += "\n\\ No newline at end of file\n"
	return lines
}

// compareLines appends the edits that turn a into b. i and j are the numbers of their first lines.
// It matches lines that occur exactly once in each, which takes time proportional to the text.
func compareLines(a, b []string, i, j int, edits []edit) []edit {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b, i, j = a[1:], b[1:], i+1, j+1
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) == 0 && len(b) == 0 {
		return edits
	}
	counts := map[string][3]int{} // counts in a and b, and the index in b
	for _, line := range a {
		c := counts[line]
		c[0]++
		counts[line] = c
	}
	for n, line := range b {
		c := counts[line]
		c[1], c[2] = c[1]+1, n
		counts[line] = c
	}
	x, y := 0, 0 // the lines before them are done
	for n, line := range a {
		if c := counts[line]; n >= x && c[0] == 1 && c[1] == 1 && c[2] >= y {
			edits = between(a[x:n], b[y:c[2]], i+x, j+y, edits)
			x, y = n+1, c[2]+1
			for x < len(a) && y < len(b) && a[x] == b[y] {
				x, y = x+1, y+1
			}
		}
	}
	return between(a[x:], b[y:], i+x, j+y, edits)
}

// between appends the edit of the lines between two matching ones.
func between(a, b []string, i, j int, edits []edit) []edit {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b, i, j = a[1:], b[1:], i+1, j+1
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) == 0 && len(b) == 0 {
		return edits
	}
	return append(edits, edit{i, i + len(a), j, j + len(b)})
}

// hunk writes edits that are near each other.
func hunk(out *strings.Builder, a, b []string, edits []edit) {
	first, last := edits[0], edits[len(edits)-1]
	before := min(context, first.oldStart)
	after := min(context, len(a)-last.oldEnd)
	oldStart, oldLen := first.oldStart-before, last.oldEnd+after-first.oldStart+before
	newStart, newLen := first.newStart-before, last.newEnd+after-first.newStart+before
	fmt.Fprintf(out, "@@ -%s +%s @@\n", lineRange(oldStart, oldLen), lineRange(newStart, newLen))
	at := oldStart
	for _, e := range edits {
		writeLines(out, " ", a[at:e.oldStart])
		writeLines(out, "-", a[e.oldStart:e.oldEnd])
		writeLines(out, "+", b[e.newStart:e.newEnd])
		at = e.oldEnd
	}
	writeLines(out, " ", a[at:at+after])
}

// lineRange returns a range of lines in the form of a unified diff.
func lineRange(start, n int) string {
	if n > 0 {
		start++
	}
	return fmt.Sprintf("%d,%d", start, n)
}

func writeLines(out *strings.Builder, mark string, lines []string) {
	for _, line := range lines {
		out.WriteString(mark + line)
	}
}

// Pieces cuts a text and what Format has made of it into the shortest runs of lines that differ in
// white space only, and yields them in order. It is for formatting a part of a text.
func Pieces(old, new string) iter.Seq2[string, string] {
	return func(yield func(old, new string) bool) {
		for old != "" || new != "" {
			var i, j, more int // bytes of the runs, and how much more text the new one has
			for first := true; first || more != 0; first = false {
				if more >= 0 {
					line := nextLine(old[i:])
					i, more = i+len(line), more-countText(line)
				}
				if more < 0 || first {
					line := nextLine(new[j:])
					j, more = j+len(line), more+countText(line)
				}
				if i == len(old) && more >= 0 || j == len(new) && more < 0 { // the rest
					i, j = len(old), len(new)
					break
				}
			}
			if !yield(old[:i], new[:j]) {
				return
			}
			old, new = old[i:], new[j:]
		}
	}
}

// nextLine returns the first line of a text, with its end.
func nextLine(text string) string {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return text[:i+1]
	}
	return text
}

// countText counts the bytes that are not white space.
func countText(text string) (n int) {
	for _, c := range []byte(text) {
		if c > ' ' {
			n++
		}
	}
	return n
}
