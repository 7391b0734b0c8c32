// The operations of TestHostileSteps: each is done to all of a message. A new method is a line
// here.

package engine

import (
	"io"
	"slices"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// hostileOperation is an operation on a message; run does it. A nil run is only the steps that are
// taken with each message before.
type hostileOperation struct {
	name string
	run  func(h *hostile)
}

var hostileOperations = []hostileOperation{
	{"Parse, and ask for all handles", nil},
	{"parse, lazily and not", func(h *hostile) {
		wire := h.root.m.Bytes()
		for _, o := range []Option{Own, Lazy, ValidUTF8} {
			s, err := Parse(h.desc, wire, o, Limits{MaxIndex: 1 << 30})
			if err != nil {
				panic(err)
			}
			if err := s.m.Index(); err != nil {
				panic(err)
			}
			s.Release()
		}
	}},
	{"struct: get", func(h *hostile) {
		h.eachField(true, func(s Struct, d *schema.Struct, i int) {
			switch f := d.Field(i); {
			case d.Fields()[i].Kind() == schema.Text && d.IsWide():
				_, _ = Wide(s).Text(f), Wide(s).Bytes(f)
			case d.Fields()[i].Kind() == schema.Text:
				_, _ = s.Text(f), s.Bytes(f)
			case d.Fields()[i].Kind() == schema.Fixed:
				_ = s.m.ix.At(s.entry(), f)
			default:
				s.Child(f, d)
			}
		})
	}},
	{"String", func(h *hostile) { _ = TextOf(h.root, h.desc) }},
	{"String of each container", func(h *hostile) {
		for _, x := range append(h.lists, h.maps...) {
			_ = ContainerTextOf(x.Struct, "")
		}
	}},
	{"Clone", func(h *hostile) { h.root.Clone(h.desc).Release() }},
	{"struct: Clone each", func(h *hostile) {
		for _, s := range h.structs {
			s.Clone(s.t.Struct()).Release()
		}
	}},
	{"struct: Unknown", func(h *hostile) {
		for _, s := range h.structs {
			for range s.Unknown(s.t.Struct()) {
			}
		}
	}},
	{"struct: change and Unknown", func(h *hostile) {
		for _, s := range h.structs {
			h.change(s.Struct, s.t)
			for range s.Unknown(s.t.Struct()) {
			}
		}
	}},
	{"Bytes, AppendTo, WriteTo, WriteFrame", func(h *hostile) {
		_ = h.root.m.Bytes()
		_ = h.root.m.AppendTo(nil)
		h.root.m.WriteTo(io.Discard)
		h.root.m.WriteFrame(io.Discard)
	}},
	{"change, then Len, Bytes and WriteTo, 20 times", func(h *hostile) {
		all := h.all()
		for i := range 20 {
			x := all[i*len(all)/20]
			h.change(x.Struct, x.t)
			_ = h.root.m.Len()
			_ = h.root.m.Bytes()
			h.root.m.WriteTo(io.Discard)
		}
	}},
	{"struct: set each field again", func(h *hostile) { h.eachField(true, func(s Struct, d *schema.Struct, i int) { setField(s, d, i, 6) }) }},
	{"struct: set each field to a longer text", func(h *hostile) {
		h.eachField(true, func(s Struct, d *schema.Struct, i int) { setField(s, d, i, 300) })
	}},
	{"struct: set each field, last to first", func(h *hostile) {
		slices.Reverse(h.structs)
		h.eachField(true, func(s Struct, d *schema.Struct, i int) { setField(s, d, i, 6) })
	}},
	{"struct: set a text that is referred to", func(h *hostile) {
		n := 0
		h.eachField(true, func(s Struct, d *schema.Struct, i int) {
			if n++; n < 1000 { // more of them are copied
				setField(s, d, i, 5000)
			}
		})
	}},
	{"struct: set a field that is absent", func(h *hostile) {
		for _, s := range h.structs {
			for i := len(s.t.Struct().Fields()) - 1; i >= 0; i-- {
				if s.t.Struct().Fields()[i].Kind() < schema.Record && !s.HasField(s.t.Struct().Field(i)) {
					setField(s.Struct, s.t.Struct(), i, 6)
					break
				}
			}
		}
	}},
	{"struct: NewBytes", func(h *hostile) {
		h.eachField(true, func(s Struct, d *schema.Struct, i int) {
			if d.Fields()[i].Kind() == schema.Text {
				clear(s.NewBytes(d.Field(i), 3))
			}
		})
	}},
	{"struct: Unset each field", func(h *hostile) {
		h.eachField(true, func(s Struct, d *schema.Struct, i int) { s.Unset(d.Field(i)) })
	}},
	{"struct: Unset a field that is absent", func(h *hostile) {
		for _, s := range h.structs {
			for i := range s.t.Struct().Fields() {
				if f := s.t.Struct().Field(i); !s.HasField(f) {
					s.Unset(f)
					break
				}
			}
		}
	}},
	{"struct: Unset, set, Unset", func(h *hostile) {
		h.eachField(true, func(s Struct, d *schema.Struct, i int) {
			s.Unset(d.Field(i))
			setField(s, d, i, 6)
			s.Unset(d.Field(i))
		})
	}},
	{"struct: Reset", func(h *hostile) {
		h.eachField(true, func(s Struct, d *schema.Struct, i int) { s.Reset(d.Field(i), d) })
	}},
	{"struct: NewChild", func(h *hostile) {
		h.eachField(true, func(s Struct, d *schema.Struct, i int) {
			if d.Fields()[i].Kind() >= schema.Record {
				s.NewChild(d.Field(i), d, 1)
			}
		})
	}},
	{"struct: SetChild of another message", func(h *hostile) {
		h.eachField(true, func(s Struct, d *schema.Struct, i int) {
			if d.Fields()[i].Kind() >= schema.Record {
				s.SetChild(d.Field(i), d, value(d.Fields()[i].Type, 1).view)
			}
		})
	}},
	{"struct: SetChild of its own", func(h *hostile) {
		h.eachField(true, func(s Struct, d *schema.Struct, i int) {
			if f := d.Field(i); d.Fields()[i].Kind() >= schema.Record {
				s.SetChild(f, d, s.Child(f, d))
			}
		})
	}},
	{"union: Arm, UnsetArm, Which", func(h *hostile) {
		for _, s := range h.structs {
			if !s.t.Struct().IsUnion() {
				continue
			}
			for i := range min(3, len(s.t.Struct().Fields())) {
				f := s.t.Struct().Field(i)
				if s.t.Struct().Fields()[i].Kind() < schema.Record {
					setField(s.Arm(f, s.t.Struct()), s.t.Struct(), i, 5)
				} else {
					s.Arm(f, s.t.Struct()).NewChild(f, s.t.Struct(), 0)
				}
				_ = s.Which()
			}
			s.UnsetArm(s.t.Struct().Field(0))
			s.UnsetArm(s.t.Struct().Field(1))
		}
	}},
	{"append each to another message", func(h *hostile) {
		for _, x := range h.all() {
			if x.t.Kind() == schema.Record {
				h.other(x.t).Append(x.Struct)
			} else {
				NestedList[Struct](h.other(x.t)).Append(x.Struct)
			}
		}
	}},
	{"change each and append it to another message", func(h *hostile) {
		for _, x := range h.all() {
			h.change(x.Struct, x.t)
			if x.t.Kind() == schema.Record {
				h.other(x.t).Append(x.Struct)
			} else {
				NestedList[Struct](h.other(x.t)).Append(x.Struct)
			}
		}
	}},
	{"change each, last to first, and append it to another message", func(h *hostile) {
		all := h.all()
		slices.Reverse(all)
		for _, x := range all {
			h.change(x.Struct, x.t)
			if x.t.Kind() == schema.Record {
				h.other(x.t).Append(x.Struct)
			} else {
				NestedList[Struct](h.other(x.t)).Append(x.Struct)
			}
		}
	}},
	{"struct: set one field again and again, get what is unknown", func(h *hostile) {
		h.change(h.root, h.desc.Type())
		for i := range h.times {
			s := h.structs[min(1, len(h.structs)-1)]
			h.change(s.Struct, s.t)
			if i%16 == 0 && s.Struct != h.root { // the root's unknown fields are as large as the message
				for range s.Unknown(s.t.Struct()) {
					break
				}
			}
		}
	}},
	{"struct: set and Unset one field again and again", func(h *hostile) {
		s := h.structs[min(1, len(h.structs)-1)]
		for range h.times {
			for i := range s.t.Struct().Fields() {
				if f := s.t.Struct().Field(i); s.t.Struct().Fields()[i].Kind() < schema.Record {
					setField(s.Struct, s.t.Struct(), i, 8)
					s.Unset(f)
					break
				}
			}
		}
	}},
	{"struct: replace one child again and again", func(h *hostile) {
		s := h.structs[min(1, len(h.structs)-1)]
		for range h.times {
			for i := range s.t.Struct().Fields() {
				if f := s.t.Struct().Field(i); s.t.Struct().Fields()[i].Kind() >= schema.Record {
					v := value(s.t.Struct().Fields()[i].Type, 1)
					s.SetChild(f, s.t.Struct(), v.view)
					s.NewChild(f, s.t.Struct(), 1)
					s.SetChild(f, s.t.Struct(), v.view)
					break
				}
			}
		}
	}},
	{"list: append to two by turns", func(h *hostile) {
		for i := range h.times {
			l := h.lists[(i%2)*(len(h.lists)-1)]
			h.append(l.Struct, l.t)
		}
	}},
	{"list: replace one element again and again, Contains", func(h *hostile) {
		l := h.lists[len(h.lists)-1]
		for range h.times {
			if l.ListLen() > 0 {
				h.set(l.Struct, l.t, l.ListLen()/2, h.new(l.t.Elem()))
				contains(l.Struct, l.t, h.new(l.t.Elem()))
			}
		}
	}},
	{"list: iterate", func(h *hostile) {
		h.each(h.lists, func(l typedHandle) {
			if l.t.Elem().Kind() >= schema.Record {
				for range StructList[Struct](l.Struct).All() {
				}
			} else if l.t.Elem().Kind() == schema.Text {
				StringList(l.Struct).AppendTo(nil)
			}
		})
	}},
	{"list: Append to each", func(h *hostile) {
		for range 3 {
			h.each(h.lists, func(l typedHandle) {
				h.append(l.Struct, l.t)
			})
		}
	}},
	{"list: Append as many as there are", func(h *hostile) {
		h.each(h.lists, func(l typedHandle) {
			for range l.ListLen() {
				h.append(l.Struct, l.t)
			}
		})
	}},
	{"list: AppendNew", func(h *hostile) {
		h.each(h.lists, func(l typedHandle) {
			for range min(l.ListLen(), 100) {
				if l.t.Elem().Kind() == schema.Record {
					h.change(StructList[Struct](l.Struct).AppendNew(), l.t.Elem())
				} else if l.t.Elem().Kind() > schema.Record {
					NestedList[Struct](l.Struct).AppendNew(1)
				}
			}
		})
	}},
	{"list: Set each", func(h *hostile) {
		h.each(h.lists, func(l typedHandle) {
			for i := range l.ListLen() {
				h.set(l.Struct, l.t, i, h.new(l.t.Elem()))
			}
		})
	}},
	{"list: Set each to the next", func(h *hostile) {
		h.each(h.lists, func(l typedHandle) {
			for i := range l.ListLen() - 1 {
				h.set(l.Struct, l.t, i, keyAt(l.Struct, l.t, i+1))
			}
		})
	}},
	{"list: NewAt", func(h *hostile) {
		h.each(h.lists, func(l typedHandle) {
			for i := range l.ListLen() {
				if l.t.Elem().Kind() > schema.Record {
					NestedList[Struct](l.Struct).NewAt(i, 1)
				}
			}
		})
	}},
	{"list: Contains of each", func(h *hostile) {
		h.each(h.lists, func(l typedHandle) {
			for i := range l.ListLen() {
				if k := keyAt(l.Struct, l.t, i); !contains(l.Struct, l.t, k) {
					panic("an element is not found")
				}
			}
		})
	}},
	{"list: Contains of what is not there", func(h *hostile) {
		h.each(h.lists, func(l typedHandle) {
			for range l.ListLen() {
				contains(l.Struct, l.t, h.new(l.t.Elem()))
			}
		})
	}},
	{"list: Add as many as there are", func(h *hostile) {
		h.each(h.lists, func(l typedHandle) {
			for range l.ListLen() {
				if v := h.new(l.t.Elem()); !contains(l.Struct, l.t, v) {
					h.append(l.Struct, l.t)
				}
			}
		})
	}},
	{"list: Set and Contains", func(h *hostile) {
		h.each(h.lists, func(l typedHandle) {
			for i := range l.ListLen() {
				v := h.new(l.t.Elem())
				contains(l.Struct, l.t, v)
				h.set(l.Struct, l.t, i, v)
				if !contains(l.Struct, l.t, v) {
					panic("an element that was set is not found")
				}
			}
		})
	}},
	{"list: Set and Contains, last to first", func(h *hostile) {
		h.each(h.lists, func(l typedHandle) {
			for i := l.ListLen() - 1; i >= 0; i-- {
				v := h.new(l.t.Elem())
				contains(l.Struct, l.t, v)
				h.set(l.Struct, l.t, i, v)
			}
		})
	}},
	{"list: change an element and Contains", func(h *hostile) {
		h.each(h.lists, func(l typedHandle) {
			if l.t.Elem().Kind() < schema.Record {
				return
			}
			for i := range l.ListLen() {
				h.change(at(l.Struct, l.t, i), l.t.Elem())
				contains(l.Struct, l.t, h.new(l.t.Elem()))
			}
		})
	}},
	{"list: change another struct and Contains", func(h *hostile) {
		h.each(h.lists, func(l typedHandle) {
			for i := range l.ListLen() {
				contains(l.Struct, l.t, h.new(l.t.Elem()))
				h.change(h.structs[i%len(h.structs)].Struct, h.structs[i%len(h.structs)].t)
			}
		})
	}},
	{"list: Delete the first and Contains", func(h *hostile) {
		h.each(h.lists, func(l typedHandle) {
			for l.ListLen() > 0 {
				contains(l.Struct, l.t, h.new(l.t.Elem()))
				deleteFirst(l)
			}
		})
	}},
	{"list: Delete the last and Contains", func(h *hostile) {
		h.each(h.lists, func(l typedHandle) {
			for n := l.ListLen(); n > 0; n-- {
				contains(l.Struct, l.t, h.new(l.t.Elem()))
				deleteElements(l, n-1, n)
			}
		})
	}},
	{"list: Append, Delete the first and Contains", func(h *hostile) {
		h.each(h.lists, func(l typedHandle) {
			for range l.ListLen() {
				h.append(l.Struct, l.t)
				deleteFirst(l)
				contains(l.Struct, l.t, h.new(l.t.Elem()))
			}
		})
	}},
	{"list: DeleteFunc", func(h *hostile) {
		h.each(h.lists, func(l typedHandle) { DeleteFunc(l.Struct, true, func(i int) bool { return i%2 > 0 }) })
	}},
	{"map: DeleteFunc", func(h *hostile) {
		h.each(h.maps, func(d typedHandle) { d.deletePairs(func(_, _ index.Word) bool { return true }) })
	}},
	{"map: iterate, Len", func(h *hostile) {
		h.each(h.maps, func(d typedHandle) {
			for range 10 {
				_ = d.MapLen()
			}
			d.eachPair(func(k, v index.Word) bool { return true })
		})
	}},
	{"map: Get of each", func(h *hostile) {
		h.each(h.maps, func(d typedHandle) {
			for _, k := range keysOf(d.Struct, d.t) {
				if !get(d.Struct, k) {
					panic("a key is not found")
				}
				get(d.Struct, h.new(d.t.Key()))
			}
		})
	}},
	{"map: Put of each", func(h *hostile) {
		h.each(h.maps, func(d typedHandle) {
			for _, k := range keysOf(d.Struct, d.t) {
				h.put(d.Struct, d.t, k)
			}
		})
	}},
	{"map: Put of new ones", func(h *hostile) {
		h.each(h.maps, func(d typedHandle) {
			for range d.ListLen() {
				h.put(d.Struct, d.t, h.new(d.t.Key()))
				_ = d.MapLen()
			}
		})
	}},
	{"map: PutNew", func(h *hostile) {
		h.each(h.maps, func(d typedHandle) {
			for _, k := range keysOf(d.Struct, d.t) {
				if d.t.Elem().Kind() >= schema.Record {
					d.putNew(k, 0)
					d.putNew(h.new(d.t.Key()), 0)
				}
			}
		})
	}},
	{"map: AppendNew", func(h *hostile) {
		h.each(h.maps, func(d typedHandle) {
			for range d.ListLen() {
				AppendNewPair[encoded, encoded, raw, raw](d.Struct)
				_ = d.MapLen()
			}
		})
	}},
	{"map: Delete one", func(h *hostile) {
		h.each(h.maps, func(d typedHandle) {
			if d.ListLen() > 0 {
				remove(d.Struct, keyAt(d.Struct, d.t, d.ListLen()/2))
			}
		})
	}},
	{"map: Delete of each", func(h *hostile) {
		h.each(h.maps, func(d typedHandle) {
			for _, k := range keysOf(d.Struct, d.t) {
				remove(d.Struct, k)
				_ = d.MapLen()
			}
			if d.MapLen() != 0 {
				panic("all were deleted")
			}
		})
	}},
	{"map: Delete of each, last to first", func(h *hostile) {
		h.each(h.maps, func(d typedHandle) {
			all := keysOf(d.Struct, d.t)
			slices.Reverse(all)
			for _, k := range all {
				remove(d.Struct, k)
			}
		})
	}},
	{"map: Delete of each in any order, Put again", func(h *hostile) {
		h.each(h.maps, func(d typedHandle) {
			all := keysOf(d.Struct, d.t)
			for i := range all {
				k := all[i*7919%len(all)]
				remove(d.Struct, k)
				if i%3 == 0 {
					h.put(d.Struct, d.t, h.new(d.t.Key()))
				}
			}
		})
	}},
	{"map: Delete the first", func(h *hostile) { h.each(h.maps, func(d typedHandle) { deleteNext(d, 0) }) }},
	{"map: Delete the third, with two that stay", func(h *hostile) { h.each(h.maps, func(d typedHandle) { deleteNext(d, 2) }) }},
	{"map: Delete and Put the same", func(h *hostile) {
		h.each(h.maps, func(d typedHandle) {
			for _, k := range keysOf(d.Struct, d.t) {
				if k.view.m != nil {
					k = h.new(d.t.Key())
					h.put(d.Struct, d.t, k)
				}
				remove(d.Struct, k)
				h.put(d.Struct, d.t, k)
				_ = d.MapLen()
			}
		})
	}},
	{"map: iterate and Delete", func(h *hostile) {
		h.each(h.maps, func(d typedHandle) {
			i := 0
			all := keysOf(d.Struct, d.t)
			d.eachPair(func(k, v index.Word) bool {
				if i < len(all) {
					remove(d.Struct, all[i])
					i++
				}
				return true
			})
		})
	}},
	{"map: change a key and Get", func(h *hostile) {
		h.each(h.maps, func(d typedHandle) {
			if d.t.Key().Kind() < schema.Record {
				return
			}
			for i := range d.ListLen() {
				k := d.m.handle(d.pairAt(i).Key().Entry())
				h.change(k, d.t.Key())
				get(d.Struct, h.new(d.t.Key()))
			}
		})
	}},
}

// deleteNext deletes pairs until n are left, each time the first one after n others.
func deleteNext(d typedHandle, n int) {
	for range d.ListLen() {
		i, seen := d.nextPair(0), 0
		d.eachPair(func(k, v index.Word) bool {
			for d.pairAt(i).Key() != k {
				i = d.nextPair(i + 1)
			}
			seen++
			return seen <= n
		})
		if seen <= n {
			break
		}
		remove(d.Struct, keyAt(d.Struct, d.t, i))
	}
}

// deleteFirst deletes a list's first element, or the last one of a list of elements of fixed size:
// deleting the first moves all others, as its documentation says.
func deleteFirst(l typedHandle) {
	if i := l.ListLen() - 1; l.t.Elem().Kind() == schema.Fixed {
		deleteElements(l, i, i+1)
	} else {
		deleteElements(l, 0, 1)
	}
}

// deleteElements deletes the elements from i to j-1 of a list.
func deleteElements(l typedHandle, i, j int) {
	if l.t.Elem().Kind() == schema.Fixed {
		l.DeleteFixed(i, j, int(l.t.Elem().Size()))
	} else {
		l.DeleteRange(i, j)
	}
}
