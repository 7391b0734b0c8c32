package messages_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/nocopythrift/nocopythrift/examples/programs/archive/invoice"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
)

// indexID is the id of the field that holds an index.
const indexID = -32000

// fillInvoice makes v an invoice of some KB.
func fillInvoice(v invoice.Invoice, number int64) {
	v.SetNumber(number)
	lines := v.NewLines(200)
	for i := range lines.Len() {
		lines.At(i).SetArticle(fmt.Sprintf("article %d of %d", i, number))
		lines.At(i).SetCount(int32(i))
	}
	labels := v.NewLabels(30)
	for i := range 30 {
		labels.Put(fmt.Sprint("label ", i), fmt.Sprint("value ", i+int(number)))
	}
	v.NewSeller().SetName(fmt.Sprint("seller ", number))
	v.SetTotal(float64(number) / 2)
}

// indexedWays are the ways to get an invoice that has, or had, an index.
var indexedWays = map[string]func(t testing.TB, plain []byte) invoice.Invoice{
	"plain":              parsedWay(false),
	"with the field":     parsedWay(true),
	"lazy":               parsedWay(true, nocopy.Lazy),
	"by index":           parsedWay(true, nocopy.RequireIndex),
	"by index, recycled": parsedWay(true, nocopy.RequireIndex, nocopy.Recycle),
	"with index":         parsedWay(false, nocopy.WithIndex),
	"with another index": parsedWay(true, nocopy.WithIndex, nocopy.Own),
}

func parsedWay(index bool, opts ...nocopy.Option) func(t testing.TB, plain []byte) invoice.Invoice {
	return func(t testing.TB, plain []byte) invoice.Invoice {
		parse := func(b []byte, opts ...nocopy.Option) invoice.Invoice {
			v, err := invoice.ParseInvoice(b, opts...)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		b := bytes.Clone(plain)
		if index {
			b = parse(b, nocopy.WithIndex).Message().AppendTo(nil)
		}
		return parse(b, opts...)
	}
}

// sentIndex fails the test if v is sent with an index that does not fit. It reports whether v is
// sent with an index.
func sentIndex(t *testing.T, v invoice.Invoice) bool {
	t.Helper()
	b := v.Message().AppendTo(nil)
	_, err := nocopy.Peek(b, indexID)
	if errors.Is(err, nocopy.ErrNotFound) {
		return false
	}
	s, err := nocopy.OpenIndexed[invoice.Invoice](invoice.InvoiceDesc, b, nocopy.RequireIndex)
	if err == nil {
		defer s.Release()
		err = s.Message().Index()
	}
	if err != nil {
		t.Errorf("goes out with an index that does not fit: %v", err)
	}
	return true
}

// TestIndexed: merging, copying, comparing and masks give the same results for messages with an
// index. Changed messages are sent without an index, or with a new one.
func TestIndexed(t *testing.T) {
	wire := func(number int64) []byte {
		v := invoice.NewInvoice()
		fillInvoice(v, number)
		return v.AppendTo(nil)
	}
	mask := messages.MustMask(invoice.InvoiceDesc, "seller.name,lines[3],labels[\"label 1\"]")
	ops := map[string]func(dst, src invoice.Invoice) error{
		"Merge":        func(dst, src invoice.Invoice) error { messages.Merge(dst, src); return nil },
		"Merge part":   func(dst, src invoice.Invoice) error { messages.Merge(dst.NewBuyer(), src.GetSeller()); return nil },
		"Merge itself": func(dst, _ invoice.Invoice) error { messages.Merge(dst, dst); return nil },
		"CopyInto":     func(dst, src invoice.Invoice) error { messages.CopyInto(dst, src); return nil },
		"CopyInto nil": func(dst, _ invoice.Invoice) error { messages.CopyInto(dst, invoice.Invoice{}); return nil },
		"CopyInto line": func(dst, src invoice.Invoice) error {
			messages.CopyInto(dst.GetLines().At(7), src.GetLines().At(150))
			return nil
		},
		"Keep": func(dst, _ invoice.Invoice) error { mask.Keep(dst); return nil },
		"Drop": func(dst, _ invoice.Invoice) error { mask.Drop(dst); return nil },
		"Copy": func(dst, src invoice.Invoice) error { return mask.Copy(dst, src) },
		"Set": func(dst, _ invoice.Invoice) error {
			return messages.MustMask(invoice.InvoiceDesc, "lines[*].article").Set(dst, "other")
		},
		"reflection": func(dst, src invoice.Invoice) error {
			line, err := reflection.Of(src).Lookup("lines[3].article")
			if err != nil || line.Interface() != "article 3 of 2" {
				return fmt.Errorf("line 3 is %v; %v", line, err)
			}
			return errors.Join(reflection.Of(dst.GetLines().At(0)).Set("article", "other"),
				reflection.Of(dst).Set("total", 3.5), reflection.Of(dst).Set("seller", src.GetSeller()))
		},
		"lists": func(dst, src invoice.Invoice) error {
			dst.SetLines(src.GetLines())
			dst.SetLabels(src.GetLabels())
			return nil
		},
		"UnmarshalJSON": func(dst, src invoice.Invoice) error {
			b, err := src.MarshalJSON()
			return errors.Join(err, dst.UnmarshalJSON(b))
		},
	}
	first, second := wire(1), wire(2)
	for name, op := range ops {
		want := indexedWays["plain"](t, first)
		if err := op(want, indexedWays["plain"](t, second)); err != nil {
			t.Fatal(err)
		}
		for to, dstOf := range indexedWays {
			for from, srcOf := range indexedWays {
				if !testmode.Long && from != "by index" && (from != "with index" || to != "by index") {
					continue
				}
				dst, src := dstOf(t, first), srcOf(t, second)
				if err := op(dst, src); err != nil {
					t.Fatalf("%s of a message %s into one %s: %v", name, from, to, err)
				}
				if !messages.Equal(dst, want) || !messages.Equal(want, dst) || dst.String() != want.String() {
					t.Errorf("%s of a message %s into one %s reads as\n%.200v not\n%.200v", name, from, to, dst, want)
				}
				a, err := dst.MarshalJSON()
				if b, wantErr := want.MarshalJSON(); err != nil || wantErr != nil || !bytes.Equal(a, b) {
					t.Errorf("%s of a message %s into one %s: JSON differs; %v, %v", name, from, to, err, wantErr)
				}
				if sentIndex(t, dst) && !slices.Contains([]string{"with index", "with another index"}, to) && name != "UnmarshalJSON" {
					t.Errorf("%s of a message %s into one %s: it goes out with an index", name, from, to)
				}
				for id := range dst.Unknown() {
					t.Errorf("%s of a message %s into one %s: field %d is unknown", name, from, to, id)
				}
				dst.Release()
				src.Release()
			}
		}
	}
}
