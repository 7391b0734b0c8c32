package parse_test

import (
	"fmt"
	"os"
	"runtime/debug"
	"syscall"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// fenced returns n bytes, at most a page, with inaccessible memory just after them.
func fenced(t *testing.T) func(n int) []byte {
	t.Helper()
	page := os.Getpagesize()
	b, err := syscall.Mmap(-1, 0, 2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(b); err != nil {
			t.Error(err)
		}
	})
	if err := syscall.Mprotect(b[page:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return func(n int) []byte { return b[page-n : page : page] }
}

// TestReadsInside: parsing reads no byte after a message, wherever that is cut off. The system
// would stop the test.
func TestReadsInside(t *testing.T) {
	label, flat, root := schema.NewStruct("Label"), schema.NewStruct("Flat"), schema.NewStruct("Root")
	label.Define(schema.FieldDesc{ID: 1, Name: "name", Type: schema.TypeString}, schema.FieldDesc{ID: 2, Name: "value", Type: schema.TypeString})
	flat.Define(schema.FieldDesc{ID: 1, Name: "id", Type: schema.TypeI64}, schema.FieldDesc{ID: 2, Name: "name", Type: schema.TypeString},
		schema.FieldDesc{ID: 3, Name: "flag", Type: schema.TypeBool})
	types := []*schema.Type{
		schema.ListOf(schema.StructOf(label)), schema.ListOf(schema.StructOf(flat)), schema.ListOf(schema.TypeString),
		schema.MapOf(schema.TypeString, schema.TypeString), schema.StructOf(flat), schema.ListOf(schema.TypeI16), schema.SetOf(schema.TypeI32),
		schema.MapOf(schema.TypeI32, schema.ListOf(schema.TypeString)), schema.StructOf(shapeDesc), schema.TypeString, schema.TypeI8,
		schema.ListOf(schema.ListOf(schema.TypeI32)),
	}
	var fields []schema.FieldDesc
	for i, typ := range types {
		fields = append(fields, schema.FieldDesc{ID: int16(i + 1), Name: fmt.Sprint("f", i), Type: typ, Req: schema.Optional})
	}
	root.Define(fields...)
	const (
		aLabel = "\x0b\x00\x01\x00\x00\x00\x02ab\x0b\x00\x02\x00\x00\x00\x01c\x00"
		aFlat  = "\x0a\x00\x01\x00\x00\x00\x00\x00\x00\x00\x05\x0b\x00\x02\x00\x00\x00\x01n\x02\x00\x03\x01\x00"
		text   = "\x00\x00\x00\x03abc"
		number = "\x00\x00\x00\x07"
	)
	values := []string{
		"\x0f\x00\x01\x0c\x00\x00\x00\x03" + aLabel + aLabel + aLabel,
		"\x0f\x00\x02\x0c\x00\x00\x00\x03" + aFlat + aFlat + aFlat,
		"\x0f\x00\x03\x0b\x00\x00\x00\x03" + text + text + text,
		"\x0d\x00\x04\x0b\x0b\x00\x00\x00\x02" + text + text + text + text,
		"\x0c\x00\x05" + aFlat,
		"\x0f\x00\x06\x06\x00\x00\x00\x04" + number + number,
		"\x0e\x00\x07\x08\x00\x00\x00\x02" + number + number,
		"\x0d\x00\x08\x08\x0f\x00\x00\x00\x01" + number + "\x0b\x00\x00\x00\x01" + text,
		"\x0c\x00\x09" + "\x0b\x00\x03" + text + "\x00",
		"\x0b\x00\x0a" + text,
		"\x03\x00\x0b\x07",
		"\x0f\x00\x0c\x0f\x00\x00\x00\x02\x08\x00\x00\x00\x01" + number + "\x08\x00\x00\x00\x00",
	}
	all := ""
	for _, v := range values {
		all += v
	}
	messages := append(values, all, "\x03\x00\x63\x07"+all) // the last is read by the slow parser
	at, read := fenced(t), 0
	debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(false)
	for i, m := range messages {
		m += "\x00"
		for n := range len(m) + 1 {
			b := at(n)
			copy(b, m)
			func() {
				defer func() {
					if v := recover(); v != nil {
						t.Fatalf("message %d, of %d bytes: the first %d: %v", i, len(m), n, v)
					}
				}()
				for _, opts := range [][]engine.Option{nil, {engine.Lazy}, {engine.ValidUTF8}, {engine.ByIndex}, {engine.Own}} {
					s, err := engine.Parse(root, b, opts...)
					if (err == nil) != (n == len(m)) {
						t.Fatalf("message %d, of %d bytes: the first %d: %v", i, len(m), n, err)
					}
					if err == nil {
						if err := s.Message().Index(); err != nil {
							t.Error(err)
						}
						read++
						s.Release()
					}
				}
				var s parse.Scanner
				s.Scan(b)
				for _, path := range [][]int{{i + 1}, {i + 1, 1}, {99}, {3, 2}} {
					engine.Peek(b, path...)
					var sought [1]parse.Sought
					parse.PeekAll(root, b, [][]int{path}, sought[:])
				}
			}()
		}
	}
	if read != 5*len(messages) {
		t.Errorf("%d messages were read", read)
	}
}
