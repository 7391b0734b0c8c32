// Command compact measures reading and writing Thrift's compact protocol, in rounds: each round
// runs every row for a while.
//
//	go run -C bench ./compact
//	go run -C bench ./compact -only C20K/read/nocopy -times 100    one row, for a profiler
//
// The columns are processor time, including the collector's:
//
//   - nocopy: Parse with Compact, and AppendCompact of a parsed message
//   - recycle: Parse with Recycle, too; WriteCompact
//   - lazy: Parse with Recycle and Lazy, too
//   - binary: the same message in Thrift Binary: Parse, and AppendTo
//   - bridge: package apachethrift over Apache's TCompactProtocol, value by value
//   - structs: Apache's structs over the same protocol; for footer, parquet-go's structs
//
// The message footer comes from a Parquet file of 100 columns and 50 row groups, which parquet-go
// wrote.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"github.com/nocopythrift/nocopythrift/internal/command"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/apachethrift"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"

	"github.com/nocopythrift/nocopythrift/bench/data"
	useapache "github.com/nocopythrift/nocopythrift/bench/generated/structs/apache"
	"github.com/nocopythrift/nocopythrift/bench/measure"
	"github.com/nocopythrift/nocopythrift/bench/ours"
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

// run runs the row for a while and notes how long it takes once.
func (r *row) run(sample time.Duration) {
	n := 1
	for {
		start := measure.CPUTime()
		for range n {
			r.once()
		}
		if took := measure.CPUTime() - start; took >= sample || n >= 1<<24 {
			r.times = append(r.times, float64(took)/float64(n))
			return
		}
		n *= 2
	}
}

func main() {
	rounds := flag.Int("rounds", 15, "how many rounds")
	sample := flag.Duration("sample", 10*time.Millisecond, "how long a row runs in each round")
	only := flag.String("only", "", "run only this `row`, and measure nothing")
	times := flag.Int("times", 1, "how often -only runs the row")
	command.ParseFlags()
	if *only == "" {
		fmt.Println("| message | direction | compact | of Binary | nocopy | recycle | lazy | binary | bridge | structs | nocopy / bridge | nocopy / structs |")
		fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|---|")
	}
	for _, b := range append(workloads(), newFooter()) {
		for _, direction := range []string{"read", "write"} {
			rows := b.rows(direction)
			if *only != "" {
				for _, r := range rows {
					for range *times {
						if b.name+"/"+direction+"/"+r.name == *only {
							r.once()
						}
					}
				}
				continue
			}
			for range *rounds {
				for _, r := range rows {
					r.run(*sample)
				}
			}
			fmt.Printf("| %s | %s | %d | %.2f |", b.name, direction, len(b.compact), float64(len(b.compact))/float64(len(b.binary)))
			median := map[string]float64{}
			for _, r := range rows {
				median[r.name] = r.median()
				fmt.Printf(" %s |", time.Duration(r.median()).Round(time.Nanosecond))
				if direction == "write" && r.name == "recycle" {
					fmt.Print(" |") // nothing is lazy
				}
			}
			fmt.Printf(" %.2f | %.2f |\n", median["nocopy"]/median["bridge"], median["nocopy"]/median["structs"])
		}
	}
}

// bench has a message in both protocols.
type bench struct {
	name            string
	desc            *thriftimpl.Desc
	binary, compact []byte
	read, write     func() // of structs
}

// workloads returns the messages of the benchmarks that are measured here.
func workloads() []*bench {
	var all []*bench
	for _, w := range data.All() {
		if !slices.Contains([]string{"B", "C1K", "C20K", "E", "F"}, w.Name) {
			continue
		}
		l := ours.LifeOf(w.New())
		s := l.Build()
		b := &bench{name: w.Name, desc: l.Desc, binary: s.Message().AppendTo(nil), compact: s.Message().AppendCompact(nil)}
		m := useapache.Of(w.New())
		b.read = func() { check(m.New().(thrift.TStruct).Read(background, b.protocol())) }
		filled := m.New().(thrift.TStruct)
		check(filled.Read(background, b.protocol()))
		mem := thrift.NewTMemoryBuffer()
		b.write = func() {
			mem.Reset()
			check(filled.Write(background, thrift.NewTCompactProtocolConf(mem, nil)))
		}
		all = append(all, b)
	}
	return all
}

// protocol returns Apache's protocol that reads the message.
func (b *bench) protocol() thrift.TProtocol {
	return thrift.NewTCompactProtocolConf(&thrift.TMemoryBuffer{Buffer: bytes.NewBuffer(b.compact)}, nil)
}

func (b *bench) rows(direction string) []*row {
	if direction == "read" {
		return b.reading()
	}
	return b.writing()
}

var background = context.Background()

func (b *bench) reading() []*row {
	parse := func(wire []byte, opts ...nocopy.Option) func() {
		return func() { must(thriftimpl.Parse(b.desc, wire, opts...)).Release() }
	}
	return []*row{
		{name: "nocopy", once: parse(b.compact, nocopy.Compact)},
		{name: "recycle", once: parse(b.compact, nocopy.Compact, nocopy.Recycle)},
		{name: "lazy", once: parse(b.compact, nocopy.Compact, nocopy.Recycle, nocopy.Lazy)},
		{name: "binary", once: parse(b.binary)},
		{name: "bridge", once: func() { must(apachethrift.ReadStruct(background, b.protocol(), b.desc)).Release() }},
		{name: "structs", once: b.read},
	}
}

func (b *bench) writing() []*row {
	s := must(thriftimpl.Parse(b.desc, b.binary))
	var dst []byte
	mem := thrift.NewTMemoryBuffer()
	on := func() thrift.TProtocol {
		mem.Reset()
		return thrift.NewTCompactProtocolConf(mem, nil)
	}
	return []*row{
		{name: "nocopy", once: func() { dst = (*nocopy.Message)(s.Message()).AppendCompact(dst[:0]) }},
		{name: "recycle", once: func() { must((*nocopy.Message)(s.Message()).WriteCompact(io.Discard)) }},
		{name: "binary", once: func() { dst = s.Message().AppendTo(dst[:0]) }},
		{name: "bridge", once: func() { check(apachethrift.Write(background, on(), known{b.desc, s})) }},
		{name: "structs", once: b.write},
	}
}

// known is a struct of a type that is known by its descriptor.
type known struct {
	desc *thriftimpl.Desc
	s    thriftimpl.Struct
}

func (k known) ThriftDesc() *thriftimpl.Desc    { return k.desc }
func (k known) ThriftStruct() thriftimpl.Struct { return k.s }

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}
