package data

import (
	"fmt"
	"slices"
)

// Wide is workload W: structs of many optional fields, with few fields set.
type Wide struct{ Rows []WideRow }

// WideRow holds the fields of a struct that are set, in the order of their ids.
type WideRow struct{ Fields []WideField }

// WideField is a field that is set. Its value, in the member for the field's kind, is never zero:
// formats without optional fields carry it, too.
type WideField struct {
	ID     int16
	Text   string
	Int    int64
	Double float64
	Bool   bool
}

// FieldKind is the kind of a field of a wide struct: the name of the member of WideField that has
// its value.
type FieldKind string

const (
	TextField   FieldKind = "Text"
	IntField    FieldKind = "Int"
	DoubleField FieldKind = "Double"
	BoolField   FieldKind = "Bool"
)

// FieldDecl declares a field of a wide struct.
type FieldDecl struct {
	ID   int16
	Name string // T1 to T100, N1 to N60, D1 to D20 and B1 to B20
	Kind FieldKind
}

// WideFields are the fields of a wide struct, with ids from 1. The IDL of every peer, and its code
// for each field, is made from them.
var WideFields = wideFields()

func wideFields() (fields []FieldDecl) {
	for _, k := range []struct {
		kind   FieldKind
		letter string
		n      int
	}{{TextField, "T", 100}, {IntField, "N", 60}, {DoubleField, "D", 20}, {BoolField, "B", 20}} {
		for i := range k.n {
			fields = append(fields, FieldDecl{int16(len(fields) + 1), fmt.Sprint(k.letter, i+1), k.kind})
		}
	}
	return fields
}

// WideText is the id of the text T50, which the partial operation reads of every row, and which
// the edit operation sets in some. One row in twenty has it.
const WideText = 50

// WideStep returns the distance of the rows that are edited, beginning with the first of n: a
// hundred in all, or all rows of a small message.
func WideStep(n int) int { return max(1, n/100) }

// newWide returns n rows with ten fields each.
func newWide(seed uint64, n int) *Wide {
	const set = 10
	r := newSource(seed)
	v := &Wide{Rows: make([]WideRow, n)}
	for i := range v.Rows {
		ids := r.Perm(len(WideFields))[:set]
		slices.Sort(ids)
		for _, id := range ids {
			v.Rows[i].Fields = append(v.Rows[i].Fields, r.wideField(WideFields[id]))
		}
	}
	return v
}

func (r source) wideField(d FieldDecl) WideField {
	f := WideField{ID: d.ID}
	switch d.Kind {
	case TextField:
		f.Text = r.between(8, 30)
	case IntField:
		f.Int = 1 + r.Int64N(1<<62)
	case DoubleField:
		f.Double = 1 + r.Float64()*100
	case BoolField:
		f.Bool = true
	}
	return f
}

func (v *Wide) sum() (s uint64) {
	for _, row := range v.Rows {
		for _, f := range row.Fields {
			s += Str(f.Text) + uint64(f.Int) + F64(f.Double) + Bool(f.Bool)
		}
	}
	return s
}

func (v *Wide) partial() (s uint64) {
	for i := range v.Rows {
		if at, ok := v.Rows[i].find(WideText); ok {
			s += Str(v.Rows[i].Fields[at].Text)
		}
	}
	return s
}

func (v *Wide) edit() {
	for i := 0; i < len(v.Rows); i += WideStep(len(v.Rows)) {
		r, edited := &v.Rows[i], WideField{ID: WideText, Text: EditText}
		if at, ok := r.find(WideText); ok {
			r.Fields[at] = edited
		} else {
			r.Fields = slices.Insert(r.Fields, at, edited)
		}
	}
}

// find returns the place of the field id, or where it belongs, and whether it is there.
func (r *WideRow) find(id int16) (at int, ok bool) {
	return slices.BinarySearchFunc(r.Fields, id, func(f WideField, id int16) int { return int(f.ID) - int(id) })
}
