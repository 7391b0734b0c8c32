package nocopy_test

import (
	"fmt"

	"github.com/nocopythrift/nocopythrift/examples/quickstart/order"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// lines returns the lines of an order.
func lines() nocopy.StructList[order.Line] {
	o, err := order.ParseOrder(anOrder())
	if err != nil {
		panic(err)
	}
	return o.GetLines()
}

// Column reads one field of all lines. The slices are kept for the next order.
func ExampleColumn() {
	var articles []string
	var counts []int32
	articles = nocopy.Column(articles[:0], lines(), 1)
	counts = nocopy.Column(counts[:0], lines(), 2)
	fmt.Printf("%q %d\n", articles, counts)
	// Output: ["engine" "cards"] [0 100]
}

// TextColumn copies the texts, one after another. A second list continues the column.
func ExampleTextColumn() {
	offsets, data := nocopy.TextColumn(nil, nil, lines(), 1)
	offsets, data = nocopy.TextColumn(offsets, data, lines(), 1)
	fmt.Printf("%d %s\n", offsets, data)
	fmt.Printf("%s\n", data[offsets[1]:offsets[2]])
	// Output:
	// [0 6 11 17 22] enginecardsenginecards
	// cards
}

// ColumnValidity reports which lines have a count. A second list continues the column, which has
// two bits already.
func ExampleColumnValidity() {
	bits := nocopy.ColumnValidity(nil, 0, lines(), 2)
	bits = nocopy.ColumnValidity(bits, 2, lines(), 2)
	fmt.Printf("%b\n", bits)
	// Output: [1111]
}
