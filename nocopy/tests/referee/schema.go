package referee

import "strconv"

// Structs returns n random struct types of 1 to 9 fields, which may contain each other and
// themselves.
func (g *Gen) Structs(n int) []*Struct {
	return g.structs(n, func(int) int { return 1 + g.Intn(9) })
}

// StructsOf is Structs with the given numbers of fields.
func (g *Gen) StructsOf(fields ...int) []*Struct {
	return g.structs(len(fields), func(i int) int { return fields[i] })
}

// structs returns n struct types. Type i has fields(i) fields.
func (g *Gen) structs(n int, fields func(i int) int) []*Struct {
	all := make([]*Struct, n)
	for i := range all {
		all[i] = &Struct{Name: "R" + strconv.Itoa(i), Union: i > 0 && g.Intn(5) == 0, Exception: g.Intn(8) == 0}
	}
	for i, s := range all {
		g.fields(s, all, i, fields)
	}
	for i, s := range all { // when all fields are known
		for k := range s.Fields {
			f := &s.Fields[k]
			if g.Intn(3) == 0 && (!f.Type.IsStruct() || structIn(all[:i], f.Type.Struct)) {
				f.Default = g.Value(f.Type, 2)
			}
		}
	}
	return all
}

func structIn(list []*Struct, s *Struct) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// many is the number of fields from which on most fields of a struct are optional, and few of them
// are set.
const many = 24

// fields gives struct i its fields, with ids below 10,000: Noise adds fields with larger ids. A
// required struct comes before s in all, and so no value is infinite.
func (g *Gen) fields(s *Struct, all []*Struct, i int, count func(i int) int) {
	id := int16(g.Intn(4)) - 1
	n := count(i)
	for k := range n {
		f := Field{ID: id, Name: "f" + strconv.Itoa(k), Req: Requiredness(g.Intn(3))}
		if s.Union || n >= many && g.Intn(16) > 0 {
			f.Req = Optional
		}
		f.Type = g.Type(all, 3)
		if f.Req == Required && f.Type.IsStruct() && !structIn(all[:i], f.Type.Struct) {
			f.Req = Optional
		}
		s.Fields = append(s.Fields, f)
		if id += 1 + int16(g.Intn(20)/18); g.Intn(16) == 0 && id < 8_000 {
			id += 300
		}
	}
	if g.Intn(3) == 0 { // declared in another order than that of the ids
		n := len(s.Fields)
		a, b := g.Intn(n), g.Intn(n)
		s.Fields[a], s.Fields[b] = s.Fields[b], s.Fields[a]
	}
}

// Type returns a random type made from leaves, the given structs, and containers.
func (g *Gen) Type(structs []*Struct, depth int) *Type {
	class := g.Intn(16)
	switch {
	case class < 6 || depth == 0:
		return Leaves[g.Intn(len(Leaves))]
	case class < 8:
		return StructOf(structs[g.Intn(len(structs))])
	case class < 11:
		return ListOf(g.Type(structs, depth-1))
	case class < 13:
		return SetOf(g.Type(structs, depth-1))
	}
	key := Leaves[g.Intn(len(Leaves))]
	if g.Intn(6) == 0 {
		key = g.Type(structs, depth-1)
	}
	return MapOf(key, g.Type(structs, depth-1))
}

// Everything returns a set of structs with a field of every shape. The first contains all others.
func Everything() []*Struct {
	point := &Struct{Name: "Point", Fields: []Field{{ID: 1, Name: "x", Type: I32, Req: Required}, {ID: 2, Name: "y", Type: I32}}}
	item := &Struct{Name: "Item", Fields: []Field{{ID: 1, Name: "name", Type: String}, {ID: 2, Name: "blob", Type: Binary, Req: Optional},
		{ID: 3, Name: "at", Type: StructOf(point), Req: Optional}, {ID: 4, Name: "n", Type: I64, Default: int64(7)},
		{ID: 5, Name: "tags", Type: ListOf(String)}}}
	choice := &Struct{Name: "Choice", Union: true}
	refused := &Struct{Name: "Refused", Exception: true, Fields: []Field{{ID: 1, Name: "why", Type: String, Req: Required}}}
	node := &Struct{Name: "Node"}
	top := &Struct{Name: "Everything"}
	structs := []*Type{StructOf(point), StructOf(item), StructOf(choice), StructOf(refused)}
	deep := []*Type{ListOf(ListOf(I64)), ListOf(ListOf(String)), ListOf(ListOf(ListOf(Binary))),
		ListOf(MapOf(String, ListOf(StructOf(item)))), SetOf(ListOf(I32)), SetOf(StructOf(point)), ListOf(SetOf(String)),
		MapOf(StructOf(point), String), MapOf(String, StructOf(item)), MapOf(I32, MapOf(String, I64)), MapOf(I64, ListOf(String)),
		MapOf(ListOf(I32), StructOf(point)), MapOf(MapOf(I8, I8), ListOf(I8)), MapOf(Binary, SetOf(I16)), ListOf(MapOf(I32, I32)), StructOf(node)}
	for i, t := range structs {
		choice.Fields = append(choice.Fields, Field{ID: int16(i + 1), Name: "s" + strconv.Itoa(i), Type: t, Req: Optional})
	}
	for i, t := range append(append([]*Type{}, Leaves...), deep[:6]...) {
		choice.Fields = append(choice.Fields, Field{ID: int16(i + 20), Name: "v" + strconv.Itoa(i), Type: t, Req: Optional})
	}
	node.Fields = []Field{{ID: 1, Name: "value", Type: I64}, {ID: 2, Name: "next", Type: StructOf(node), Req: Optional},
		{ID: 3, Name: "kids", Type: ListOf(StructOf(node))}, {ID: 4, Name: "named", Type: MapOf(String, StructOf(node))}, {ID: 5, Name: "label", Type: String}}
	add := func(t *Type) {
		n := len(top.Fields)
		top.Fields = append(top.Fields, Field{ID: int16(n + 1), Name: "f" + strconv.Itoa(n+1), Type: t, Req: Requiredness(n * 2 % 3)})
	}
	for _, t := range Leaves {
		for _, u := range []*Type{t, ListOf(t), SetOf(t), MapOf(t, String), MapOf(String, t)} {
			add(u)
		}
	}
	for _, t := range append(structs, deep...) {
		add(t)
		if t.IsStruct() {
			add(ListOf(t))
		}
	}
	return []*Struct{top, item, choice, node, point, refused}
}
