package nocopycmp_test

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/nocopythrift/nocopythrift/examples/quickstart/order"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
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

// IgnoreFields ignores fields that differ from run to run.
func ExampleIgnoreFields() {
	fmt.Println(cmp.Equal(newOrder("pencil"), newOrder("paper"), nocopycmp.Transform(),
		nocopycmp.IgnoreFields(order.Line{}, "article")))
	// Output: true
}

// The order of the lines is ignored.
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

// Prices may differ by a cent.
func ExampleFilterField() {
	a, b := newOrder("paper"), newOrder("paper")
	a.GetLines().At(0).SetPrice(2.5)
	b.GetLines().At(0).SetPrice(2.505)
	cents := cmpopts.EquateApprox(0, 0.01)
	fmt.Println(cmp.Equal(a, b, nocopycmp.Transform(), nocopycmp.FilterField(order.Line{}, "price", cents)))
	fmt.Println(cmp.Equal(a, b, nocopycmp.Transform(), nocopycmp.FilterField(order.Line{}, "count", cents)))
	// Output:
	// true
	// false
}

// An unset field equals a field that is set to its default.
func ExampleIgnoreDefaults() {
	a, b := newOrder("paper"), newOrder("paper")
	a.SetCustomer("")
	fmt.Println(cmp.Equal(a, b, nocopycmp.Transform()))
	fmt.Println(cmp.Equal(a, b, nocopycmp.Transform(), nocopycmp.IgnoreDefaults()))
	// Output:
	// false
	// true
}

// Fields that a newer program has added to the messages are ignored.
func ExampleIgnoreUnknown() {
	a := newOrder("paper")
	newer := append(bytes.TrimSuffix(a.AppendTo(nil), []byte{0}), 3, 0, 99, 1, 0) // field 99: i8 1
	b, err := order.ParseOrder(newer)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cmp.Equal(a, b, nocopycmp.Transform()))
	fmt.Println(cmp.Equal(a, b, nocopycmp.Transform(), nocopycmp.IgnoreUnknown()))
	// Output:
	// false
	// true
}

// Lists of texts are compared in any order.
func ExampleSortRepeated() {
	s, err := dynamic.LoadText(map[string]string{"post.thrift": "struct Post { 1: list<string> tags }"})
	if err != nil {
		fmt.Println(err)
		return
	}
	post, err := s.Struct("Post")
	if err != nil {
		fmt.Println(err)
		return
	}
	a, _ := post.FromJSON([]byte(`{"tags": ["new", "red"]}`))
	b, _ := post.FromJSON([]byte(`{"tags": ["red", "new"]}`))
	less := func(a, b string) bool { return a < b }
	fmt.Println(cmp.Equal(a, b, nocopycmp.Transform(), nocopycmp.SortRepeated(less)))
	// Output: true
}
