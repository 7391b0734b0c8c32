package kitex

import (
	"bytes"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/generated/kitex/peer"
	"github.com/nocopythrift/nocopythrift/bench/structs"
)

func vstreamRows(v *data.VStreamRows) structs.Message {
	return structs.Typed[peer.VStreamRowsResponse]{
		Fill: func(m *peer.VStreamRowsResponse) {
			m.Gtid = v.Gtid
			m.Rows = structs.Room(m.Rows, len(v.Rows))
			for i := range v.Rows {
				r, from := structs.Some(&m.Rows[i]), &v.Rows[i]
				r.Lengths = append(r.Lengths[:0], from.Lengths...)
				r.Values = from.Values
			}
		},
		Sum: func(m *peer.VStreamRowsResponse) uint64 {
			s := data.Str(m.Gtid)
			for _, r := range m.Rows {
				for _, n := range r.Lengths {
					s += uint64(n)
				}
				s += data.Str(r.Values)
			}
			return s
		},
		Values: func(m *peer.VStreamRowsResponse) any {
			v := &data.VStreamRows{Gtid: m.Gtid, Rows: make([]data.Row, len(m.Rows))}
			for i, r := range m.Rows {
				v.Rows[i] = data.Row{Lengths: r.Lengths, Values: bytes.Clone(r.Values)}
			}
			return v
		},
	}.Message()
}
