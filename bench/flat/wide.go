package flat

import (
	"github.com/google/flatbuffers/go"

	"github.com/nocopythrift/nocopythrift/bench/data"
	gen "github.com/nocopythrift/nocopythrift/bench/generated/flat"
	"github.com/nocopythrift/nocopythrift/bench/generated/flat/widefields"
)

func wideRows(v *data.Wide) message {
	var rows, texts []flatbuffers.UOffsetT // the application's own slices for offsets
	return message{
		fill: func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
			rows = rows[:0]
			for i := range v.Rows {
				fields := v.Rows[i].Fields
				texts = texts[:0]
				for j := range fields {
					text := flatbuffers.UOffsetT(0)
					if fields[j].Text != "" {
						text = b.CreateString(fields[j].Text)
					}
					texts = append(texts, text)
				}
				gen.WideRowStart(b)
				for j := range fields {
					widefields.Add(b, &fields[j], texts[j])
				}
				rows = append(rows, gen.WideRowEnd(b))
			}
			gen.WideStartRowsVector(b, len(rows))
			all := vector(b, rows, func(o flatbuffers.UOffsetT) { b.PrependUOffsetT(o) })
			gen.WideStart(b)
			gen.WideAddRows(b, all)
			return gen.WideEnd(b)
		},
		sum: func(wire []byte) (s uint64) {
			m := gen.GetRootAsWide(wire, 0)
			var r gen.WideRow
			for i := range m.RowsLength() {
				m.Rows(&r, i)
				s += widefields.Sum(&r)
			}
			return s
		},
		partial: func(wire []byte) (s uint64) {
			m := gen.GetRootAsWide(wire, 0)
			var r gen.WideRow
			for i := range m.RowsLength() {
				m.Rows(&r, i)
				s += data.Str(r.T50())
			}
			return s
		},
		values: func(wire []byte) any {
			m := gen.GetRootAsWide(wire, 0)
			v := new(data.Wide)
			var r gen.WideRow
			for i := range m.RowsLength() {
				m.Rows(&r, i)
				v.Rows = append(v.Rows, data.WideRow{Fields: widefields.Values(&r)})
			}
			return v
		},
	}
}
