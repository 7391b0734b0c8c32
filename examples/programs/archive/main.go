// Command archive keeps invoices in a file: each is an ordinary Thrift message with an index of
// its own (nocopy.WithIndex). A field of any of them is read from the mapped file without a scan.
//
//	go run -C examples/programs/archive . -append 10000 /tmp/invoices
//	go run -C examples/programs/archive . -find 4711 /tmp/invoices
//	go run -C examples/programs/archive . -measure /tmp/invoices
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/nocopythrift/nocopythrift/examples/programs/archive/invoice"
	"github.com/nocopythrift/nocopythrift/examples/programs/archive/records"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

//go:generate go run -C ../../.. ./gen/nocopyc -o examples/programs/archive examples/programs/archive/archive.thrift

func main() {
	n := flag.Int("append", 0, "append this many made-up invoices")
	number := flag.Int64("find", 0, "print some of the invoice with this number")
	measure := flag.Bool("measure", false, "look up invoices for a while, with and without the index")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(os.Stdout, flag.Arg(0), *n, *number, *measure); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run does what the flags say with the file of this name, and writes to w.
func run(w io.Writer, name string, n int, number int64, measure bool) error {
	if n > 0 {
		if err := add(name, n); err != nil {
			return err
		}
	}
	if number == 0 && !measure {
		return nil
	}
	f, err := records.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if number != 0 {
		if err := show(w, f, number); err != nil {
			return err
		}
	}
	if measure {
		return compare(w, f)
	}
	return nil
}

// add appends n invoices, with numbers from the last one on.
func add(name string, n int) error {
	w, err := records.Append(name)
	if err != nil {
		return err
	}
	defer w.Close()
	for range n {
		v := made(w.Last() + 1)
		err := w.Append(v.GetNumber(), v.Message())
		v.Release()
		if err != nil {
			return err
		}
	}
	return w.Close()
}

// made returns a made-up invoice of some 20 KB.
func made(number int64) invoice.Invoice {
	v := invoice.NewInvoice(nocopy.Recycle, nocopy.WithIndex)
	v.SetNumber(number)
	v.SetTime(1_700_000_000 + number)
	lines, total := v.NewLines(300), 0.0
	for i := range lines.Len() {
		line := lines.At(i)
		line.SetArticle(fmt.Sprintf("article %d of invoice %d", i, number))
		line.SetCount(int32(i%7 + 1))
		line.SetPrice(float64(i) / 4)
		total += line.GetPrice() * float64(line.GetCount())
	}
	labels := v.NewLabels(40)
	for i := range 40 {
		labels.Put(fmt.Sprint("label-", i), fmt.Sprint("value ", number, " of it"))
	}
	for i, p := range []invoice.Party{v.NewBuyer(), v.NewSeller()} {
		p.SetID(number + int64(i))
		p.SetName(fmt.Sprint("party ", number+int64(i), ", of some length, as names of companies have"))
		p.SetCountry([]string{"Chile", "Finland", "Kenya"}[(number+int64(i))%3])
	}
	v.SetTotal(total)
	return v
}

// show prints some fields of an invoice. It wants the index: without, it would scan all of it.
func show(w io.Writer, f *records.File, number int64) error {
	b, ok := f.Find(number)
	if !ok {
		return fmt.Errorf("there is no invoice %d", number)
	}
	v, err := nocopy.OpenIndexed[invoice.Invoice](invoice.InvoiceDesc, b, nocopy.RequireIndex)
	if err != nil {
		return err
	}
	defer v.Release()
	lines := v.GetLines()
	fmt.Fprintf(w, "%s buys from %s (%s), %.2f in all\n", v.GetBuyer().GetName(), v.GetSeller().GetName(), v.GetSeller().GetCountry(), v.GetTotal())
	fmt.Fprintf(w, "line %d of %d: %s\n", lines.Len()/2, lines.Len(), lines.At(lines.Len()/2).GetArticle())
	return nil
}

var byIndex = []nocopy.Option{nocopy.RequireIndex, nocopy.Recycle}

// compare looks up three nested fields of random invoices, in several ways.
func compare(w io.Writer, f *records.File) error {
	if f.Len() == 0 {
		return errors.New("there are no invoices")
	}
	for _, way := range []struct {
		name string
		opts []nocopy.Option
	}{
		{"by the index", byIndex},
		{"scanned (Lazy)", []nocopy.Option{nocopy.Lazy, nocopy.Recycle}},
		{"parsed", []nocopy.Option{nocopy.Recycle}},
	} {
		const rounds = 20000
		start := time.Now()
		for range rounds {
			if _, err := three(f.At(rand.IntN(f.Len())), way.opts...); err != nil {
				return err
			}
		}
		fmt.Fprintf(w, "%-15s %v for three fields of a random invoice\n", way.name, time.Since(start)/rounds)
	}
	return nil
}

// three reads three nested fields of an invoice and returns a number that depends on all of them.
func three(b []byte, opts ...nocopy.Option) (int, error) {
	v, err := invoice.ParseInvoice(b, opts...)
	if err != nil {
		return 0, err
	}
	n := len(v.GetBuyer().GetName()) + len(v.GetSeller().GetCountry()) + int(v.GetTotal())
	v.Release()
	return n, nil
}
