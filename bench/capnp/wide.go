package capnp

import (
	"capnproto.org/go/capnp/v3"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/generated/capnp/wide"
	"github.com/nocopythrift/nocopythrift/bench/generated/capnp/widefields"
)

func wideRows(v *data.Wide) message {
	return message{
		fill: func(s *capnp.Segment) {
			rows := must(must(wide.NewRootWide(s)).NewRows(int32(len(v.Rows))))
			for i := range v.Rows {
				r, fields := rows.At(i), v.Rows[i].Fields
				for j := range fields {
					widefields.Set(r, &fields[j])
				}
			}
		},
		sum: func(root capnp.Struct) (s uint64) {
			rows := must(wide.Wide(root).Rows())
			for i := range rows.Len() {
				s += widefields.Sum(rows.At(i))
			}
			return s
		},
		partial: func(root capnp.Struct) (s uint64) {
			rows := must(wide.Wide(root).Rows())
			for i := range rows.Len() {
				s += data.Str(must(rows.At(i).T50Bytes()))
			}
			return s
		},
		edit: func(root capnp.Struct) {
			rows := must(wide.Wide(root).Rows())
			for i := 0; i < rows.Len(); i += data.WideStep(rows.Len()) {
				check(rows.At(i).SetT50(data.EditText))
			}
		},
		room: 8 << 10,
		values: func(root capnp.Struct) any {
			v := new(data.Wide)
			rows := must(wide.Wide(root).Rows())
			for i := range rows.Len() {
				v.Rows = append(v.Rows, data.WideRow{Fields: widefields.Values(rows.At(i))})
			}
			return v
		},
	}
}
