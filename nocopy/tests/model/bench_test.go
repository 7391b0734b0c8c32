package model_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/nocopythrift/nocopythrift/examples/quickstart/order"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// Benchmarks of the basic operations, by generated code. Directory bench compares with other
// libraries.

// benchWire returns an order of n lines: about 40 bytes, plus 43 per line.
func benchWire(n int) []byte {
	o := order.NewOrder()
	defer o.Release()
	fillOrder(o, n)
	return o.Message().AppendTo(nil)
}

// fillOrder fills an order as a program would.
func fillOrder(o order.Order, n int) {
	o.SetID(4711)
	o.SetCustomer("Ada Lovelace")
	lines := o.NewLines(n)
	for i := range n {
		l := lines.At(i)
		l.SetArticle("analytical engine")
		l.SetCount(int32(i))
		l.SetPrice(1.5)
	}
}

// benchParsed returns a parsed order of n lines.
func benchParsed(b *testing.B, n int, opts ...nocopy.Option) order.Order {
	b.Helper()
	o, err := order.ParseOrder(benchWire(n), opts...)
	if err != nil {
		b.Fatal(err)
	}
	return o
}

func BenchmarkParse(b *testing.B) {
	for _, lines := range []int{1, 100} {
		wire := benchWire(lines)
		for _, v := range []struct {
			name string
			opts []nocopy.Option
		}{{"all", nil}, {"lazy", []nocopy.Option{nocopy.Lazy}}, {"recycle", []nocopy.Option{nocopy.Recycle}}} {
			b.Run(fmt.Sprintf("%d lines/%s", lines, v.name), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(wire)))
				for b.Loop() {
					o, err := order.ParseOrder(wire, v.opts...)
					if err != nil {
						b.Fatal(err)
					}
					o.Release()
				}
			})
		}
	}
}

func BenchmarkGet(b *testing.B) {
	o := benchParsed(b, 100)
	lines := o.GetLines()
	for _, v := range []struct {
		name string
		get  func() int64
	}{
		{"scalar", func() int64 { return o.GetID() }},
		{"string", func() int64 { return int64(len(o.GetCustomer())) }},
		{"element", func() int64 { return int64(lines.At(50).GetCount()) }},
		{"all elements", func() (n int64) {
			for _, l := range lines.All() {
				n += int64(l.GetCount())
			}
			return n
		}},
	} {
		b.Run(v.name, func(b *testing.B) {
			for b.Loop() {
				if v.get() == 0 {
					b.Fatal("not set")
				}
			}
		})
	}
}

// BenchmarkSet sets fields of a received message that were already changed.
func BenchmarkSet(b *testing.B) {
	o := benchParsed(b, 100)
	l := o.GetLines().At(50)
	for _, v := range []struct {
		name string
		set  func(i int)
	}{
		{"scalar", func(i int) { o.SetID(int64(i)) }},
		{"string", func(i int) { o.SetCustomer("Charles Babbage") }},
		{"element", func(i int) { l.SetCount(int32(i)) }},
	} {
		b.Run(v.name, func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				v.set(i)
				i++
			}
		})
	}
}

func BenchmarkBuild(b *testing.B) {
	for _, v := range []struct {
		name string
		fill func(o order.Order)
	}{
		{"struct", func(o order.Order) { fillOrder(o, 0) }},
		{"list of 100 structs", func(o order.Order) { fillOrder(o, 100) }},
		{"map of 100 strings", func(o order.Order) {
			labels := o.NewLabels()
			for _, k := range benchKeys {
				labels.Put(k, "value")
			}
		}},
	} {
		b.Run(v.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				o := order.NewOrder()
				v.fill(o)
				o.Message().Finish()
				o.Release()
			}
		})
	}
}

var benchKeys = func() (keys []string) {
	for i := range 100 {
		keys = append(keys, fmt.Sprint("key ", i))
	}
	return keys
}()

// BenchmarkEdit receives a message, changes three of its fields, and sends it on.
func BenchmarkEdit(b *testing.B) {
	wire := benchWire(100)
	b.ReportAllocs()
	b.SetBytes(int64(len(wire)))
	for b.Loop() {
		o, err := order.ParseOrder(wire)
		if err != nil {
			b.Fatal(err)
		}
		o.SetID(1)
		o.SetCustomer("Charles Babbage")
		o.GetLines().At(50).SetArticle("difference engine")
		if _, err := o.Message().WriteTo(io.Discard); err != nil {
			b.Fatal(err)
		}
		o.Release()
	}
}

// BenchmarkWriteTo writes a finished message to a Writer that takes no time.
func BenchmarkWriteTo(b *testing.B) {
	o := benchParsed(b, 100)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := o.Message().WriteTo(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkClone(b *testing.B) {
	o := benchParsed(b, 100)
	b.ReportAllocs()
	b.SetBytes(int64(o.Message().Len()))
	for b.Loop() {
		o.Clone().Release()
	}
}
