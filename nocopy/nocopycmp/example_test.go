package nocopycmp_test

import (
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/nocopythrift/nocopythrift/examples/quickstart/order"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopycmp"
)

func newOrder(article string) order.Order {
	o := order.NewOrder()
	o.SetID(7)
	o.NewLines(1).At(0).SetArticle(article)
	o.SetLabelsMap(map[string]string{"size": "A4"})
	return o
}

// The diff names fields as the IDL does.
func ExampleTransform() {
	diff := cmp.Diff(newOrder("pencil"), newOrder("paper"), nocopycmp.Transform())
	for _, line := range strings.Split(diff, "\n") {
		if strings.HasPrefix(line, "-") || strings.HasPrefix(line, "+") {
			fmt.Println(line[:1], strings.TrimSpace(strings.ReplaceAll(line[1:], "\u00a0", " ")))
		}
	}
	// Output:
	// - "article": string("pencil"),
	// + "article": string("paper"),
}

// Fields that differ from run to run are left out.
func ExampleIgnoreFields() {
	fmt.Println(cmp.Equal(newOrder("pencil"), newOrder("paper"), nocopycmp.Transform(),
		nocopycmp.IgnoreFields(order.Line{}, "article")))
	// Output: true
}

// The order of the lines does not count.
func ExampleSortRepeatedFields() {
	a, b := newOrder("pencil"), newOrder("paper")
	a.GetLines().AppendNew().SetArticle("paper")
	b.GetLines().AppendNew().SetArticle("pencil")
	fmt.Println(cmp.Equal(a, b, nocopycmp.Transform()))
	fmt.Println(cmp.Equal(a, b, nocopycmp.Transform(), nocopycmp.SortRepeatedFields(a, "lines")))
	// Output:
	// false
	// true
}
