package mock

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// generator makes a value up, as encoding/json takes it.
type generator struct {
	random *rand.Rand
	left   int // how many more values it may have
}

// newGenerator returns a generator that makes up the same value for the same seed, method and
// arguments.
func newGenerator(seed uint64, method string, args []byte) *generator {
	h := fnv.New64a()
	h.Write([]byte(method))
	h.Write(args)
	return &generator{rand.New(rand.NewPCG(seed, h.Sum64())), maxValues}
}

// The bounds of one made-up value: structs deeper than maxDepth, and what comes after maxValues
// values, are left as empty as they can be.
const (
	maxDepth  = 5
	maxValues = 500
)

// make makes up a value of a type for a name. f has the annotations, if it is a field's value.
func (g *generator) make(t descriptor.Type, name string, f *descriptor.Field, depth int) any {
	r := rulesOf(f)
	if v, ok := g.example(t, f); ok {
		return v
	}
	if v, ok := r.constant(t); ok {
		return v
	}
	g.left--
	switch {
	case t.Struct().Valid():
		return g.structure(t.Struct(), depth)
	case t.Enum().Valid():
		for v := range t.Enum().Values() { // the first, or with luck a later one
			if g.random.IntN(2) == 0 {
				return v.Name()
			}
		}
		for v := range t.Enum().Values() {
			return v.Name()
		}
		return 0
	}
	switch t.WireType() {
	case nocopy.WireBool:
		return g.random.IntN(2) == 0
	case nocopy.WireI8, nocopy.WireI16, nocopy.WireI32, nocopy.WireI64:
		return g.integer(t, name, r)
	case nocopy.WireDouble:
		return r.double(g.named(name, math.Round(g.random.Float64()*10000)/100))
	case nocopy.WireUUID:
		var u nocopy.UUID
		for i := range u {
			u[i] = byte(g.random.IntN(256))
		}
		u[6], u[8] = u[6]&0x0f|0x40, u[8]&0x3f|0x80 // version 4
		return u.String()
	case nocopy.WireList, nocopy.WireSet:
		return g.list(t, name, r, depth)
	case nocopy.WireMap:
		return g.pairs(t, name, r, depth)
	}
	text := r.text(g, g.text(name))
	if t.IsBinary() {
		return base64.StdEncoding.EncodeToString([]byte(text))
	}
	return text
}

// structure makes up a struct: all fields, of a union one.
func (g *generator) structure(s descriptor.Struct, depth int) any {
	fields := map[string]any{}
	full, isUnion := depth < maxDepth && g.left > 0, s.Shape() == descriptor.ShapeUnion
	names, _ := thriftimpl.JSONNames(s.Desc())
	for i := range s.NumFields() {
		f := s.Field(i)
		switch {
		case names[i].Skip:
			continue
		case f.Requiredness() == descriptor.Required, isUnion:
		case f.HasDefault(), !full:
			continue
		}
		if isUnion && !full && f.Type().Struct().Valid() { // perhaps another one ends the nesting
			continue
		}
		if depth > 2*maxDepth+10 { // required structs in themselves have no value at all
			break
		}
		fields[names[i].Name] = g.make(f.Type(), f.Name(), &f, depth+1)
		if isUnion {
			break
		}
	}
	return fields
}

func (g *generator) count(r rules, depth int) int {
	if depth >= maxDepth || g.left <= 0 {
		return int(min(r.min("min_size", 0), 1000))
	}
	return int(r.integer("_size", int64(1+g.random.IntN(3)), 1000))
}

func (g *generator) list(t descriptor.Type, name string, r rules, depth int) any {
	list := []any{}
	seen := map[string]bool{}
	single := strings.TrimSuffix(name, "s")
	for range g.count(r, depth) {
		v := g.make(t.Elem(), single, r.of("elem", t.Elem()), depth+1)
		if key, _ := json.Marshal(v); t.WireType() != nocopy.WireSet || !seen[string(key)] {
			seen[string(key)] = true
			list = append(list, v)
		}
	}
	return list
}

// pairs makes up a map: an object, or an array of pairs if objects have no such keys.
func (g *generator) pairs(t descriptor.Type, name string, r rules, depth int) any {
	object, list := map[string]any{}, [][2]any{}
	isList := false
	switch t.Key().WireType() {
	case nocopy.WireStruct, nocopy.WireList, nocopy.WireSet, nocopy.WireMap:
		isList = true
	}
	for range g.count(r, depth) {
		key := g.make(t.Key(), "key", r.of("key", t.Key()), depth+1)
		written := fmt.Sprint(key)
		if isList {
			text, _ := json.Marshal(key)
			written = string(text)
		}
		if _, twice := object[written]; twice {
			continue
		}
		value := g.make(t.Elem(), strings.TrimSuffix(name, "s"), r.of("value", t.Elem()), depth+1)
		object[written], list = value, append(list, [2]any{key, value})
	}
	if isList {
		return list
	}
	return object
}

// integer makes up an integer.
func (g *generator) integer(t descriptor.Type, name string, r rules) any {
	bits := map[nocopy.WireType]int{nocopy.WireI8: 8, nocopy.WireI16: 16, nocopy.WireI32: 32, nocopy.WireI64: 64}[t.WireType()]
	most := int64(1)<<(bits-1) - 1
	var n int64
	switch low := plain(name); {
	case isTime(low) && bits == 64:
		n = g.time().UnixMilli()
	case isTime(low) && bits == 32:
		n = g.time().Unix()
	default:
		n = int64(g.named(name, float64(1+g.random.IntN(100))))
	}
	return json.Number(strconv.FormatInt(r.integer("", min(n, most), most), 10))
}

// time makes up a time in a year that has passed.
func (g *generator) time() time.Time {
	return time.Date(2025, 1, 1+g.random.IntN(365), g.random.IntN(24), g.random.IntN(60), g.random.IntN(60), 0, time.UTC)
}

func isTime(low string) bool {
	for _, end := range []string{"time", "timestamp", "date", "createdat", "updatedat", "modifiedat", "millis", "expires"} {
		if strings.HasSuffix(low, end) {
			return true
		}
	}
	return false
}

// plain returns a name in small letters, without underscores.
func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// named returns a number for a name that is known, else other.
func (g *generator) named(name string, other float64) float64 {
	if span, ok := numbers[plain(name)]; ok {
		return math.Round((span[0]+g.random.Float64()*(span[1]-span[0]))*span[2]) / span[2]
	}
	return other
}

// text makes up a text: by the name, or by one of the words at its end, as in customer_email.
func (g *generator) text(name string) string {
	words := strings.Split(snake(name), "_")
	for i := range words {
		if form, ok := forms[strings.Join(words[i:], "")]; ok {
			return g.fill(form)
		}
	}
	if isTime(plain(name)) {
		return g.time().Format(time.RFC3339)
	}
	return fmt.Sprintf("%s %d", strings.Join(words, " "), 1+g.random.IntN(100))
}

// fill returns a form, with each {list} replaced by one of its words and each # by a digit.
func (g *generator) fill(form string) string {
	var b strings.Builder
	for len(form) > 0 {
		switch end := strings.IndexByte(form, '}'); {
		case form[0] == '{' && end > 0:
			list := words[form[1:end]]
			b.WriteString(list[g.random.IntN(len(list))])
			form = form[end+1:]
		case form[0] == '#':
			b.WriteByte('0' + byte(g.random.IntN(10)))
			form = form[1:]
		default:
			b.WriteByte(form[0])
			form = form[1:]
		}
	}
	return b.String()
}

// snake returns userName as user_name.
func snake(name string) string {
	var b strings.Builder
	for i, c := range name {
		if c >= 'A' && c <= 'Z' && i > 0 && name[i-1] != '_' && (name[i-1] < 'A' || name[i-1] > 'Z') {
			b.WriteByte('_')
		}
		b.WriteRune(c)
	}
	return strings.ToLower(b.String())
}
