package recording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
)

// Matches reports whether the values of a JSON text are all in another one: objects may have more
// keys there.
func Matches(want, have json.RawMessage) bool {
	if len(want) == 0 {
		return true
	}
	return matches(decode(want), decode(have))
}

func matches(want, have any) bool {
	w, ok := want.(map[string]any)
	h, isObject := have.(map[string]any)
	if !ok || !isObject {
		return text(want) == text(have)
	}
	for k, v := range w {
		if in, ok := h[k]; !ok || !matches(v, in) {
			return false
		}
	}
	return true
}

// decode returns JSON as Go values, with numbers as they are written.
func decode(text json.RawMessage) any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// text returns a value as JSON, in one form for equal values.
func text(v any) string {
	if _, ok := v.(absent); ok {
		return ""
	}
	if n, ok := v.(json.Number); ok {
		if f, err := n.Float64(); err == nil && f == float64(int64(f)) && f < 1<<53 && f > -1<<53 {
			return strconv.FormatInt(int64(f), 10)
		}
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// A Difference is a place where two values differ. A value that is absent is "".
type Difference struct {
	Path     string `json:"path"`
	Recorded string `json:"recorded"`
	Got      string `json:"got"`
}

// mostDifferences is how many are told of one call.
const mostDifferences = 20

// Compare returns where two JSON values of a type differ, which may be the zero Type. The elements
// of sets and the pairs of maps may be in any order. Paths in ignore are left out; * in one stands
// for any name, index or key.
func Compare(t descriptor.Type, path string, recorded, got json.RawMessage, ignore []string) []Difference {
	c := comparer{ignore: ignore}
	c.compare(t, path, decode(recorded), decode(got))
	return c.found
}

type comparer struct {
	ignore []string
	found  []Difference
}

func (c *comparer) compare(t descriptor.Type, path string, a, b any) {
	if len(c.found) >= mostDifferences || slices.ContainsFunc(c.ignore, func(p string) bool { return covers(p, path) }) {
		return
	}
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			c.objects(t, path, x, y)
			return
		}
	case []any:
		if y, ok := b.([]any); ok {
			c.lists(t, path, x, y)
			return
		}
	}
	if text(a) != text(b) {
		c.found = append(c.found, Difference{path, short(a), short(b)})
	}
}

// absent stands for a value that is not there.
type absent struct{}

// short returns a value as text of bounded length.
func short(v any) string {
	const most = 200
	s := text(v)
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

func (c *comparer) objects(t descriptor.Type, path string, a, b map[string]any) {
	keys := map[string]bool{}
	for k := range a {
		keys[k] = true
	}
	for k := range b {
		keys[k] = true
	}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		var inner descriptor.Type
		switch {
		case t.Desc() == nil:
		case t.Struct().Valid():
			if f, ok := t.Struct().ByName(k); ok {
				inner = f.Type()
			}
		case t.WireType() == nocopy.WireMap:
			inner = t.Elem()
		}
		x, inA := a[k]
		y, inB := b[k]
		if !inA {
			x = absent{}
		}
		if !inB {
			y = absent{}
		}
		c.compare(inner, path+"."+k, x, y)
	}
}

func (c *comparer) lists(t descriptor.Type, path string, a, b []any) {
	var inner descriptor.Type
	switch {
	case t.Desc() == nil:
	case t.WireType() == nocopy.WireList:
		inner = t.Elem()
	case t.WireType() == nocopy.WireSet:
		inner = t.Elem()
		sortByText(a)
		sortByText(b)
	case t.WireType() == nocopy.WireMap: // of keys that objects can't have; text begins with the key
		sortByText(a)
		sortByText(b)
	}
	for i := range max(len(a), len(b)) {
		x, y := any(absent{}), any(absent{})
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		c.compare(inner, fmt.Sprintf("%s[%d]", path, i), x, y)
	}
}

func sortByText(values []any) {
	slices.SortStableFunc(values, func(x, y any) int { return strings.Compare(text(x), text(y)) })
}

// covers reports whether a pattern such as "lines[*].id" is that of a path, which may begin with
// "result." or "value.".
func covers(pattern, path string) bool {
	split := func(s string) []string {
		return strings.FieldsFunc(s, func(c rune) bool { return c == '.' || c == '[' || c == ']' })
	}
	p, have := split(pattern), split(path)
	if len(have) == len(p)+1 {
		have = have[1:]
	}
	return slices.EqualFunc(p, have, func(p, h string) bool { return p == "*" || p == h })
}
