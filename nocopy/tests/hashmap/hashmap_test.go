package hashmap_test

import (
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/hashmap"
)

// TestMap compares a Map with Go's after each of many changes.
func TestMap(t *testing.T) {
	var m hashmap.Map[uint32, string]
	want := map[uint32]string{}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 20_000 {
		switch k := r.Uint32N(1 + uint32(i)); {
		case i%7_001 == 7_000:
			m.Clear()
			clear(want)
		case k%3 == 0: // no longer needed
			m.Put(k, "")
			want[k] = ""
		default:
			m.Put(k, string(rune(i)))
			want[k] = string(rune(i))
		}
		if k := r.Uint32N(1 + uint32(i)); m.Get(k) != want[k] || m.Len() != len(want) {
			t.Fatalf("after %d changes %d is %q, not %q; %d keys, not %d", i, k, m.Get(k), want[k], m.Len(), len(want))
		}
	}
	if got := maps.Collect(m.All()); !maps.Equal(got, want) {
		t.Error("All yields others")
	}
	for range m.All() {
		break
	}
}

func TestZeroMap(t *testing.T) {
	var m hashmap.Map[*int, int]
	m.Clear()
	if m.Get(new(int)) != 0 || m.Len() != 0 {
		t.Error("the zero Map is not empty")
	}
	for k := range m.All() {
		t.Error(k)
	}
}
