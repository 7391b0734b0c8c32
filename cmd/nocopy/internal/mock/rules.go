package mock

import (
	"encoding/json"
	"math"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
)

// rules are the rules for a value by their names without vt, such as "min_size"; docs/idl.md
// describes them. Those that can't be followed by changing a made-up value are left out.
type rules struct {
	all map[string][]string
	f   *descriptor.Field
}

func rulesOf(f *descriptor.Field) rules {
	r := rules{map[string][]string{}, f}
	if f == nil {
		return r
	}
	for a := range f.Annotations() {
		if name, ok := strings.CutPrefix(a.Name, "vt."); ok {
			r.all[name] = append(r.all[name], a.Value)
		}
	}
	return r
}

// of returns nil: rules for elements have no field of their own.
func (r rules) of(string, descriptor.Type) *descriptor.Field { return nil }

// last returns the last value of a rule.
func (r rules) last(name string) (string, bool) {
	v := r.all[name]
	if len(v) == 0 {
		return "", false
	}
	return v[len(v)-1], true
}

// min returns a rule's number, or other.
func (r rules) min(name string, other int64) int64 {
	if text, ok := r.last(name); ok {
		if n, err := strconv.ParseInt(text, 0, 64); err == nil {
			return n
		}
	}
	return other
}

// integer returns a number near n that is within the rules for a value, or with "_size" for its
// size. most is the largest.
func (r rules) integer(suffix string, n, most int64) int64 {
	low, high := int64(math.MinInt64), most
	if suffix == "_size" {
		low, high = r.min("min_size", low), min(r.min("max_size", high), high)
	} else {
		low, high = r.min("ge", low), min(r.min("le", high), high)
		if v := r.min("gt", math.MinInt64); v > math.MinInt64 {
			low = max(low, v+1)
		}
		if v := r.min("lt", math.MinInt64); v > math.MinInt64 {
			high = min(high, v-1)
		}
	}
	return min(max(n, low), high)
}

// double returns a number near x that is within the rules.
func (r rules) double(x float64) float64 {
	number := func(name string) (float64, bool) {
		text, ok := r.last(name)
		v, err := strconv.ParseFloat(text, 64)
		return v, ok && err == nil
	}
	if v, ok := number("ge"); ok {
		x = math.Max(x, v)
	}
	if v, ok := number("le"); ok {
		x = math.Min(x, v)
	}
	if v, ok := number("gt"); ok && x <= v {
		x = math.Nextafter(v, math.Inf(1))
		if upper, ok := number("lt"); !ok || v+1 < upper {
			x = v + 1
		}
	}
	if v, ok := number("lt"); ok && x >= v {
		x = math.Nextafter(v, math.Inf(-1))
		if lower, ok := number("gt"); !ok || v-1 > lower {
			x = v - 1
		}
	}
	return x
}

// text returns a text within the rules.
func (r rules) text(g *generator, text string) string {
	if pattern, ok := r.last("pattern"); ok {
		if re, err := syntax.Parse(pattern, syntax.Perl); err == nil {
			var b strings.Builder
			g.match(re.Simplify(), &b)
			text = b.String()
		}
	}
	if least := int(r.min("min_size", 0)); len(text) < least {
		text += strings.Repeat("x", min(least, 1<<20)-len(text))
	}
	if most := r.min("max_size", math.MaxInt32); int64(len(text)) > most {
		text = strings.ToValidUTF8(text[:max(most, 0)], "")
	}
	cut := func(n int) string { return text[min(n, len(text)):] }
	if part, ok := r.last("contains"); ok && !strings.Contains(text, part) {
		text = part + cut(len(part))
	}
	if prefix, ok := r.last("prefix"); ok && !strings.HasPrefix(text, prefix) {
		text = prefix + cut(len(prefix))
	}
	if suffix, ok := r.last("suffix"); ok && !strings.HasSuffix(text, suffix) {
		text = text[:max(len(text)-len(suffix), 0)] + suffix
	}
	return text
}

// constant returns the value that a rule demands: vt.const, or the first one of vt.in.
func (r rules) constant(t descriptor.Type) (any, bool) {
	for _, name := range []string{"const", "in"} {
		if v := r.all[name]; len(v) > 0 {
			return written(t, strings.Trim(v[0], "\"'"))
		}
	}
	return nil, false
}

// example returns the value of the annotation example, or one of examples.
func (g *generator) example(t descriptor.Type, f *descriptor.Field) (any, bool) {
	if f == nil {
		return nil, false
	}
	if text, ok := f.Annotation("example"); ok {
		return written(t, text)
	}
	if text, ok := f.Annotation("examples"); ok {
		var list []json.RawMessage
		if json.Unmarshal([]byte(text), &list) == nil && len(list) > 0 {
			return list[g.random.IntN(len(list))], true
		}
	}
	return nil, false
}

// written returns a value that an annotation has as text.
func written(t descriptor.Type, text string) (any, bool) {
	switch {
	case t.IsBinary():
		return []byte(text), true
	case t.WireType() == nocopy.WireString, t.WireType() == nocopy.WireUUID, t.Enum().Valid() && !json.Valid([]byte(text)):
		return text, true
	case t.Enum().Valid(), json.Valid([]byte(text)):
		return json.RawMessage(text), true
	}
	return nil, false
}

// maxMatch is about how long a text by a pattern may become.
const maxMatch = 1 << 10

// match writes a text that a regular expression matches.
func (g *generator) match(re *syntax.Regexp, b *strings.Builder) {
	least, most := 1, 1
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
		return
	case syntax.OpCharClass:
		if len(re.Rune) > 0 {
			at := g.random.IntN(len(re.Rune)/2) * 2
			low, high := re.Rune[at], re.Rune[at+1]
			b.WriteRune(low + rune(g.random.IntN(int(min(high-low, 25))+1)))
		}
		return
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('a' + byte(g.random.IntN(26)))
		return
	case syntax.OpAlternate:
		g.match(re.Sub[g.random.IntN(len(re.Sub))], b)
		return
	case syntax.OpStar:
		least, most = 0, 3
	case syntax.OpPlus:
		most = 3
	case syntax.OpQuest:
		least = 0
	}
	for range least + g.random.IntN(most-least+1) {
		for _, sub := range re.Sub {
			if b.Len() < maxMatch {
				g.match(sub, b)
			}
		}
	}
}
