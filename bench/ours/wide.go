package ours

import (
	"github.com/nocopythrift/nocopythrift/nocopy"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/generated/nocopy/wide"
	"github.com/nocopythrift/nocopythrift/bench/generated/nocopy/widefields"
)

func wideRows(v *data.Wide) message[wide.Wide] {
	return message[wide.Wide]{
		make:  wide.NewWide,
		parse: wide.ParseWide,
		of: func(opts ...nocopy.Option) wide.Wide {
			m := wide.NewWide(opts...)
			m.SetRowsBy(len(v.Rows), func(i int) (r wide.WideRowFields) {
				for j := range v.Rows[i].Fields {
					widefields.SetPlain(&r, &v.Rows[i].Fields[j])
				}
				return r
			})
			return m
		},
		fill: func(m wide.Wide) {
			rows := m.NewRows(len(v.Rows))
			for i := range v.Rows {
				r, fields := rows.At(i), v.Rows[i].Fields
				for j := range fields {
					widefields.Set(r, &fields[j])
				}
			}
		},
		sum: func(m wide.Wide) (s uint64) {
			rows := m.GetRows()
			for i := range rows.Len() {
				s += widefields.Sum(rows.At(i))
			}
			return s
		},
		partial: func(m wide.Wide) (s uint64) {
			rows := m.GetRows()
			for i := range rows.Len() {
				s += data.Str(rows.At(i).GetT50())
			}
			return s
		},
		edit: func(m wide.Wide) {
			rows := m.GetRows()
			for i := 0; i < rows.Len(); i += data.WideStep(rows.Len()) {
				rows.At(i).SetT50(data.EditText)
			}
		},
		values: func(m wide.Wide) any {
			v := new(data.Wide)
			for _, r := range m.GetRows().All() {
				v.Rows = append(v.Rows, data.WideRow{Fields: widefields.Values(r)})
			}
			return v
		},
	}
}
