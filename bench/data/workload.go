package data

import (
	"fmt"
	"strings"
)

// Workload is a named message. New makes its value when it is measured: the heap should hold no
// other workload's, since the cost of peers that allocate depends on how much the collector has to
// mark.
type Workload struct {
	// As in -w and in the tables. In the groups G, H and I, it consists of group, kind and size:
	// "G-A-x4"
	Name  string
	About string // one line for the table's title
	New   func() any
	Kind  any // a nil pointer of the type that New returns

	// For G, H and I: the workloads of a group have growing numbers of this unit; Units is this
	// one's number.
	Unit  string
	Units int
}

// C's sizes.
const kb, mb = 1 << 10, 1 << 20

// All returns the workloads in the order in which they are shown.
func All() []Workload {
	w := []Workload{
		{Name: "A", About: "list<i64> of 131,072 (1 MiB)", Kind: (*MyTest)(nil), New: func() any { return newMyTest(131072) }},
		{Name: "B", About: "small request: 5 strings, 6 scalars, one nested struct", Kind: (*Small)(nil), New: func() any { return newSmall() }},
	}
	for _, c := range []struct {
		name, about string
		size        int
	}{
		{"C1K", "business message, 1 KB", kb},
		{"C4K", "business message, 4 KB", 4 * kb},
		{"C20K", "business message, 20 KB", 20 * kb},
		{"C256K", "business message, 256 KB", 256 * kb},
		{"C6M", "business message, 6 MB", 6 * mb},
	} {
		w = append(w, Workload{Name: c.name, About: c.about, Kind: (*Business)(nil), New: func() any { return businessOf(c.size) }})
	}
	w = append(w,
		Workload{Name: "D", About: "one binary of 1 MiB", Kind: (*Blob)(nil), New: func() any { return newBlob(mb) }},
		Workload{Name: "E", About: "Vitess VStreamRows: 1000 rows of 10 columns", Kind: (*VStreamRows)(nil), New: func() any { return newVStreamRows(1000) }},
		Workload{Name: "F", About: "Prometheus write request: 10,000 series of 6.4 labels", Kind: (*WriteRequest)(nil), New: func() any { return newWriteRequest(10000) }},
		Workload{Name: "W", About: "2,000 structs of 200 optional fields, 10 of them set", Kind: (*Wide)(nil), New: func() any { return newWide(11, 2000) }},
	)
	w = append(w, growth()...)
	w = append(w, bulk()...)
	w = append(w, order()...)
	return append(w, jsons(w)...)
}

// growth is workload G: A, C and F made longer, whose time per byte must not grow.
func growth() (w []Workload) {
	for _, x := range []int{1, 4, 16, 64} {
		w = append(w, Workload{
			Name: fmt.Sprintf("G-A-x%d", x), About: fmt.Sprintf("A × %d: list<i64> of %d", x, 131072*x), Unit: "byte", Units: 8 * 131072 * x,
			Kind: (*MyTest)(nil), New: func() any { return newMyTest(131072 * x) },
		})
	}
	for _, x := range []int{1, 4, 16, 64} {
		w = append(w, Workload{
			Name: fmt.Sprintf("G-C-x%d", x), About: fmt.Sprintf("C256K × %d", x), Unit: "byte", Units: 256 * kb * x,
			Kind: (*Business)(nil), New: func() any { return businessOf(256 * kb * x) },
		})
	}
	for _, x := range []int{1, 4, 16, 64} {
		w = append(w, Workload{
			Name: fmt.Sprintf("G-F-x%d", x), About: fmt.Sprintf("F × %d: %d series", x, 10000*x), Unit: "byte", Units: 2_450_000 * x,
			Kind: (*WriteRequest)(nil), New: func() any { return newWriteRequest(10000 * x) },
		})
	}
	return w
}

// bulk is workload H: lists of numbers as a whole.
func bulk() (w []Workload) {
	for _, elem := range []string{"i64", "i32", "i16", "double"} {
		for _, size := range []struct {
			name string
			n    int
		}{{"16", 16}, {"256", 256}, {"4K", 4 << 10}, {"64K", 64 << 10}, {"1M", 1 << 20}} {
			w = append(w, Workload{
				Name: "H-" + elem + "-" + size.name, About: fmt.Sprintf("list<%s> of %d from and into a Go slice", elem, size.n), Unit: "element", Units: size.n,
				Kind: (*Bulk)(nil), New: func() any { return newBulk(elem, size.n) },
			})
		}
	}
	return w
}

// order is workload I: things set in another order than they are in on the wire.
func order() (w []Workload) {
	kinds := []struct {
		name, about string
		kind        any
		of          func(n int) any
	}{
		{"fields-reverse", "fields of list elements set in reverse order", (*FieldOrder)(nil), func(n int) any { return newFieldOrder(n, false) }},
		{"fields-random", "fields of list elements set in random order", (*FieldOrder)(nil), func(n int) any { return newFieldOrder(n, true) }},
		{"words-reverse", "elements of a list<string> set in reverse order", (*WordOrder)(nil), func(n int) any { return newWordOrder(n, false) }},
		{"words-random", "elements of a list<string> set in random order", (*WordOrder)(nil), func(n int) any { return newWordOrder(n, true) }},
		{"edits", "random edits of a received list of as many structs", (*Edits)(nil), func(n int) any { return newEdits(n) }},
	}
	for _, k := range kinds {
		for _, n := range []int{10, 100, 1000, 10_000, 100_000} {
			units := n
			if strings.HasPrefix(k.name, "fields") {
				units = itemFields * max(1, n/itemFields)
			}
			w = append(w, Workload{
				Name: fmt.Sprintf("I-%s-%d", k.name, n), About: fmt.Sprintf("%s, %d of them", k.about, units), Unit: "set", Units: units,
				Kind: k.kind, New: func() any { return k.of(n) },
			})
		}
	}
	return w
}

// Tiny returns small workloads of every shape, for tests.
func Tiny() []Workload {
	w := []Workload{
		{Name: "A", New: func() any { return newMyTest(5) }},
		{Name: "A0", New: func() any { return newMyTest(0) }},
		{Name: "B", New: func() any { return newSmall() }},
		{Name: "C", New: func() any { return newBusiness(3, 32) }},
		{Name: "C1", New: func() any { return newBusiness(1, 0) }},
		{Name: "D", New: func() any { return newBlob(100) }},
		// So large that our builder refers to the binary instead of copying it
		{Name: "D5K", New: func() any { return newBlob(5000) }},
		{Name: "E", New: func() any { return newVStreamRows(7) }},
		{Name: "F", New: func() any { return newWriteRequest(20) }},
		{Name: "W7", New: func() any { return newWide(12, 7) }},
		{Name: "W", New: func() any { return newWide(11, 250) }},
		{Name: "I-fields-reverse", New: func() any { return newFieldOrder(30, false) }},
		{Name: "I-fields-random", New: func() any { return newFieldOrder(300, true) }},
		{Name: "I-words-reverse", New: func() any { return newWordOrder(20, false) }},
		{Name: "I-words-random", New: func() any { return newWordOrder(200, true) }},
		{Name: "I-edits", New: func() any { return newEdits(50) }},
	}
	for _, of := range []Workload{w[2], w[3], w[4]} {
		w = append(w, Workload{Name: "J-" + of.Name, Kind: (*JSON)(nil), New: func() any { return &JSON{of.New()} }})
	}
	for _, elem := range []string{"i64", "i32", "i16", "double"} {
		w = append(w, Workload{Name: "H-" + elem, New: func() any { return newBulk(elem, 37) }})
	}
	return w
}
