//go:build !race

// The race detector's pools lose things on purpose.

package store

import (
	"context"
	"fmt"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"

	"github.com/nocopythrift/nocopythrift/examples/ingest/api"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

const manySeries = 1000

// manyWires returns the wire bytes of requests with a sample of each of the same series, one
// millisecond after the other.
func manyWires(n int) (wires [][]byte) {
	for k := range n {
		args := api.NewIngesterWriteArgs()
		var all []oneSeries
		for i := range manySeries {
			all = append(all, oneSeries{fmt.Sprintf("__name__=requests_total instance=host-%d job=test path=/%d", i/50, i%50), []point{{int64(k), float64(i)}}})
		}
		fill(args, all...)
		wires = append(wires, args.Message().AppendTo(nil))
		args.Release()
	}
	return wires
}

// handle does what the server does with a request.
func (s *Store) handle(t testing.TB, wire []byte) {
	args, err := api.ParseIngesterWriteArgs(wire, nocopy.Recycle)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write(context.Background(), args, api.IngesterWriteResult{}); err != nil {
		t.Fatal(err)
	}
	args.Release()
}

// TestKnownSeries: parsing a request, finding its series and appending its samples allocates
// nothing.
func TestKnownSeries(t *testing.T) {
	wires := manyWires(60)
	s := New(&Discard{}, quiet(Options{}))
	for _, wire := range wires[:10] {
		s.handle(t, wire)
	}
	next := 10
	if n := testing.AllocsPerRun(40, func() { s.handle(t, wires[next]); next++ }); n != 0 {
		t.Errorf("%v allocations for %d samples of known series", n, manySeries)
	}
}

// TestAllocationsOfTSDB: a request to a store with the TSDB allocates as much as the TSDB alone
// for the same samples.
func TestAllocationsOfTSDB(t *testing.T) {
	const runs, warm = 40, 130 // series have more than one chunk then
	wires := manyWires(warm + runs + 1)
	s := open(t, Options{})
	next := 0
	for ; next < warm; next++ {
		s.handle(t, wires[next])
	}
	ours := testing.AllocsPerRun(runs, func() { s.handle(t, wires[next]); next++ })

	alone := open(t, Options{})
	refs := make([]storage.SeriesRef, manySeries)
	k := int64(0)
	write := func() {
		app := alone.db.Appender(context.Background())
		for i := range refs {
			var l labels.Labels
			if refs[i] == 0 {
				l = labels.FromStrings("__name__", "requests_total", "instance", fmt.Sprint("host-", i/50), "job", "test", "path", fmt.Sprint("/", i%50))
			}
			ref, err := app.Append(refs[i], l, start+k, float64(i))
			if err != nil {
				t.Fatal(err)
			}
			refs[i] = ref
		}
		if err := app.Commit(); err != nil {
			t.Fatal(err)
		}
		k++
	}
	for range warm {
		write()
	}
	theirs := testing.AllocsPerRun(runs, write)
	t.Logf("the TSDB allocates %v times for %d samples; with the request %v times", theirs, manySeries, ours)
	if ours > theirs+manySeries/100 {
		t.Errorf("%v allocations with the request, %v without", ours, theirs)
	}
}
