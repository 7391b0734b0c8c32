package kitex

import (
	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/generated/kitex/subset"
	"github.com/nocopythrift/nocopythrift/bench/structs"
)

// Subset returns the operations on structs that declare only the fields that Partial reads; nil if
// there are none for v.
func Subset(v any) *structs.Message {
	var m structs.Message
	switch v.(type) {
	case *data.Small:
		m = structs.Typed[subset.Small]{
			Partial: func(m *subset.Small) uint64 { return uint64(m.Timestamp) + data.F64(m.Weight) + data.Str(m.Sub.Name) },
		}.Message()
	case *data.Business:
		m = structs.Typed[subset.Business]{
			Partial: func(m *subset.Business) uint64 { return data.F64(m.Score) + uint64(m.Ts) + data.Str(m.Owner.Name) },
		}.Message()
	case *data.Wide:
		m = structs.Typed[subset.Wide]{
			Partial: func(m *subset.Wide) (s uint64) {
				for _, r := range m.Rows {
					if r.T50 != nil {
						s += data.Str(*r.T50)
					}
				}
				return s
			},
		}.Message()
	default:
		return nil
	}
	return &m
}
