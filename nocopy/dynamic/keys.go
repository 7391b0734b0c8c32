package dynamic

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// keyer computes the keys of the structs and enums of a set of files.
type keyer struct {
	structs map[*schema.Struct]key
	enums   map[*schema.Enum]key
	// The circles of structs that refer to each other, each after the circles that it refers to.
	// Most circles have one struct.
	circles [][]*schema.Struct

	// Tarjan's algorithm
	next  int
	index map[*schema.Struct]int // from 1, in the order in which they were reached
	low   map[*schema.Struct]int // the lowest index that is reachable from it
	stack []*schema.Struct
	on    map[*schema.Struct]bool // the structs in stack
}

func newKeyer() *keyer {
	return &keyer{
		structs: map[*schema.Struct]key{}, enums: map[*schema.Enum]key{},
		index: map[*schema.Struct]int{}, low: map[*schema.Struct]int{}, on: map[*schema.Struct]bool{},
	}
}

// visit finds the circles of s and of all structs that it refers to, and their keys.
func (k *keyer) visit(s *schema.Struct) {
	k.next++
	k.index[s], k.low[s] = k.next, k.next
	k.stack = append(k.stack, s)
	k.on[s] = true
	seen := map[*schema.Type]bool{}
	for _, f := range s.Fields {
		k.visitType(s, f.Type, seen)
	}
	if k.low[s] != k.index[s] {
		return
	}
	from := len(k.stack) - 1
	for k.stack[from] != s {
		from--
	}
	circle := slices.Clone(k.stack[from:])
	k.stack = k.stack[:from]
	for _, member := range circle {
		k.on[member] = false
	}
	k.hash(circle)
	k.circles = append(k.circles, circle)
}

// visitType visits the structs in a type of a field of s, unless it is in seen.
func (k *keyer) visitType(s *schema.Struct, t *schema.Type, seen map[*schema.Type]bool) {
	if t.Key != nil || t.Elem != nil {
		if seen[t] {
			return
		}
		seen[t] = true
	}
	switch {
	case t.Struct != nil:
		if k.index[t.Struct] == 0 {
			k.visit(t.Struct)
			k.low[s] = min(k.low[s], k.low[t.Struct])
		} else if k.on[t.Struct] {
			k.low[s] = min(k.low[s], k.index[t.Struct])
		}
	case t.Enum != nil:
		k.enum(t.Enum)
	}
	if t.Key != nil {
		k.visitType(s, t.Key, seen)
	}
	if t.Elem != nil {
		k.visitType(s, t.Elem, seen)
	}
}

// enum computes the key of an enum.
func (k *keyer) enum(e *schema.Enum) {
	if _, ok := k.enums[e]; ok {
		return
	}
	var d digest
	d.text(e.Program.Name)
	d.text(e.Name)
	d.info(e.Doc, e.Annotations)
	for _, v := range e.Values {
		d.text(v.Name)
		d.number(int(v.Value))
		d.info(v.Doc, v.Annotations)
	}
	k.enums[e] = sha256.Sum256(d.b)
}

// hash computes the keys of the structs of a circle, and sorts the structs in the order of
// hashing.
func (k *keyer) hash(circle []*schema.Struct) {
	slices.SortStableFunc(circle, func(a, b *schema.Struct) int {
		return cmp.Or(cmp.Compare(a.Program.Name, b.Program.Name), cmp.Compare(a.Name, b.Name))
	})
	d := digest{keyer: k, place: map[*schema.Struct]int{}, types: map[*schema.Type]int{}}
	for i, s := range circle {
		d.place[s] = i
	}
	for _, s := range circle {
		d.structure(s)
	}
	all := sha256.Sum256(d.b)
	for i, s := range circle {
		k.structs[s] = sha256.Sum256(binary.BigEndian.AppendUint32(all[:len(all):len(all)], uint32(i)))
	}
}

// digest is the text to be hashed. Different structs have different digests.
type digest struct {
	*keyer
	b     []byte
	place map[*schema.Struct]int // index in the circle that is being hashed
	types map[*schema.Type]int   // the container types that were written, by numbers
}

func (d *digest) number(n int) { d.b = binary.AppendVarint(d.b, int64(n)) }

func (d *digest) text(s string) {
	d.number(len(s))
	d.b = append(d.b, s...)
}

func (d *digest) info(doc string, a schema.Annotations) {
	d.text(doc)
	d.number(len(a))
	for _, x := range a {
		d.text(x.Key)
		d.text(x.Value)
	}
}

func (d *digest) structure(s *schema.Struct) {
	d.text(s.Program.Name)
	d.text(s.Name)
	d.number(int(s.Shape))
	d.info(s.Doc, s.Annotations)
	d.number(len(s.Fields))
	for _, f := range s.Fields {
		d.number(int(f.ID))
		d.text(f.Name)
		d.number(int(f.Req))
		d.info(f.Doc, f.Annotations)
		if f.Default != nil {
			d.text(f.Default.Wire)
		} else {
			d.number(-1)
		}
		d.typ(f.Type)
	}
}

func (d *digest) typ(t *schema.Type) {
	d.number(int(t.Kind))
	switch t.Kind {
	case schema.EnumKind:
		key := d.enums[t.Enum]
		d.b = append(d.b, key[:]...)
	case schema.StructKind:
		if i, ok := d.place[t.Struct]; ok {
			d.number(i)
			return
		}
		d.number(-1)
		key := d.keyer.structs[t.Struct]
		d.b = append(d.b, key[:]...)
	case schema.List, schema.SetKind, schema.Map:
		// A type that was written before, such as that of a typedef, is only referred to by number
		if n, ok := d.types[t]; ok {
			d.number(n)
			return
		}
		d.number(-1)
		d.types[t] = len(d.types)
		if t.Key != nil {
			d.typ(t.Key)
		}
		d.typ(t.Elem)
	}
}
