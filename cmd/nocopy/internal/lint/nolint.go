package lint

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// stretch is a part of a file in which rules are switched off: all of them, if rules is nil.
type stretch struct {
	from, to int // offsets
	rules    []string
}

// keep returns the findings in this file that its author has not switched off, in the order of
// their offsets.
func (f *file) keep(findings []Finding) []Finding {
	byOffset := func(a, b Finding) int { return cmp.Compare(a.Pos.Offset, b.Pos.Offset) }
	slices.SortStableFunc(findings, byOffset)
	off := f.merged()
	var kept []Finding
	var open []stretch // around the present offset
	for _, found := range findings {
		at := found.Pos.Offset
		for len(off) > 0 && off[0].from <= at {
			open, off = append(open, off[0]), off[1:]
		}
		open = slices.DeleteFunc(open, func(s stretch) bool { return s.to <= at })
		if !slices.ContainsFunc(open, func(s stretch) bool { return s.rules == nil || matches(found.Rule, s.rules) }) {
			kept = append(kept, found)
		}
	}
	return kept
}

// merged returns the stretches in the order in which they start, each once. It bounds how many of
// them can be around an offset.
func (f *file) merged() []stretch {
	all := map[[2]int]stretch{}
	for _, s := range f.off {
		at := [2]int{s.from, s.to}
		if old, ok := all[at]; ok {
			if old.rules == nil || s.rules == nil {
				s.rules = nil
			} else {
				s.rules = slices.Compact(slices.Sorted(slices.Values(append(old.rules, s.rules...))))
			}
		}
		all[at] = s
	}
	var list []stretch
	for _, s := range all {
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	return list
}

// inDoc is thriftcheck's form for declarations that can't have annotations.
var inDoc = regexp.MustCompile(`@nolint(?:\(([^)\n]*)\))?`)

// declared notes a declaration, whose annotations and comment may switch rules off for all of it.
func (f *file) declared(tokens []lexer.Token, doc string, list []*idl.Annotation) {
	first, last := tokens[0], tokens[len(tokens)-1]
	from, to := first.Pos.Offset, last.Pos.Offset+len(last.Value)
	f.ends[first.Pos.Line] = max(f.ends[first.Pos.Line], to)
	f.starts[from] = true
	f.annotated(from, to, list)
	if m := inDoc.FindStringSubmatch(doc); m != nil {
		f.switchOff(first.Pos, from, to, m[1])
	}
}

// annotated notes the annotations of what is between two offsets, or ends with its annotations.
func (f *file) annotated(from, to int, list []*idl.Annotation) {
	for _, a := range list {
		f.names = append(f.names, idl.Ident{Pos: a.Pos, Text: a.Key})
		to = max(to, a.Pos.Offset+1)
	}
	for _, a := range list {
		if a.Key == "nolint" {
			names := ""
			if a.Value != nil {
				names = string(*a.Value)
			}
			f.switchOff(a.Pos, from, to, names)
		}
	}
}

// switchOff switches off the rules that a directive at pos names, separated by commas; all, if it
// names none.
func (f *file) switchOff(pos idl.Position, from, to int, names string) {
	var rules []string
	for name := range strings.SplitSeq(names, ",") {
		if words := strings.Fields(name); len(words) > 0 {
			rules = append(rules, words[0])
		}
	}
	for _, name := range rules {
		if !isKnown(name) {
			f.mistake(pos, "there is no rule %q", name)
		}
	}
	if slices.Contains(rules, "all") {
		rules = nil
	}
	f.off = append(f.off, stretch{from, to, rules})
}

// mistake reports a directive that is wrong.
func (f *file) mistake(pos idl.Position, format string, args ...any) {
	if r := byName("nolint"); slices.Contains(f.rules, r) {
		f.rule = r
		f.report(pos, format, args...)
	}
}

// directive matches a comment that is one, and what comes after the word.
var directive = regexp.MustCompile(`^(?:/[/*]+|#+)[ \t]*nolint(:[^\n]*|)(?:[ \t\r\n*]|$)`)

// directives records the comments that switch rules off. A comment at the end of a line applies to
// everything that starts on that line. A comment on a line of its own applies to the next line
// that is not empty. At the top of the file, followed by an empty line, it applies to the whole
// file.
func (f *file) directives() {
	lines := []int{0} // where they start
	for i, c := range f.src {
		if c == '\n' {
			lines = append(lines, i+1)
		}
	}
	next := len(f.tokens) // the token after a comment
	var after []int
	for i := range f.tokens {
		after = append(after, 0)
		if j := len(f.tokens) - 1 - i; f.tokens[j].Kind != idl.CommentToken {
			next = j
		}
		after[i] = next
	}
	slices.Reverse(after)
	for i, t := range f.tokens {
		if t.Kind != idl.CommentToken {
			continue
		}
		m := directive.FindStringSubmatch(t.Text)
		if m == nil {
			continue
		}
		names, _, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(m[1], ":"), "*/"), "//")
		if m[1] != "" && strings.Trim(names, ", \t\r") == "" {
			f.mistake(t.Pos, "no rule is named")
			continue
		}
		line := t.Pos.Line
		if i == 0 || f.tokens[i-1].EndLine() < line { // on a line of its own
			if after[i] == len(f.tokens) {
				continue
			}
			if after[i] == after[0] && f.tokens[i+1].Pos.Line > t.EndLine()+1 {
				f.switchOff(t.Pos, 0, len(f.src)+1, names)
				continue
			}
			line = f.tokens[after[i]].Pos.Line
		}
		to := len(f.src) + 1
		if line < len(lines) {
			to = lines[line]
		}
		f.switchOff(t.Pos, lines[line-1], max(to, f.ends[line]), names)
	}
}
