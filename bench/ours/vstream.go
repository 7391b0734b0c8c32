package ours

import (
	"slices"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/generated/nocopy/peer"
)

func vstreamRows(v *data.VStreamRows) message[peer.VStreamRowsResponse] {
	var lengths []int64 // the application's own slice, for the row it looks at
	return message[peer.VStreamRowsResponse]{
		make:  peer.NewVStreamRowsResponse,
		parse: peer.ParseVStreamRowsResponse,
		of:    vstreamRowsOf(v),
		plain: vstreamRowsFields(v),
		fill: func(m peer.VStreamRowsResponse) {
			m.SetGtid(v.Gtid)
			rows := m.NewRows(len(v.Rows))
			for i := range v.Rows {
				r := rows.At(i)
				lengths = append(lengths[:0], v.Rows[i].Lengths...)
				r.SetLengths(lengths)
				r.SetValues(v.Rows[i].Values)
			}
		},
		sum: func(m peer.VStreamRowsResponse) uint64 {
			s := data.Str(m.GetGtid())
			// By index: a loop over All would allocate the variables that it captures, such as lengths.
			rows := m.GetRows()
			for i := range rows.Len() {
				r := rows.At(i)
				lengths = r.GetLengths().AppendTo(lengths[:0])
				for _, n := range lengths {
					s += uint64(n)
				}
				s += data.Str(r.GetValues())
			}
			return s
		},
		values: func(m peer.VStreamRowsResponse) any {
			v := &data.VStreamRows{Gtid: m.GetGtid(), Rows: make([]data.Row, m.GetRows().Len())}
			for i, r := range m.GetRows().All() {
				v.Rows[i] = data.Row{Lengths: r.GetLengths().AppendTo([]int64{}), Values: slices.Clone(r.GetValues())}
			}
			return v
		},
	}
}
