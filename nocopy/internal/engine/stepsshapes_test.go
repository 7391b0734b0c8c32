// The messages of TestHostileSteps. A line more here, or in hostileKeys, is a message more.

package engine

import (
	"encoding/binary"
	"fmt"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// keyed has maps with keys and sets with elements of every kind, and fields with itself and with a
// union.
var keyed = schema.NewStruct("Keyed")

// arms is a union of many arms.
var arms = schema.NewUnion("Arms")

// hostileKeys are the types of keys and elements, by the names of Keyed's fields: map…, set… and
// list…. Every third comes often.
var hostileKeys = []struct {
	name string
	typ  *schema.Type
}{
	{"Bool", schema.TypeBool}, {"I8", schema.TypeI8}, {"I16", schema.TypeI16},
	{"I32", schema.TypeI32}, {"I64", schema.TypeI64}, {"Double", schema.TypeDouble},
	{"String", schema.TypeString}, {"Binary", schema.TypeBinary}, {"UUID", schema.TypeUUID},
	{"Point", schema.StructOf(pointDesc)}, {"Enum", colorType}, {"List", schema.ListOf(schema.TypeI32)},
	{"Map", schema.MapOf(schema.StructOf(pointDesc), schema.TypeI8)}, {"Set", schema.SetOf(schema.TypeString)}, {"Tree", schema.StructOf(treeDesc)},
	{"Points", schema.SetOf(schema.StructOf(pointDesc))},
}

func init() {
	fields := []schema.FieldDesc{
		{ID: 1, Name: "children", Type: schema.ListOf(schema.StructOf(keyed)), Req: schema.Optional},
		{ID: 2, Name: "arms", Type: schema.ListOf(schema.StructOf(arms)), Req: schema.Optional},
		{ID: 3, Name: "structs", Type: schema.MapOf(schema.TypeI64, schema.StructOf(keyed)), Req: schema.Optional},
		{ID: 4, Name: "lists", Type: schema.MapOf(schema.TypeI64, schema.ListOf(schema.TypeString)), Req: schema.Optional},
		{ID: 6, Name: "wides", Type: schema.ListOf(schema.StructOf(wideOf(2300))), Req: schema.Optional},
		{ID: 5, Name: "trees", Type: schema.ListOf(schema.StructOf(treeDesc)), Req: schema.Optional},
	}
	for i, k := range hostileKeys {
		id := int16(10 * (i + 1))
		fields = append(fields,
			schema.FieldDesc{ID: id, Name: "map" + k.name, Type: schema.MapOf(k.typ, schema.TypeString), Req: schema.Optional},
			schema.FieldDesc{ID: id + 1, Name: "set" + k.name, Type: schema.SetOf(k.typ), Req: schema.Optional},
			schema.FieldDesc{ID: id + 2, Name: "list" + k.name, Type: schema.ListOf(k.typ), Req: schema.Optional},
			schema.FieldDesc{ID: id + 3, Name: "sets" + k.name, Type: schema.ListOf(schema.SetOf(k.typ)), Req: schema.Optional},
			schema.FieldDesc{ID: id + 4, Name: "maps" + k.name, Type: schema.ListOf(schema.MapOf(k.typ, schema.TypeString)), Req: schema.Optional},
		)
	}
	keyed.Define(fields...)
	var many []schema.FieldDesc
	for i := range int16(57) {
		many = append(many, schema.FieldDesc{ID: i + 1, Name: fmt.Sprint("arm", i+1), Type: []*schema.Type{schema.TypeI32, schema.TypeString, schema.StructOf(pointDesc)}[i%3], Req: schema.Optional})
	}
	arms.Define(many...)
}

// hostileShape is a message of about n bytes, and the values in it that are worth changing.
type hostileShape struct {
	name  string
	kinds string
	desc  *schema.Struct
	wire  func(n int) string
}

// hostileShapes returns all of them if kind is "ways", else fewer of those with many types of keys
// and elements; "few" and "large" are fewest.
func hostileShapes(kind string) []hostileShape {
	const point1 = "\x0c\x00\x0b\x00"
	text := func(s string) string { return textField + be(len(s)) + s }
	shapes := []hostileShape{
		{"one field again and again", "struct", allDesc, func(n int) string { return times(n/4, "\x02\x00\x01\x01") + stop }},
		{"one text again and again", "struct", allDesc, func(n int) string { return times(n/12, text("text")) + stop }},
		{"one struct again and again", "struct", allDesc, func(n int) string { return times(n/4, point1) + stop }},
		{"one list again and again", "struct", allDesc, func(n int) string { return times(n/12, words+one+be(0)) + stop }},
		{"one map again and again", "struct", allDesc, func(n int) string { return times(n/9, counts+be(0)) + stop }},
		{"unknown fields", "struct", allDesc, func(n int) string { return times(n/4, "\x02\x00\x64\x01") + stop }},
		{"empty structs", "struct list", allDesc, func(n int) string { return points + be(n) + times(n, stop) + stop }},
		{"empty structs in a set", "struct list", allDesc, func(n int) string { return grown + be(n) + times(n, stop) + stop }},
		{"empty unions", "struct union list", allDesc, func(n int) string { return "\x0f\x00\x1e\x0c" + be(n) + times(n, stop) + stop }},
		{"empty lists", "struct list", allDesc, func(n int) string { return matrix + be(n/5) + times(n/5, "\x08"+none) + stop }},
		{"empty maps in a list", "struct list", allDesc, func(n int) string { return "\x0f\x00\x1f\x0d" + be(n/6) + times(n/6, "\x03\x04"+none) + stop }},
		{"lists of one", "struct list", allDesc, func(n int) string { return matrix + be(n/9) + times(n/9, "\x08"+one+"abcd") + stop }},
		{"lists of one text", "struct list", allDesc, func(n int) string {
			return "\x0f\x00\x13\x0f" + be(n/10) + times(n/10, "\x0b"+one+one+"a") + stop
		}},
		{"a large text", "struct", allDesc, func(n int) string { return text(times(n, "x")) + stop }},
		{"numbers", "struct list", allDesc, func(n int) string { return numbers + be(n/8) + times(n/8, "12345678") + stop }},
		{"texts", "struct list", allDesc, func(n int) string { return words + be(n/5) + times(n/5, one+"a") + stop }},
	}
	children := func(name string, elem string) {
		shapes = append(shapes, hostileShape{"structs: " + name, "struct union list map", allDesc, func(n int) string {
			return "\x0f\x00\x18\x0c" + be(n/(len(elem)+1)) + times(n/(len(elem)+1), elem+stop) + stop
		}})
	}
	children("of a number", "\x08\x00\x04"+one)
	children("of a number twice", times(2, "\x08\x00\x04"+one))
	children("of a text", text("text"))
	children("of a text twice", times(2, text("text")))
	children("of texts, numbers and structs twice", times(2, "\x08\x00\x04"+one+text("a")+point1+"\x0a\x00\x05"+times(2, one)))
	children("of fields in descending order", text("a")+"\x0a\x00\x05"+times(2, one)+"\x08\x00\x04"+one+"\x06\x00\x03\x00\x01\x03\x00\x02\x01")
	children("of lists and maps twice", times(2, words+one+one+"a"+counts+one+one+"k"+times(2, one)+unique+one+one))
	children("of structs twice, with a field twice", times(2, "\x0c\x00\x0b"+times(2, "\x08\x00\x01"+one)+stop))
	children("of unknown fields", times(3, "\x08\x00\x64"+one)+unkList+"\x0b"+two+one+"a"+one+"b"+unkStruct+"\x08\x00\x01"+one+stop)
	children("60 deep", times(60, self)+text("deep")+times(60, stop))
	children("60 deep, each twice", times(60, point1+self+text("x"))+times(60, point1+stop))
	children("of unions with arms twice, and unknown ones", "\x0c\x00\x0c"+times(2, "\x04\x00\x01"+times(2, one)+"\x0b\x00\x03"+one+"a"+"\x08\x00\x64"+one)+stop)
	for _, arms := range []struct{ name, wire string }{
		{"one arm", "\x08\x00\x01" + one},
		{"an arm twice", times(2, "\x08\x00\x01"+one)},
		{"three arms twice", times(2, "\x08\x00\x01"+one+"\x0b\x00\x02"+one+"a"+"\x0c\x00\x03"+stop)},
		{"unknown ones", times(5, "\x08\x00\x64"+one)},
	} {
		shapes = append(shapes, hostileShape{"unions of 57 arms: " + arms.name, "struct union", keyed, func(n int) string {
			return "\x0f\x00\x02\x0c" + be(n/(len(arms.wire)+1)) + times(n/(len(arms.wire)+1), arms.wire+stop) + stop
		}})
	}
	wides := func(name string, elem func(n int) string) {
		shapes = append(shapes, hostileShape{"wide structs: " + name, "struct", keyed, func(n int) string {
			e := elem(n) + stop
			return "\x0f\x00\x06\x0c" + be(max(n/len(e), 1)) + times(max(n/len(e), 1), e) + stop
		}})
	}
	// One of 575 bools
	flag := func(i int) string { return "\x02" + string([]byte{byte((4*i + 3) >> 8), byte(4*i + 3), 1}) }
	flags := func(number func(i, count int) int) func(n int) string {
		return func(n int) (s string) {
			count := min(n/5, 575)
			for i := range count {
				s += flag(number(i, count))
			}
			return s
		}
	}
	wides("of fields far apart", func(int) string { return flag(2) + flag(150) + flag(325) + flag(550) })
	wides("of many fields, by turns", flags(func(i, count int) int { return i * 211 % count }))
	if kind != "few" { // some take long: each struct is asked for all of its fields
		wides("empty", func(int) string { return "" })
		wides("of a field", func(int) string { return flag(500) })
		wides("of many fields", flags(func(i, count int) int { return i }))
		wides("of many fields, backwards", flags(func(i, count int) int { return count - 1 - i }))
		wides("of few fields again and again", flags(func(i, count int) int { return i % 3 * 180 }))
	}
	for i, key := range hostileKeys {
		for _, order := range keyOrders {
			if i%3 != 0 && kind != "ways" || !order.often && (kind == "large" || kind == "few") {
				continue
			}
			value := func(i, of int) string { return string(appendValueOf(nil, key.typ, order.number(i, of))) }
			field := func(kind string) string { return fieldHead(keyed, kind+key.name) }
			shapes = append(shapes,
				hostileShape{"map by " + key.name + ": " + order.name, "map", keyed, func(n int) string {
					var pairs string
					count := n / (len(value(1, n)) + 5)
					b := make([]byte, 0, n)
					for i := range count {
						b = append(append(b, value(i, count)...), one+"v"...)
					}
					pairs = string(b)
					return field("map") + string(byte(key.typ.Wire())) + "\x0b" + be(count) + pairs + stop
				}},
				hostileShape{"set of " + key.name + ": " + order.name, "list", keyed, func(n int) string {
					count := n / len(value(1, n))
					b := make([]byte, 0, n)
					for i := range count {
						b = append(b, value(i, count)...)
					}
					return field("set") + string(byte(key.typ.Wire())) + be(count) + string(b) + stop
				}},
			)
			if !order.often && kind != "ways" {
				continue
			}
			shapes = append(shapes,
				hostileShape{"small maps by " + key.name + ": " + order.name, "map", keyed, func(n int) string {
					const each = 12
					one1 := string(byte(key.typ.Wire())) + "\x0b" + be(each)
					for i := range each {
						one1 += value(i, each) + one + "v"
					}
					return field("maps") + "\x0d" + be(n/len(one1)) + times(n/len(one1), one1) + stop
				}},
				hostileShape{"small sets of " + key.name + ": " + order.name, "list", keyed, func(n int) string {
					const each = 20
					one1 := string(byte(key.typ.Wire())) + be(each)
					for i := range each {
						one1 += value(i, each)
					}
					return field("sets") + "\x0e" + be(n/len(one1)) + times(n/len(one1), one1) + stop
				}},
			)
		}
	}
	return append(shapes,
		hostileShape{"texts that clash", "map", keyed, func(n int) string {
			b := []byte(fieldHead(keyed, "mapString") + "\x0b\x0b" + be(n/40))
			for i := range n / 40 {
				b = append(b, be(31)+fmt.Sprintf("the beginning %08d the end ", i)[:31]+one+"v"...)
			}
			return string(b) + stop
		}},
		hostileShape{"structs by number", "struct map", keyed, func(n int) string {
			b := []byte(fieldHead(keyed, "structs") + "\x0a\x0c" + be(n/9))
			for i := range n / 9 {
				b = append(binary.BigEndian.AppendUint64(b, uint64(i/2)), 0)
			}
			return string(b) + stop
		}},
		hostileShape{"lists by number", "list map", keyed, func(n int) string {
			b := []byte(fieldHead(keyed, "lists") + "\x0a\x0f" + be(n/18))
			for i := range n / 18 {
				b = append(binary.BigEndian.AppendUint64(b, uint64(i/2)), "\x0b"+one+one+"a"...)
			}
			return string(b) + stop
		}},
		hostileShape{"trees", "struct list", keyed, func(n int) string {
			leaf := "\x0b\x00\x01" + one + "n" + stop
			tree := "\x0b\x00\x01" + one + "a\x0f\x00\x02\x0c" + be(8) + times(8, leaf) + stop
			return fieldHead(keyed, "trees") + "\x0c" + be(n/len(tree)) + times(n/len(tree), tree) + stop
		}},
	)
}

// keyOrders is which of n keys are the same.
var keyOrders = []struct {
	name   string
	often  bool
	number func(i, n int) int
}{
	{"all different", true, func(i, n int) int { return i }},
	{"all the same", false, func(i, n int) int { return 7 }},
	{"the first half comes again", false, func(i, n int) int { return i % (n/2 + 1) }},
	{"in pairs", true, func(i, n int) int { return i / 2 }},
	{"one comes again", false, func(i, n int) int { return max(i, 1) }},
}

// fieldHead returns the header of a field.
func fieldHead(d *schema.Struct, name string) string {
	k := fieldNamed(d, name).Header()
	return string([]byte{byte(k >> 16), byte(k >> 8), byte(k)})
}

// appendValueOf appends value number i of a type: another one for each number, as far as the type
// has so many.
func appendValueOf(b []byte, t *schema.Type, i int) []byte {
	switch t.Kind() {
	case schema.Fixed:
		if t.Wire() == wire.Bool {
			return append(b, byte(i&1))
		}
		for k := int(t.Size()) - 1; k >= 0; k-- {
			x := byte(0)
			if k < 4 {
				x = byte(i >> (8 * k))
			}
			b = append(b, x)
		}
		return b
	case schema.Text:
		s := fmt.Sprintf("%06d", i)
		return append(wire.AppendBE32(b, uint32(len(s))), s...)
	case schema.List:
		return appendValueOf(wire.AppendBE32(append(b, byte(t.Elem().Wire())), 1), t.Elem(), i)
	case schema.Dict:
		b = wire.AppendBE32(append(b, byte(t.Key().Wire()), byte(t.Elem().Wire())), 1)
		return appendValueOf(appendValueOf(b, t.Key(), i), t.Elem(), i>>8)
	}
	k := 0
	// Else it may be in itself
	for k < len(t.Struct().Fields()) && t.Struct().Fields()[k].Kind() >= schema.Record {
		k++
	}
	if k == len(t.Struct().Fields()) {
		return append(b, 0)
	}
	f := &t.Struct().Fields()[k]
	b = append(b, byte(f.Header()>>16), byte(f.Header()>>8), byte(f.Header()))
	return append(appendValueOf(b, f.Type, i), 0)
}

// be returns n as a count on the wire.
func be(n int) string { return string(wire.AppendBE32(nil, uint32(n))) }
