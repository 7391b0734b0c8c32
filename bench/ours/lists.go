package ours

import (
	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/generated/nocopy/peer"
)

func bulk(v *data.Bulk) message[peer.Bulk] {
	var into data.Bulk // the application's own slices
	return message[peer.Bulk]{
		make:  peer.NewBulk,
		parse: peer.ParseBulk,
		kept:  true,
		fill: func(m peer.Bulk) {
			switch {
			case len(v.Longs) > 0:
				m.SetLongs(v.Longs)
			case len(v.Ints) > 0:
				m.SetInts(v.Ints)
			case len(v.Shorts) > 0:
				m.SetShorts(v.Shorts)
			default:
				m.SetDoubles(v.Doubles)
			}
		},
		sum: func(m peer.Bulk) uint64 {
			switch {
			case len(v.Longs) > 0:
				into.Longs = m.GetLongs().AppendTo(into.Longs[:0])
				return data.Spots(into.Longs)
			case len(v.Ints) > 0:
				into.Ints = m.GetInts().AppendTo(into.Ints[:0])
				return data.Spots(into.Ints)
			case len(v.Shorts) > 0:
				into.Shorts = m.GetShorts().AppendTo(into.Shorts[:0])
				return data.Spots(into.Shorts)
			}
			into.Doubles = m.GetDoubles().AppendTo(into.Doubles[:0])
			return data.SpotsF64(into.Doubles)
		},
		values: func(m peer.Bulk) any {
			return &data.Bulk{
				Longs: m.GetLongs().AppendTo(nil), Ints: m.GetInts().AppendTo(nil),
				Shorts: m.GetShorts().AppendTo(nil), Doubles: m.GetDoubles().AppendTo(nil),
			}
		},
	}
}

func catalog(fill, edit func(peer.Catalog)) message[peer.Catalog] {
	return message[peer.Catalog]{
		make:  peer.NewCatalog,
		parse: peer.ParseCatalog,
		fill:  fill,
		edit:  edit,
		values: func(m peer.Catalog) any {
			v := &data.Catalog{Words: data.OrNil(m.GetWords().AppendTo(nil))}
			for _, it := range m.GetItems().All() {
				v.Items = append(v.Items, data.Item{ID: it.GetID(), Name: it.GetName(), Desc: it.GetDesc(), Count: it.GetCount(), Price: it.GetPrice(), OK: it.GetOk()})
			}
			return v
		},
	}
}

func fillFields(m peer.Catalog, v *data.FieldOrder) {
	items := m.NewItems(len(v.Items))
	for _, o := range v.Order {
		it, from := items.At(int(o.Index)), &v.Items[o.Index]
		switch o.Field {
		case 0:
			it.SetID(from.ID)
		case 1:
			it.SetName(from.Name)
		case 2:
			it.SetDesc(from.Desc)
		case 3:
			it.SetCount(from.Count)
		case 4:
			it.SetPrice(from.Price)
		case 5:
			it.SetOk(from.OK)
		}
	}
}

func fillWords(m peer.Catalog, v *data.WordOrder) {
	words := m.NewWords(len(v.Words))
	for _, i := range v.Order {
		words.Set(int(i), v.Words[i])
	}
}

func editItems(m peer.Catalog, v *data.Edits) {
	items := m.GetItems()
	for i := range v.Edits {
		e := &v.Edits[i]
		it := items.At(int(e.Index))
		switch e.Field {
		case 0:
			it.SetID(e.Number)
		case 1:
			it.SetName(e.Text)
		case 2:
			it.SetDesc(e.Text)
		}
	}
}
