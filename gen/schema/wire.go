package schema

import (
	"encoding/binary"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// The bounds of the sizes of constants and defaults, which may contain each other many times.
// Sizes are numbers of values. Each 16 bytes of text count as one more, and so does each field of
// a struct, set or not.
const (
	maxSize  = 1 << 20 // of one constant or default
	fewSize  = 1 << 18 // of all together, plus 4 per byte of the files
	maxDepth = 64      // nested structs, as in messages
)

// encodeAll sets the Wire of every constant and default.
func (c *checker) encodeAll() {
	c.room = fewSize + 4*c.bytes
	for _, p := range c.set.Programs {
		for _, k := range p.Consts {
			if !c.encode(k.Value) {
				c.tooLarge(k.Pos, "value of constant "+k.Name)
			}
		}
		for _, s := range p.Structs {
			c.encodeDefaults(s)
		}
		for _, s := range p.Services {
			for _, f := range s.Functions {
				c.encodeDefaults(f.Args)
			}
		}
	}
}

func (c *checker) encodeDefaults(s *Struct) {
	for _, f := range s.Fields {
		if f.Default != nil && !c.encode(f.Default) {
			c.tooLarge(f.Pos, "default of field "+f.Name)
		}
	}
}

// tooLarge adds the error that encode has failed. If there is no room left, only the first error
// says so.
func (c *checker) tooLarge(pos idl.Position, what string) {
	switch {
	case c.room > 0:
		c.errs.Add(pos, "the %s is too large or contains itself", what)
	case !c.full:
		c.full = true
		c.errs.Add(pos, "the %s is too large, alone or with those before it, or contains itself", what)
	}
}

// encode sets v.Wire. It returns false if the value is too large or nested too deep, or if there
// is no room for it. In the last case, no later value gets room, either.
func (c *checker) encode(v *Value) bool {
	w := writer{ok: true, most: min(maxSize, c.room)}
	w.value(v, 0)
	v.Wire = string(w.out)
	c.room -= w.size
	return w.ok
}

// A writer appends values to out. It stops, and ok is false, if they are larger than most or
// nested deeper than maxDepth, since defaults may contain themselves.
type writer struct {
	out        []byte
	size, most int
	ok         bool
}

// value appends a value at a depth of nested structs.
func (w *writer) value(v *Value, depth int) {
	if w.size += 1 + len(v.Text)/16; w.size > w.most || depth > maxDepth {
		w.ok = false
	}
	if !w.ok {
		return
	}
	switch v.Type.Kind {
	case StructKind:
		w.strct(v, depth)
	case List, SetKind:
		w.list(v, depth)
	case Map:
		w.mapping(v, depth)
	default:
		w.out = appendScalar(w.out, v)
	}
}

func (w *writer) i32(n int64) { w.out = binary.BigEndian.AppendUint32(w.out, uint32(n)) }

// list appends a list or set. It drops repeated elements of a set.
func (w *writer) list(v *Value, depth int) {
	elems := make([]string, 0, len(v.Elems))
	seen := map[string]bool{}
	for _, e := range v.Elems {
		if !w.ok {
			return
		}
		text := w.encoded(e, depth)
		if v.Type.Kind == SetKind && seen[text] {
			continue
		}
		seen[text] = true
		elems = append(elems, text)
	}
	w.out = append(w.out, v.Type.Elem.WireType())
	w.i32(int64(len(elems)))
	for _, text := range elems {
		w.out = append(w.out, text...)
	}
}

// mapping appends a map. If a key is given twice, the last value counts.
func (w *writer) mapping(v *Value, depth int) {
	var keys []string
	elems := map[string]string{}
	for i, k := range v.Keys {
		if !w.ok {
			return
		}
		key := w.encoded(k, depth)
		if _, ok := elems[key]; !ok {
			keys = append(keys, key)
		}
		elems[key] = w.encoded(v.Elems[i], depth)
	}
	w.out = append(w.out, v.Type.Key.WireType(), v.Type.Elem.WireType())
	w.i32(int64(len(keys)))
	for _, key := range keys {
		w.out = append(append(w.out, key...), elems[key]...)
	}
}

// encoded returns the bytes of an element.
func (w *writer) encoded(v *Value, depth int) string {
	start := len(w.out)
	w.value(v, depth)
	text := string(w.out[start:])
	w.out = w.out[:start]
	return text
}

// strct appends a struct: the fields that v sets, and the unset fields that are always on the
// wire.
func (w *writer) strct(v *Value, depth int) {
	w.size += len(v.Type.Struct.Fields)
	for _, f := range v.Type.Struct.Fields {
		val := v.field(f)
		if val == nil {
			val = f.absentValue()
		}
		if val != nil {
			w.out = append(w.out, f.Type.WireType())
			w.out = binary.BigEndian.AppendUint16(w.out, uint16(f.ID))
			w.value(val, depth+1)
		}
	}
	w.out = append(w.out, 0)
}

// field returns the value that v gives to a field, or nil.
func (v *Value) field(f *Field) *Value {
	for _, fv := range v.Fields {
		if fv.Field == f {
			return fv.Value
		}
	}
	return nil
}

// absentValue returns the value that is on the wire for an unset field, or nil if there is none.
func (f *Field) absentValue() *Value {
	switch {
	case f.Req == Optional:
		return nil
	case f.Default != nil:
		return f.Default
	case f.Req == Required || f.Type.fixedSize():
		return zero(f.Type)
	}
	return nil
}
