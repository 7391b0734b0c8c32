package kitex

import (
	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/generated/kitex/peer"
	"github.com/nocopythrift/nocopythrift/bench/structs"
)

func init() {
	messages = append(messages, func(v any) structs.Message {
		switch v := v.(type) {
		case *data.Bulk:
			return bulk(v)
		case *data.FieldOrder:
			return catalog(func(m *peer.Catalog) { fillFields(m, v) }, nil)
		case *data.WordOrder:
			return catalog(func(m *peer.Catalog) { fillWords(m, v) }, nil)
		case *data.Edits:
			return catalog(nil, func(m *peer.Catalog) { editItems(m, v) })
		}
		return structs.Message{}
	})
}

// bulk hands over the application's slices as they are.
func bulk(v *data.Bulk) structs.Message {
	return structs.Typed[peer.Bulk]{
		Fill: func(m *peer.Bulk) { m.Longs, m.Ints, m.Shorts, m.Doubles = v.Longs, v.Ints, v.Shorts, v.Doubles },
		Sum: func(m *peer.Bulk) uint64 {
			return data.Spots(m.Longs) + data.Spots(m.Ints) + data.Spots(m.Shorts) + data.SpotsF64(m.Doubles)
		},
		Values: func(m *peer.Bulk) any {
			return &data.Bulk{Longs: data.OrNil(m.Longs), Ints: data.OrNil(m.Ints), Shorts: data.OrNil(m.Shorts), Doubles: data.OrNil(m.Doubles)}
		},
	}.Message()
}

func catalog(fill, edit func(*peer.Catalog)) structs.Message {
	return structs.Typed[peer.Catalog]{
		Fill: fill,
		Edit: edit,
		Values: func(m *peer.Catalog) any {
			v := &data.Catalog{Words: data.OrNil(m.Words)}
			for _, it := range m.Items {
				v.Items = append(v.Items, data.Item{ID: it.Id, Name: it.Name, Desc: it.Desc, Count: it.Count, Price: it.Price, OK: it.Ok})
			}
			return v
		},
	}.Message()
}

func fillFields(m *peer.Catalog, v *data.FieldOrder) {
	m.Items = structs.Room(m.Items, len(v.Items))
	for i := range m.Items {
		structs.Some(&m.Items[i])
	}
	for _, o := range v.Order {
		it, from := m.Items[o.Index], &v.Items[o.Index]
		switch o.Field {
		case 0:
			it.Id = from.ID
		case 1:
			it.Name = from.Name
		case 2:
			it.Desc = from.Desc
		case 3:
			it.Count = from.Count
		case 4:
			it.Price = from.Price
		case 5:
			it.Ok = from.OK
		}
	}
}

func fillWords(m *peer.Catalog, v *data.WordOrder) {
	m.Words = structs.Room(m.Words, len(v.Words))
	for _, i := range v.Order {
		m.Words[i] = v.Words[i]
	}
}

func editItems(m *peer.Catalog, v *data.Edits) {
	for i := range v.Edits {
		e := &v.Edits[i]
		it := m.Items[e.Index]
		switch e.Field {
		case 0:
			it.Id = e.Number
		case 1:
			it.Name = e.Text
		case 2:
			it.Desc = e.Text
		}
	}
}
