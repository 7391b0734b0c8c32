package kitex

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/bench/data"
	fast "github.com/nocopythrift/nocopythrift/bench/generated/structs/fastgo"
	"github.com/nocopythrift/nocopythrift/bench/structs"
	use "github.com/nocopythrift/nocopythrift/bench/structs/kitex"
)

// TestReuse: structs that are used again hold nothing of the message that they held before.
func TestReuse(t *testing.T) {
	for name, of := range map[string]func(any) structs.Message{"kitex/reuse": use.Of, "fastgo/reuse": fast.Of} {
		pairs := 0
		for _, first := range data.Tiny() {
			for _, second := range data.Tiny() {
				a, b := first.New(), second.New()
				switch a.(type) {
				case *data.Edits, *data.JSON: // these rows have no structs that are kept
					continue
				}
				if first.Name == second.Name || reflect.TypeOf(a) != reflect.TypeOf(b) {
					continue
				}
				pairs++
				before, after := of(a), of(b)
				codec := reuse(name).Codec(before)
				kept := before.New()
				before.Fill(kept)
				message := bytes.Clone(codec.Encode(kept))
				after.Fill(kept)
				if diff := cmp.Diff(data.Message(b), after.Values(kept)); diff != "" {
					t.Errorf("%s: %s put into structs that held %s (-want +got):\n%s", name, second.Name, first.Name, diff)
				}
				if err := codec.Decode(message, kept); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(data.Message(a), before.Values(kept)); diff != "" {
					t.Errorf("%s: %s read into structs that held %s (-want +got):\n%s", name, first.Name, second.Name, diff)
				}
			}
		}
		if pairs == 0 {
			t.Errorf("%s: no messages of the same type", name)
		}
	}
}
