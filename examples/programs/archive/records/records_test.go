package records_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/thrift/lib/go/thrift"

	"github.com/nocopythrift/nocopythrift/examples/programs/archive/invoice"
	"github.com/nocopythrift/nocopythrift/examples/programs/archive/records"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// add appends invoices with these numbers to a file.
func add(t *testing.T, name string, numbers ...int64) {
	t.Helper()
	w, err := records.Append(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range numbers {
		v := invoice.NewInvoice(nocopy.WithIndex)
		v.SetNumber(n)
		for i, line := range v.NewLines(500).All() {
			line.SetCount(int32(i))
		}
		v.NewBuyer().SetID(10 * n)
		if err := w.Append(n, v.Message()); err != nil {
			t.Fatal(err)
		}
		v.Release()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// check fails if the file has not just invoices with these numbers.
func check(t *testing.T, name string, numbers ...int64) {
	t.Helper()
	f, err := records.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Len() != len(numbers) {
		t.Fatalf("%d messages, not %d", f.Len(), len(numbers))
	}
	for i, n := range numbers {
		b, ok := f.Find(n)
		if !ok || !bytes.Equal(b, f.At(i)) || f.Key(i) != n {
			t.Fatalf("invoice %d: found %t", n, ok)
		}
		v, err := nocopy.OpenIndexed[invoice.Invoice](invoice.InvoiceDesc, b, nocopy.RequireIndex)
		if err != nil {
			t.Fatal(err)
		}
		if v.GetNumber() != n || v.GetBuyer().GetID() != 10*n || v.GetLines().At(321).GetCount() != 321 {
			t.Errorf("invoice %d reads as %d", n, v.GetNumber())
		}
		if err := v.Message().Index(); err != nil {
			t.Error(err)
		}
		v.Release()
	}
	for _, n := range []int64{-1, 4, 1 << 40} {
		if _, ok := f.Find(n); ok {
			t.Errorf("there is an invoice %d", n)
		}
	}
}

func TestRecords(t *testing.T) {
	name := filepath.Join(t.TempDir(), "invoices")
	add(t, name)
	check(t, name)
	add(t, name, 1, 2, 3)
	add(t, name, 5, 100)
	check(t, name, 1, 2, 3, 5, 100)
	w, err := records.Append(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(100, new(bytes.Buffer)); !errors.Is(err, records.ErrOrder) || w.Last() != 100 {
		t.Error(err)
	}
	w.Close()
}

// TestBrokenOff: a partly appended message is cut off.
func TestBrokenOff(t *testing.T) {
	name := filepath.Join(t.TempDir(), "invoices")
	add(t, name, 1, 2)
	for _, file := range []string{name, name + ".keys"} {
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteString("broken")
		f.Close()
	}
	check(t, name, 1, 2)
	add(t, name, 3)
	check(t, name, 1, 2, 3)
	if err := os.Truncate(name, 100); err != nil {
		t.Fatal(err)
	}
	if _, err := records.Append(name); err == nil {
		t.Error("a file that has become shorter is appended to")
	}
}

// TestWrongKeys: for any contents of the file of keys, nothing outside of the file is returned.
func TestWrongKeys(t *testing.T) {
	name := filepath.Join(t.TempDir(), "invoices")
	add(t, name, 1, 2, 3)
	keys, err := os.ReadFile(name + ".keys")
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range []uint64{0, 1, 1 << 20, 1 << 40, 1<<64 - 1} {
		binary.BigEndian.PutUint64(keys[16+8:], end)
		if err := os.WriteFile(name+".keys", keys, 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := records.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range f.Len() {
			if v, err := invoice.ParseInvoice(f.At(i), nocopy.ByIndex); err == nil {
				v.GetBuyer()
			}
			f.Find(int64(i))
		}
		f.Close()
	}
}

// TestPlainThrift: Apache Thrift's library reads the messages one after the other, knowing nothing
// of their indexes.
func TestPlainThrift(t *testing.T) {
	name := filepath.Join(t.TempDir(), "invoices")
	add(t, name, 1, 2, 7)
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	in, ctx := &thrift.TMemoryBuffer{Buffer: bytes.NewBuffer(b)}, context.Background()
	p := thrift.NewTBinaryProtocolConf(in, nil)
	for _, n := range []int64{1, 2, 7} {
		number, ids := int64(0), 0
		if _, err := p.ReadStructBegin(ctx); err != nil {
			t.Fatal(err)
		}
		for {
			_, typ, id, err := p.ReadFieldBegin(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if typ == thrift.STOP {
				break
			}
			if ids++; id == 1 {
				number, err = p.ReadI64(ctx)
			} else {
				err = p.Skip(ctx, typ)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if number != n || ids != 6 {
			t.Errorf("invoice %d reads as %d, of %d fields", n, number, ids)
		}
	}
	if in.Len() != 0 {
		t.Errorf("%d bytes are left", in.Len())
	}
}
