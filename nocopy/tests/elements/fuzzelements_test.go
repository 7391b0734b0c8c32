package elements_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
)

// FuzzElements reads any bytes as a frame with a batch, in pieces. It gives the elements and the
// fields that Parse gives, and an error where Parse does.
func FuzzElements(f *testing.F) {
	for _, n := range []int{0, 1, 7, 12} {
		s := newBatch(n)
		for which := range uint8(4) {
			f.Add(forms[which&2].send(s), uint8(n), which)
			f.Add(s.Message().AppendTo(nil), uint8(n), which)
		}
		s.Release()
	}
	two := "\x00\x00\x00\x02" + one + one
	for _, in := range []string{
		sender + itemsOf + two + itemsOf + two + sum + "\x00",
		sender + innerOf + setOf + two + "\x00" + innerOf + setOf + two + "\x00" + itemsOf + two + sum + "\x00",
		unknown + itemsOf + two + unknown + sender + sum + wireIndex + "\x00",
		sender + "\x0f\x00\x03\x08\x00\x00\x00\x01\x00\x00\x00\x01" + sum + "\x00",
		sender + itemsOf + "\x7f\xff\xff\xff" + one,
		sender + itemsOf + "\xff\xff\xff\xff" + one,
	} {
		f.Add([]byte(in), uint8(3), uint8(0))
		f.Add([]byte(in), uint8(200), uint8(1))
	}
	f.Fuzz(func(t *testing.T, b []byte, cut, which uint8) {
		list, opts := "items", []nocopy.Option{nocopy.Limits{MaxBytes: 1 << 20}}
		if which&1 != 0 {
			list = "inner.items"
		}
		if which&2 != 0 {
			opts = append(opts, nocopy.Compact)
		}
		if which&4 != 0 {
			opts = append(opts, nocopy.Recycle)
		}
		if which&8 != 0 {
			opts = append(opts, nocopy.ValidUTF8)
		}
		s, want := engine.Parse(batchDesc, b, opts...)
		defer s.Release()
		in := append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
		d := nocopy.NewFrameElementDecoder[batch, item](&pieces{in, int(cut) + 1}, list, opts...)
		of, k := s, 2
		desc := batchDesc
		if list != "items" && want == nil {
			of, k, desc = s.Child(batchDesc.Field(1), batchDesc), 1, innerDesc
		}
		n := 0
		var err error
		for {
			var e item
			if e, err = d.Next(); err != nil {
				break
			}
			if want == nil {
				if l := of.Child(desc.Field(k), desc); n >= l.ListLen() {
					break
				} else if got, want := engine.Struct(e).AppendStruct(nil, itemDesc), l.StructAt(n).AppendStruct(nil, itemDesc); !bytes.Equal(got, want) {
					if _, err := d.Rest(); err == nil { // or the list comes twice
						t.Fatalf("element %d is\n%x, not\n%x", n, got, want)
					}
					return
				}
			}
			n++
		}
		rest, err := d.Rest()
		defer engine.Struct(rest).Release()
		switch {
		case err != nil && want == nil && strings.Contains(err.Error(), "comes again"):
		case (err == nil) != (want == nil):
			if !errors.Is(err, nocopy.ErrLimit) {
				t.Fatalf("%v, Parse: %v", err, want)
			}
		case err == nil:
			if l := of.Child(desc.Field(k), desc); l.Valid() {
				if n != l.ListLen() {
					t.Fatalf("%d elements, not %d", n, l.ListLen())
				}
				of.NewChild(desc.Field(k), desc, 0)
			}
			if got, want := nocopy.Struct(rest).StringAs(batchDesc), nocopy.Struct(s).StringAs(batchDesc); got != want {
				t.Fatalf("the rest is\n%s, not\n%s", got, want)
			}
		}
	})
}
