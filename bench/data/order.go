package data

// Catalog is the message of workload I.
type Catalog struct {
	Items []Item
	Words []string
}

// FieldOrder is a Catalog whose items' fields are to be set in an order of their own.
type FieldOrder struct {
	Catalog
	Order []struct{ Index, Field int32 }
}

// WordOrder is a Catalog whose words are to be set in an order of their own.
type WordOrder struct {
	Catalog
	Order []int32
}

// Edits is a received Catalog and the changes to be made to its items.
type Edits struct {
	Catalog
	Edits []ItemEdit
}

// ItemEdit sets the field Field (0 ID, 1 Name, 2 Desc) of an item.
type ItemEdit struct {
	Index, Field int32
	Number       int64
	Text         string
}

// itemFields is the number of fields of an Item.
const itemFields = 6

// Message returns the message that is on the wire for v: v itself, or the Catalog in it.
func Message(v any) any {
	switch v := v.(type) {
	case *FieldOrder:
		return &v.Catalog
	case *WordOrder:
		return &v.Catalog
	case *Edits:
		return &v.Catalog
	case *JSON:
		return v.Of
	}
	return v
}

// permutation returns the numbers below n in random order, or in reverse.
func (r source) permutation(n int, random bool) []int32 {
	p := make([]int32, n)
	for i := range p {
		p[i] = int32(n - 1 - i)
	}
	if random {
		r.Shuffle(n, func(i, j int) { p[i], p[j] = p[j], p[i] })
	}
	return p
}

func (r source) items(n int) []Item {
	items := make([]Item, n)
	for i := range items {
		items[i] = Item{ID: r.Int64(), Name: r.between(8, 16), Desc: r.between(20, 40), Count: int32(r.IntN(1000)), Price: r.Float64() * 100, OK: r.IntN(2) == 0}
	}
	return items
}

// newFieldOrder returns a FieldOrder of about n fields.
func newFieldOrder(n int, random bool) *FieldOrder {
	r := newSource(8)
	v := new(FieldOrder)
	v.Items = r.items(max(1, n/itemFields))
	for _, o := range r.permutation(itemFields*len(v.Items), random) {
		v.Order = append(v.Order, struct{ Index, Field int32 }{o / itemFields, o % itemFields})
	}
	return v
}

// newWordOrder returns a WordOrder of n words.
func newWordOrder(n int, random bool) *WordOrder {
	r := newSource(9)
	v := new(WordOrder)
	for range n {
		v.Words = append(v.Words, r.between(4, 30))
	}
	v.Order = r.permutation(n, random)
	return v
}

// newEdits returns Edits of n items and as many edits, at random places.
func newEdits(n int) *Edits {
	r := newSource(10)
	v := new(Edits)
	v.Items = r.items(n)
	for range n {
		v.Edits = append(v.Edits, ItemEdit{Index: int32(r.IntN(n)), Field: int32(r.IntN(3)), Number: r.Int64(), Text: r.between(4, 60)})
	}
	return v
}

// apply changes the catalog as the edit operation does.
func (v *Edits) apply() {
	for _, e := range v.Edits {
		it := &v.Items[e.Index]
		switch e.Field {
		case 0:
			it.ID = e.Number
		case 1:
			it.Name = e.Text
		case 2:
			it.Desc = e.Text
		}
	}
}
