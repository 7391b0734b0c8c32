package shapes_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/inspect"
)

// TestAsParse: for damaged messages of all types, a dump has no fault if Parse accepts the bytes,
// and otherwise a fault at the place where Parse finds one.
func TestAsParse(t *testing.T) {
	idl, err := inspect.LoadIDL("shapes.thrift")
	if err != nil {
		t.Fatal(err)
	}
	seeds := map[string]string{"Outer": outer(), "RequiredFields": string(shapes.NewRequiredDefaults().Message().Bytes()), "Tree": tree(30)}
	parse := map[string]func([]byte) error{
		"Outer":          func(b []byte) error { _, err := shapes.ParseOuter(b); return err },
		"RequiredFields": func(b []byte) error { _, err := shapes.ParseRequiredFields(b); return err },
		"Tree":           func(b []byte) error { _, err := shapes.ParseTree(b); return err },
	}
	for name, seed := range seeds {
		rnd := rand.New(rand.NewPCG(1, 2))
		for range testmode.Of(2000, 10_000) {
			b := []byte(seed)
			for range rnd.IntN(3) {
				b[rnd.IntN(len(b))] = byte(rnd.IntN(18))
			}
			if rnd.IntN(4) == 0 {
				b = b[:rnd.IntN(len(b))]
			}
			want := parse[name](b)
			frame := append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
			err := inspect.Dump(io.Discard, bytes.NewReader(frame), inspect.Options{Form: inspect.FramedStructs, IDL: idl, Type: name})
			var fault, parsed *nocopy.Error
			if errors.As(want, &parsed) != errors.As(err, &fault) {
				t.Fatalf("%s %x: Parse: %v, Dump: %v", name, b, want, err)
			}
			// Parse knows from a count that elements are missing, and finds missing required
			// fields later
			if parsed != nil && !errors.Is(want, io.ErrUnexpectedEOF) && !errors.Is(want, nocopy.ErrMissingRequired) &&
				!errors.Is(err, nocopy.ErrMissingRequired) && fault.Offset != parsed.Offset+4 {
				t.Fatalf("%s %x: Parse: %v, Dump: %v", name, b, want, err)
			}
		}
	}
}

func outer() string {
	o := shapes.NewOuter()
	o.NewOrigin().SetX(3)
	o.NewShape().SetLabel("label")
	l := o.NewLists()
	l.SetTexts([]string{"a", "b"})
	l.NewMatrix(2).NewAt(0, 3)
	l.NewPoints(3).At(1).SetY(4)
	l.NewDeep(1).NewAt(0, 1).PutNew("k", 1).At(0).SetX(1)
	return string(o.Message().Bytes())
}

func tree(depth int) string {
	root := shapes.NewTree()
	for at := root; depth > 0; depth-- {
		at.SetName("n")
		at = at.NewChildren(1).At(0)
	}
	return string(root.Message().Bytes())
}
