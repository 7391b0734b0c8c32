package wireindex_test

import (
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
)

var sink int // depends on everything that was read

// TestByIndexAllocs: opening a message by its index, reading fields and elements, and releasing it
// allocates nothing in steady state.
func TestByIndexAllocs(t *testing.T) {
	if raceEnabled || debugging || !aliasing {
		t.Skip("memory is not reused")
	}
	wire := withIndex(t, businessDesc, largeBusiness(t, 300))
	items, tags, totals := fieldNamed(businessDesc, "items"), fieldNamed(businessDesc, "tags"), fieldNamed(businessDesc, "totals")
	read := func(s engine.Struct) {
		l := nocopy.StructList[engine.Struct](s.Child(items, businessDesc))
		for _, i := range []int{299, 150, 150, 3} {
			sink += int(l.At(i).Int32(fieldNamed(itemDesc, "count"))) + len(l.At(i).Text(fieldNamed(itemDesc, "sku")))
		}
		sink += nocopy.StringList(s.Child(tags, businessDesc)).Len() + s.Child(totals, businessDesc).ListLen()
	}
	for name, f := range map[string]func(){
		"OpenIndexed": func() {
			s, err := engine.OpenIndexed(businessDesc, wire)
			if err != nil {
				t.Fatal(err)
			}
			read(s)
			s.Release()
		},
		"OpenIndexed with options": func() {
			s, err := engine.OpenIndexed(businessDesc, wire, engine.RequireIndex, engine.Recycle)
			if err != nil {
				t.Fatal(err)
			}
			read(s)
			s.Release()
		},
		"parse": func() {
			s, err := engine.Parse(businessDesc, wire, engine.RequireIndex)
			if err != nil {
				t.Fatal(err)
			}
			read(s)
			s.Release()
		},
		"many elements": func() {
			s, err := engine.Parse(businessDesc, wire, engine.RequireIndex)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 40 {
				sink += int(nocopy.StructList[engine.Struct](s.Child(items, businessDesc)).At(7 * i).Int32(fieldNamed(itemDesc, "count")))
			}
			s.Release()
		},
		"all elements": func() {
			s, err := engine.Parse(businessDesc, wire, engine.RequireIndex)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range nocopy.StructList[engine.Struct](s.Child(items, businessDesc)).All() {
				sink += int(x.Int32(fieldNamed(itemDesc, "count")))
			}
			s.Release()
		},
	} {
		if n := testing.AllocsPerRun(100, f); n > 0 {
			t.Errorf("%s: %g allocations", name, n)
		}
	}
}
