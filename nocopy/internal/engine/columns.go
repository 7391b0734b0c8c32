package engine

import (
	"math"
	"strconv"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// This file reads one field of all elements of a list of structs; see Column of package nocopy.
// The index has the words of the field at equal distances, or they are collected. A loop for each
// Go type then loads what they stand for, here or in basetypes.go. These loops are not generic: a
// program compiles generic functions itself, and would not inline the loads.

// columnType is the constraint of types whose slices are columns.
type columnType interface {
	bool | int8 | int16 | ~int32 | int64 | float64 | ~[16]byte | string
}

// Texts is texts one after another, and where each begins and ends.
type Texts struct {
	Offsets []int32 // one more than there are texts
	Data    []byte
}

// Validity has a bit for each of N values, the least significant first: whether it is set. The
// bits after them are 0.
type Validity struct {
	Bits []byte
	N    int
}

// AppendColumn appends a field of all elements of l, which d describes, to *dst. It is a slice of
// the Go type of a base type or of strings, Texts, or Validity.
func AppendColumn(dst any, l Struct, d *schema.Struct, id int16) {
	f := columnField(dst, d, id)
	n := l.ListLen()
	if n == 0 {
		return
	}
	m, wide := l.m, d.IsWide()
	s, stride := l.First()
	if stride != 0 && !wide {
		m.appendColumn(dst, f, m.ix.Column(s.entry()+f.Word(), stride, n))
		return
	}
	l.FillByIndex()
	if m.ix.List(l.entry()).Room().IsBuilding() {
		for i := range n { // begins elements, as All does
			l.StructAt(i)
		}
	}
	var words index.Collected
	for from := 0; from < n; from += len(words) {
		k := min(n-from, len(words))
		for i := range k {
			e := s.entry() + uint32(from+i)*stride
			if stride == 0 {
				e = m.structEntry(l.entry(), uint32(from+i))
			}
			if wide {
				words.Set(i, Wide(m.handle(e)).word(f.Ref()))
			} else {
				words.Set(i, m.ix.Near(e, f.Ref()))
			}
		}
		m.appendColumn(dst, f, words.Column(k))
	}
}

// columnField returns the field of d with this id. It panics if there is none, or if *dst is not
// for its type.
func columnField(dst any, d *schema.Struct, id int16) *schema.Field {
	i := d.NumberByID(id)
	if i < 0 {
		panic("nocopy: no column of field " + strconv.Itoa(int(id)) + ": " + d.GoName() + " does not have it")
	}
	f := &d.Fields()[i]
	fits, want := true, "texts"
	switch dst.(type) {
	case *Validity:
	case *[]string, *Texts:
		fits = f.Kind() == schema.Text
	default:
		t := fixedWire(dst)
		fits, want = f.Type.Wire() == t, t.String()
	}
	if !fits {
		panic("nocopy: no column of " + want + ": " + d.GoName() + "." + f.Name + " is of type " + f.Type.String())
	}
	return f
}

// appendColumn appends the values of a field, which words stand for, to *dst.
func (m *Message) appendColumn(dst any, f *schema.Field, words index.Column) {
	switch v := dst.(type) {
	case *[]string:
		*v = m.appendStrings(*v, f, words)
	case *Texts:
		m.appendTexts(v, f, words)
	case *Validity:
		v.append(words)
	default:
		m.appendFixed(dst, f, words)
	}
}

// appendStrings appends the strings of a field.
func (m *Message) appendStrings(dst []string, f *schema.Field, words index.Column) []string {
	unset := textDefault(f)
	for i := range words.Len() {
		text := unset
		if word := words.At(i); word != 0 {
			text = m.TextString(word)
		}
		dst = append(dst, text)
	}
	return dst
}

// appendTexts appends the texts of a field.
func (m *Message) appendTexts(dst *Texts, f *schema.Field, words index.Column) {
	unset, data, offsets := memory.StringBytes(textDefault(f)), dst.Data, dst.Offsets
	for i := range words.Len() {
		text := unset
		if word := words.At(i); word != 0 {
			text = (*Walker)(m).Text(word)
		}
		data = append(data, text...)
		if len(data) > math.MaxInt32 {
			panic("nocopy: a column of more than 2 GiB of texts: begin another one before")
		}
		offsets = append(offsets, int32(len(data)))
	}
	dst.Data, dst.Offsets = data, offsets
}

// textDefault returns the IDL default of a text.
func textDefault(f *schema.Field) string {
	if f.Default == "" {
		return ""
	}
	return f.Default[wire.TextHeader:]
}

// append appends a bit for each word.
func (v *Validity) append(words index.Column) {
	for i := range words.Len() {
		if v.N%8 == 0 {
			v.Bits = append(v.Bits, 0)
		}
		if words.At(i) != 0 {
			v.Bits[len(v.Bits)-1] |= 1 << (v.N % 8)
		}
		v.N++
	}
}
