package containers_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// TestSplitLinks: when the elements of a received list are put into several messages by Append,
// large ones are linked, not copied, and stay good when the received message is released.
func TestSplitLinks(t *testing.T) {
	const n, size, parts = 100, 20_000, 4
	s := newStruct(allDesc)
	table := nocopy.NestedList[nocopy.StringList](s.NewChild(fieldNamed(allDesc, "table"), allDesc, 0))
	for i := range n {
		table.AppendNew(1).Set(0, strings.Repeat(itoa(i%10), size))
	}
	wire := s.Message().AppendTo(nil)
	for _, way := range []way{cloned, cutEvery(100_000)} {
		in, err := way.Parse(allDesc, slices.Clone(wire), nocopy.Own)
		if err != nil {
			t.Fatal(err)
		}
		var lists [parts]nocopy.NestedList[nocopy.StringList]
		var sent [parts][]byte
		cost := allocated(func() {
			for k := range lists {
				lists[k] = nocopy.NestedList[nocopy.StringList](newStruct(allDesc).NewChild(fieldNamed(allDesc, "table"), allDesc, 0))
			}
			from := nocopy.NestedList[nocopy.StringList](in.Child(fieldNamed(allDesc, "table"), allDesc))
			for i, x := range from.All() {
				lists[i%parts].Append(x)
			}
		})
		in.Release()
		if cost > n*size/4 && aliasing && !debugging && !raceEnabled {
			t.Errorf("%s: %d bytes for %d", way.Name, cost, n*size)
		}
		for k, l := range lists {
			sent[k] = l.ThriftStruct().Message().AppendTo(nil)
			got := nocopy.NestedList[nocopy.StringList](mustParse(t, allDesc, sent[k]).Child(fieldNamed(allDesc, "table"), allDesc))
			if got.Len() != n/parts {
				t.Errorf("%s: part %d has %d elements", way.Name, k, got.Len())
			}
			for i, x := range got.All() {
				if want := strings.Repeat(itoa((i*parts+k)%10), size); x.At(0) != want {
					t.Errorf("%s: element %d of part %d is %.10q…", way.Name, i, k, x.At(0))
				}
			}
		}
	}
}
