// Command index measures what a message's own index gives and costs (nocopy.WithIndex, ByIndex),
// beside FlatBuffers and nocopy.Lazy, in rounds: each round runs every row for a while.
//
//	go run -C bench ./index
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/command"
	"github.com/nocopythrift/nocopythrift/nocopy"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/flat"
	flatpeer "github.com/nocopythrift/nocopythrift/bench/generated/flat"
	"github.com/nocopythrift/nocopythrift/bench/generated/nocopy/peer"
	"github.com/nocopythrift/nocopythrift/bench/ours"
	bench "github.com/nocopythrift/nocopythrift/bench/peer"
)

// row is one thing that is measured: once runs it once.
type row struct {
	name  string
	once  func()
	times []float64 // ns, of each round
}

// median returns the median of the rounds, in ns.
func (r *row) median() float64 {
	slices.Sort(r.times)
	return r.times[len(r.times)/2]
}

var sum uint64 // depends on all that was read

func main() {
	rounds := flag.Int("rounds", 21, "how many rounds")
	sample := flag.Duration("sample", 10*time.Millisecond, "how long a row runs in each round")
	command.ParseFlags()
	fmt.Println("| message | index | of it | parse | with index added | 3 late fields: index | FlatBuffers | Lazy | element: index | FlatBuffers | Lazy |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|")
	for _, w := range data.All() {
		if slices.Contains([]string{"C4K", "C20K", "C256K", "C6M"}, w.Name) {
			measure(w, *rounds, *sample)
		}
	}
	if sum == 0 {
		panic("nothing was read")
	}
}

func measure(w data.Workload, rounds int, sample time.Duration) {
	v := w.New().(*data.Business)
	in := &bench.Input{Value: v}
	var wire bytes.Buffer
	built := rowOf(ours.Peer(), in, bench.Build, "nocopy")
	built(&wire)
	in.Wire = wire.Bytes()
	s := must(peer.ParseBusiness(in.Wire, nocopy.WithIndex))
	with := bytes.Clone(s.Message().Bytes())
	s.Release()
	var table bytes.Buffer
	rowOf(flat.Peer(), in, bench.Build, "flatbuffers")(&table)
	n, next := len(v.Items), 0
	element := func() int { // another one each time, far from the last
		next = (next + n*5/8 + 1) % n
		return next
	}
	name := func(b []byte, opts ...nocopy.Option) func() {
		return func() {
			m := must(peer.ParseBusiness(b, opts...))
			sum += uint64(len(m.GetItems().At(element()).GetName()))
			m.Release()
		}
	}
	partial := func(p bench.Peer, row string) func() {
		step := rowOf(p, in, bench.Partial, row)
		return func() { sum += step(io.Discard) }
	}
	parse := func(opts ...nocopy.Option) func() {
		return func() { must(peer.ParseBusiness(in.Wire, opts...)).Release() }
	}
	rows := []*row{
		{name: "parse", once: parse(nocopy.Recycle)},
		{name: "parse and add", once: parse(nocopy.Recycle, nocopy.WithIndex)},
		{name: "fields, index", once: partial(ours.Peer(), "nocopy/index")},
		{name: "fields, FlatBuffers", once: partial(flat.Peer(), "flatbuffers")},
		{name: "fields, lazy", once: partial(ours.Peer(), "nocopy/lazy")},
		{name: "element, index", once: name(with, nocopy.ByIndex, nocopy.Recycle)},
		{name: "element, FlatBuffers", once: func() {
			var item flatpeer.Item
			m := flatpeer.GetRootAsBusiness(table.Bytes(), 0)
			m.Items(&item, element())
			sum += uint64(len(item.Name()))
		}},
		{name: "element, lazy", once: name(in.Wire, nocopy.Lazy, nocopy.Recycle)},
	}
	for range rounds {
		for _, r := range rows {
			r.run(sample)
		}
	}
	more := len(with) - len(in.Wire)
	fmt.Printf("| %s | %d bytes | %.2f %% | %s | %+.1f %% |", w.Name, more, 100*float64(more)/float64(len(in.Wire)),
		ns(rows[0].median()), 100*(rows[1].median()/rows[0].median()-1))
	for _, r := range rows[2:] {
		fmt.Printf(" %s |", ns(r.median()))
	}
	fmt.Println()
}

// run runs the row for a while and notes how long it takes once.
func (r *row) run(sample time.Duration) {
	n := 1
	for {
		start := time.Now()
		for range n {
			r.once()
		}
		if took := time.Since(start); took >= sample || n >= 1<<24 {
			r.times = append(r.times, float64(took)/float64(n))
			return
		}
		n *= 2
	}
}

func rowOf(p bench.Peer, in *bench.Input, op bench.Op, name string) bench.Step {
	for _, r := range p.Rows(in, op) {
		if r.Peer == name {
			return r.Make()
		}
	}
	panic("no row " + name)
}

func ns(v float64) string { return time.Duration(v).Round(time.Nanosecond).String() }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
