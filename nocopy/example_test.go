package nocopy_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/nocopythrift/nocopythrift/examples/quickstart/order"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// anOrder returns the wire bytes of an order.
func anOrder() []byte {
	o := order.NewOrder()
	defer o.Release()
	o.SetID(4711)
	o.SetCustomer("Ada")
	lines := o.NewLines(2)
	lines.At(0).SetArticle("engine")
	lines.At(1).SetArticle("cards")
	lines.At(1).SetCount(100)
	return o.Message().AppendTo(nil)
}

// A message is built and sent; its bytes are read, edited and sent on.
func Example() {
	var conn bytes.Buffer
	o := order.NewOrder()
	o.SetCustomer("Ada")
	lines := o.NewLines(1) // a list of one empty Line
	lines.At(0).SetArticle("engine")
	_, err := o.Message().WriteTo(&conn) // or Bytes, AppendTo, WriteFrame
	o.Release()                          // gives its memory back

	o, err = order.ParseOrder(conn.Bytes()) // checks all bytes and copies none
	if err != nil {
		fmt.Println(err) // an *Error: what is wrong, at which offset, in which field
		return
	}
	defer o.Release()
	for _, line := range o.GetLines().All() {
		fmt.Println(line.GetArticle(), line.GetCount()) // getters can't fail
	}
	o.SetCustomer("Ada Lovelace") // the bytes that were parsed stay as they are
	fmt.Println(o)
	// Output:
	// engine 0
	// {id: 0, customer: "Ada Lovelace", lines: [{article: "engine", count: 0, price: 0}]}
}

// A message is built in place: setters append to its wire bytes.
func Example_build() {
	o := order.NewOrder()
	defer o.Release()
	o.SetID(4711)
	o.SetCustomer("Ada")
	lines := o.NewLines(0) // or NewLines(2) and At
	for _, article := range []string{"engine", "cards"} {
		line := lines.AppendNew()
		line.SetArticle(article)
		line.SetCount(1)
	}
	fmt.Println(o)

	var conn bytes.Buffer
	n, err := o.Message().WriteTo(&conn)
	fmt.Println(n, err)
	// Output:
	// {id: 4711, customer: "Ada", lines: [{article: "engine", count: 1, price: 0}, {article: "cards", count: 1, price: 0}]}
	// 93 <nil>
}

// nocopyc -fields generates structs of plain values. One call makes a message or list from them.
func Example_fields() {
	o := order.NewOrderOf(order.OrderFields{
		ID: 4711, Customer: "Ada", Labels: []nocopy.Pair[string, string]{{Key: "via", Value: "post"}},
	})
	defer o.Release()
	articles := []string{"engine", "cards"}
	o.SetLinesBy(len(articles), func(i int) order.LineFields {
		return order.LineFields{Article: articles[i], Count: int32(i) + 1}
	})
	o.GetLines().At(0).SetPrice(0.5) // like any other message
	fmt.Println(o)

	o.SetLinesOf([]order.LineFields{{Article: "oil", Count: 3}}) // replaces the lines
	o.GetLines().At(0).Set(order.LineFields{Article: "grease"})
	fmt.Println(o.GetLines())
	// Output:
	// {id: 4711, customer: "Ada", lines: [{article: "engine", count: 1, price: 0.5}, {article: "cards", count: 2, price: 0}], labels: {"via": "post"}}
	// [{article: "grease", count: 0, price: 0}]
}

// Parsing checks all bytes once and copies nothing; afterwards no getter can fail.
func Example_parse() {
	o, err := order.ParseOrder(anOrder())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer o.Release()
	fmt.Println(o.GetID(), o.GetCustomer(), o.GetLines().Len(), o.IsSetDocument())
	for i, line := range o.GetLines().All() {
		fmt.Println(i, line.GetArticle(), line.GetCount())
	}
	// Output:
	// 4711 Ada 2 false
	// 0 engine 0
	// 1 cards 100
}

// A received message is changed in place. Unchanged bytes are sent as they came.
func Example_edit() {
	o, err := order.ParseOrder(anOrder())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer o.Release()
	o.SetCustomer("Ada Lovelace")
	o.GetLines().At(0).SetCount(1)
	o.GetLines().AppendNew().SetArticle("oil")
	o.GetLines().Delete(1, 2)
	fmt.Println(o)
	// Output: {id: 4711, customer: "Ada Lovelace", lines: [{article: "engine", count: 1, price: 0}, {article: "oil", count: 0, price: 0}]}
}

// A proxy parses a message, changes a field, and writes it to the next server. All other bytes are
// sent from the memory that they were received into.
func Example_forward() {
	received := anOrder()
	o, err := order.ParseOrder(received)
	if err != nil {
		fmt.Println(err)
		return
	}
	o.NewLabels().Put("via", "proxy")
	var next bytes.Buffer // or a connection
	_, err = o.Message().WriteTo(&next)
	o.Release() // after it was written

	fmt.Println(next.Len()-len(received), err)
	// Output: 25 <nil>
}

// A part of one message is put into another. It is not copied if it is large; each message may be
// released and changed without harm to the other.
func Example_partOfAnother() {
	from, err := order.ParseOrder(anOrder())
	if err != nil {
		fmt.Println(err)
		return
	}
	to := order.NewOrder()
	to.SetID(4712)
	to.SetLines(from.GetLines())
	from.GetLines().At(0).SetArticle("other engine")
	from.Release()
	fmt.Println(to)
	to.Release()
	// Output: {id: 4712, lines: [{article: "engine", count: 0, price: 0}, {article: "cards", count: 100, price: 0}]}
}

// Peek finds one value without parsing the rest. The path consists of field ids and indexes.
func ExamplePeek() {
	wire := anOrder()
	article, err := nocopy.Peek(wire, 3, 1, 1) // lines, the second one, its article
	fmt.Println(article.Text(), err)
	_, err = nocopy.Peek(wire, 4)
	fmt.Println(errors.Is(err, nocopy.ErrNotFound))
	// Output:
	// cards <nil>
	// true
}

// PeekAll finds several values in one pass.
func ExamplePeekAll() {
	values, err := nocopy.PeekAll(nil, order.OrderDesc, anOrder(), []int{1}, []int{3, 1, 1}, []int{4})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(values[0].Int64(), values[1].Text())
	fmt.Println(values[2].Type == 0) // there is no field 4
	// Output:
	// 4711 cards
	// true
}

// Lazy indexes the fields of the message. The contents of lists and structs are indexed when they
// are first read. It suits programs that read little of large messages.
func Example_lazy() {
	o, err := order.ParseOrder(anOrder(), nocopy.Lazy)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer o.Release()
	fmt.Println(o.GetCustomer())
	fmt.Println(o.GetLines().At(1).GetArticle()) // indexes the list

	// Index the rest before other goroutines read.
	fmt.Println(o.Message().Index())
	// Output:
	// Ada
	// cards
	// <nil>
}

func ExampleWithIndex() {
	o := order.NewOrder(nocopy.WithIndex)
	lines := o.NewLines(1000)
	for i := range lines.Len() {
		lines.At(i).SetArticle(fmt.Sprint("article ", i))
	}
	b := o.Message().AppendTo(nil) // of 4 KiB or more, so it has an index
	o.Release()

	// The bytes may be a mapped file: only the pages that hold the values are touched.
	indexed, err := order.ParseOrder(b, nocopy.ByIndex)
	if err != nil {
		panic(err)
	}
	defer indexed.Release()
	fmt.Println(indexed.GetLines().At(700).GetArticle())
	fmt.Println(indexed.Message().Index()) // checks all of it
	// Output:
	// article 700
	// <nil>
}

func ExampleOpenIndexed() {
	o := order.NewOrder()
	o.SetCustomer("Ada")
	small := o.Message().AppendTo(nil)
	o.Release()

	// Without an index OpenIndexed parses everything. RequireIndex makes that an error.
	o, err := nocopy.OpenIndexed[order.Order](order.OrderDesc, small)
	fmt.Println(o.GetCustomer(), err)
	_, err = nocopy.OpenIndexed[order.Order](order.OrderDesc, small, nocopy.RequireIndex)
	fmt.Println(errors.Is(err, nocopy.ErrIndex))
	// Output:
	// Ada <nil>
	// true
}

// Strings that were read stay valid, unless the message recycles its memory. Then they end with
// Release; clone those that you keep.
func Example_recycle() {
	safe, err := order.ParseOrder(anOrder())
	if err != nil {
		fmt.Println(err)
		return
	}
	customer := safe.GetCustomer()
	safe.Release()
	fmt.Println(customer)

	recycled, err := order.ParseOrder(anOrder(), nocopy.Recycle)
	if err != nil {
		fmt.Println(err)
		return
	}
	customer = strings.Clone(recycled.GetCustomer())
	recycled.Release()
	fmt.Println(customer)

	// In both cases handles end with Release.
	defer func() { fmt.Printf("%.32s\n", recover()) }()
	recycled.GetID()
	// Output:
	// Ada
	// Ada
	// nocopy: Order used after Release
}

// A message in Thrift's compact protocol is read, edited, and sent on in the same protocol.
func ExampleMessage_AppendCompact() {
	compact := []byte("\x16\xce\x49\x18\x03Ada\x00") // 1: 4711, 2: "Ada"
	o, err := order.ParseOrder(compact, nocopy.Compact)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer o.Release()
	fmt.Println(o)
	o.SetCustomer("Ada Lovelace")
	fmt.Printf("%q\n", o.Message().AppendCompact(nil))
	// Output:
	// {id: 4711, customer: "Ada"}
	// "\x16\xceI\x18\fAda Lovelace\x00"
}

// Fields that the IDL does not know are kept and sent on.
func Example_unknownFields() {
	wire := anOrder()
	newer := append(wire[:len(wire)-1], 8, 0, 6, 0, 0, 0, 7, 0) // 6: i32 7, and STOP
	o, err := order.ParseOrder(newer)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer o.Release()
	for id, v := range o.Unknown() {
		fmt.Println(id, v.Int32())
	}
	o.SetID(1)
	again, err := order.ParseOrder(o.Message().Bytes())
	for id, v := range again.Unknown() {
		fmt.Println(id, v.Int32(), err)
	}
	// Output:
	// 6 7
	// 6 7 <nil>
}

// A union has one field. Setting another field unsets it.
func Example_union() {
	p := order.NewPayment()
	defer p.Release()
	p.SetVoucher(7)
	p.SetCard("4711 0815")
	switch p.Which() {
	case order.Payment_Card:
		fmt.Println("card", p.GetCard())
	case order.Payment_Voucher:
		fmt.Println("voucher", p.GetVoucher())
	}
	fmt.Println(p.IsSetVoucher())
	// Output:
	// card 4711 0815
	// false
}

// Lookups search the wire bytes of a map. Large maps get a hash table at the first lookup.
func Example_map() {
	o := order.NewOrder()
	defer o.Release()
	labels := o.NewLabels()
	labels.Put("urgent", "no")
	labels.Put("colour", "brass")
	labels.Put("urgent", "yes") // replaces
	urgent, ok := labels.Get("urgent")
	fmt.Println(urgent, ok, labels.Len())
	fmt.Println(labels.Delete("colour"), labels.Delete("size"))
	for k, v := range labels.All() {
		fmt.Println(k, v)
	}
	// Output:
	// yes true 2
	// true false
	// urgent yes
}

// A Decoder reads messages one after another. These are framed, as WriteFrame writes them.
func ExampleDecoder() {
	var stream bytes.Buffer
	for id := range int64(3) {
		o := order.NewOrder()
		o.SetID(id)
		o.SetLabelsMap(map[string]string{"urgent": "yes"})
		o.Message().WriteFrame(&stream)
		o.Release()
	}
	d := nocopy.NewFrameDecoder[order.Order](&stream, nocopy.Recycle)
	for o, err := range d.All() {
		if err != nil {
			fmt.Println(err, "in the message at", d.Offset())
			break
		}
		fmt.Println(o)
		o.Release()
	}
	// Output:
	// {id: 0, labels: {"urgent": "yes"}}
	// {id: 1, labels: {"urgent": "yes"}}
	// {id: 2, labels: {"urgent": "yes"}}
}

// A program that handles one message after another may keep a Message of its own and fill it again
// and again, which costs least. Filling it ends its previous contents, except strings that were
// read.
func ExampleParseInto() {
	var in, out nocopy.Message
	var last order.Order
	for _, wire := range [][]byte{anOrder(), anOrder()} {
		o, err := nocopy.ParseInto[order.Order](&in, wire)
		if err != nil {
			fmt.Println(err)
			continue
		}
		reply := nocopy.NewInto[order.Order](&out)
		reply.SetID(o.GetID())
		reply.SetLabelsMap(map[string]string{"customer": o.GetCustomer()})
		fmt.Println(reply, out.Len(), "bytes")
		last = o
	}
	in.Reset() // also drops the reference to the bytes
	defer func() { fmt.Printf("%.32s\n", recover()) }()
	last.GetID()
	// Output:
	// {id: 4711, labels: {"customer": "Ada"}} 40 bytes
	// {id: 4711, labels: {"customer": "Ada"}} 40 bytes
	// nocopy: Order used after Release
}

// An error for bad data says where the data is bad, and why.
func ExampleError() {
	wire := anOrder()
	_, err := order.ParseOrder(wire[:len(wire)-20])
	fmt.Println(err)

	_, err = order.ParseOrder(wire, nocopy.Limits{MaxBytes: 50})
	fmt.Println(errors.Is(err, nocopy.ErrLimit))

	var bad *nocopy.Error
	_, err = order.ParseOrder([]byte{0})
	if errors.As(err, &bad) {
		fmt.Printf("%s: %v\n", bad.Path, bad.Err)
	}
	// Output:
	// nocopy: Order.lines[1].price: offset 73: unexpected EOF
	// true
	// Order.id: required field is missing
}

// A message in a log of log/slog is a group of its fields; %+v prints it indented.
func Example_log() {
	o, err := order.ParseOrder(anOrder())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer o.Release()
	withoutTime := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: withoutTime}))
	log.Info("order came", "order", o)
	fmt.Printf("%+v\n", o.GetLines().At(0))
	// Output:
	// level=INFO msg="order came" order.id=4711 order.customer=Ada order.lines="[map[article:engine count:0 price:0] map[article:cards count:100 price:0]]"
	// {
	//   article: "engine"
	//   count: 0
	//   price: 0
	// }
}
