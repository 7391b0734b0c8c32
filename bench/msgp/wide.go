package msgp

import (
	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/generated/msgp/wide"
	"github.com/nocopythrift/nocopythrift/bench/generated/msgp/widefields"
	"github.com/nocopythrift/nocopythrift/bench/structs"
)

func wideRows(v *data.Wide) structs.Message {
	return structs.Typed[wide.Wide]{
		Fill: func(m *wide.Wide) { fillWide(m, v) },
		Sum: func(m *wide.Wide) (s uint64) {
			for _, r := range m.Rows {
				s += widefields.Sum(r)
			}
			return s
		},
		Partial: func(m *wide.Wide) (s uint64) {
			for _, r := range m.Rows {
				if r.T50 != nil {
					s += data.Str(*r.T50)
				}
			}
			return s
		},
		Edit: func(m *wide.Wide) {
			text := data.EditText
			for i := 0; i < len(m.Rows); i += data.WideStep(len(m.Rows)) {
				m.Rows[i].T50 = &text
			}
		},
		Values: func(m *wide.Wide) any {
			v := &data.Wide{Rows: make([]data.WideRow, len(m.Rows))}
			for i, r := range m.Rows {
				v.Rows[i].Fields = widefields.Values(r)
			}
			return v
		},
	}.Message()
}

// fillWide refers to the application's values, which are of types that fields can refer to.
func fillWide(m *wide.Wide, v *data.Wide) {
	m.Rows = structs.Room(m.Rows, len(v.Rows))
	for i := range v.Rows {
		r := m.Rows[i]
		if r == nil {
			r = new(wide.WideRow)
			m.Rows[i] = r
		} else {
			*r = wide.WideRow{}
		}
		for j := range v.Rows[i].Fields {
			widefields.Set(r, &v.Rows[i].Fields[j])
		}
	}
}
