package apachethrift_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/apache/thrift/lib/go/thrift"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/apachethrift"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee/apachetest"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// TestRandomTypes: round trips of a struct with a field of each type, and of random types.
func TestRandomTypes(t *testing.T) {
	sc, g := apachetest.NewSchema(), apachetest.NewGen(2)
	structs := referee.Everything()
	for range testmode.Of(3, 10) {
		structs = append(structs, g.Structs(6)...)
	}
	for _, s := range structs {
		for range testmode.Of(2, 10) {
			rec := g.Record(s, 3)
			for _, w := range apachetest.Wires {
				apachetest.RoundTrip(t, w, sc.Desc(s), rec)
			}
		}
	}
}

// TestNoise: repeated and unknown fields arrive over every protocol as they do over binary.
func TestNoise(t *testing.T) {
	sc, g := apachetest.NewSchema(), apachetest.NewGen(3)
	for _, s := range append(referee.Everything(), g.Structs(20)...) {
		d := sc.Desc(s)
		for range testmode.Of(5, 25) {
			rec := g.Record(s, 3)
			g.Noise(rec)
			b := referee.Write(rec, nil)
			want, err := thriftimpl.Parse(d, b)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range apachetest.Wires {
				if w.Name == "JSON" {
					continue // it has changed the strings
				}
				sent := w.Written(t, func(p thrift.TProtocol) error {
					return apachethrift.Write(context.Background(), p, apachetest.Known{Desc: d, Struct: nocopy.Struct(want)})
				})
				var got nocopy.Struct
				if err := w.Read(t, sent, func(p thrift.TProtocol) (err error) {
					got, err = apachethrift.ReadStruct(context.Background(), p, d)
					return err
				}); err != nil {
					t.Fatalf("%s, %s: %v", w.Name, s.Name, err)
				}
				// Compact has no types for empty maps: one in an unknown field may differ
				if again := w.Written(t, func(p thrift.TProtocol) error {
					return apachethrift.Write(context.Background(), p, apachetest.Known{Desc: d, Struct: got})
				}); !bytes.Equal(again, sent) || len(got.Message().Bytes()) != len(b) {
					t.Fatalf("%s, %s: arrived as\n%x, not\n%x", w.Name, s.Name, got.Message().Bytes(), b)
				}
				if strings.Contains(w.Name, "binary") && !bytes.Equal(got.Message().Bytes(), b) {
					t.Fatalf("%s, %s: arrived as\n%x, not\n%x", w.Name, s.Name, got.Message().Bytes(), b)
				}
			}
		}
	}
}
