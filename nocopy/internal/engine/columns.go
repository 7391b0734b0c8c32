package engine

import (
	"math"
	"reflect"
	"strconv"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
)

// This file reads one field of all elements of a list of structs; see Column of package nocopy. The
// index has the words of the field at equal distances, or they are collected. A loop for each Go
// type then loads what they stand for (basetypes.go). None of these loops is generic: a program
// compiles generic functions itself, and would not inline the loads.

// Texts is texts one after another, and where each begins and ends.
type Texts struct {
	Offsets []int32 // one more than there are texts
	Data    []byte
}

// Validity has a bit for each of N values, the least significant first: whether it is set. The bits
// after them are 0.
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
	if s, stride := l.First(); stride != 0 && !d.IsWide() {
		at := s.entry() + f.Word()
		l.m.appendColumn(dst, f, l.m.ix.Words[at:][:uint32(n-1)*stride+1], int(stride))
		return
	}
	l.FillByIndex()
	if l.m.ix.List(l.entry()).Room().IsBuilding() {
		for i := range n { // begins elements, as All does
			l.StructAt(i)
		}
	}
	var words [64]uint32
	for from := 0; from < n; from += len(words) {
		some := words[:min(n-from, len(words))]
		for i := range some {
			some[i] = uint32(l.m.ix.At(l.m.structEntry(l.entry(), uint32(from+i)), f.Ref()))
		}
		l.m.appendColumn(dst, f, some, 1)
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
	if want := columnWire(dst); want != f.Type.Wire() && want != wire.Stop {
		panic("nocopy: no column of type " + reflect.TypeOf(dst).Elem().String() + ": " +
			d.GoName() + "." + f.Name + " is of type " + f.Type.String())
	}
	return f
}

// appendStrings appends the strings of a field, for which every stride-th word stands.
func (m *Message) appendStrings(dst []string, f *schema.Field, words []uint32, stride int) []string {
	unset := textDefault(f)
	for i := 0; i < len(words); i += stride {
		text := unset
		if words[i] != 0 {
			text = m.TextString(index.Word(words[i]))
		}
		dst = append(dst, text)
	}
	return dst
}

// appendTexts appends the texts of a field, for which every stride-th word stands.
func (m *Message) appendTexts(dst *Texts, f *schema.Field, words []uint32, stride int) {
	unset, data, offsets := memory.StringBytes(textDefault(f)), dst.Data, dst.Offsets
	for i := 0; i < len(words); i += stride {
		text := unset
		if words[i] != 0 {
			text = (*Walker)(m).Text(index.Word(words[i]))
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

// append appends a bit for every stride-th word.
func (v *Validity) append(words []uint32, stride int) {
	for i := 0; i < len(words); i += stride {
		if v.N%8 == 0 {
			v.Bits = append(v.Bits, 0)
		}
		if words[i] != 0 {
			v.Bits[len(v.Bits)-1] |= 1 << (v.N % 8)
		}
		v.N++
	}
}
