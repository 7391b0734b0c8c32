// Command archive looks up three late fields of random records in files that are mapped: of Thrift
// messages with an index (as examples/programs/archive keeps them), of the same scanned and
// parsed, of FlatBuffers tables, and of rows of Parquet. It gives the bytes of a record, the
// time of a lookup, and for a record that the kernel does not have in memory how often the
// program has to wait for a page (the first lookup in a mapping that is new), and how much is
// read from the disk.
//
//	go run -C bench ./archive
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/nocopythrift/nocopythrift/examples/programs/archive/records"
	"github.com/nocopythrift/nocopythrift/internal/command"
	"github.com/nocopythrift/nocopythrift/nocopy"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/flat"
	flatpeer "github.com/nocopythrift/nocopythrift/bench/generated/flat"
	"github.com/nocopythrift/nocopythrift/bench/generated/nocopy/peer"
	"github.com/nocopythrift/nocopythrift/bench/ours"
	bench "github.com/nocopythrift/nocopythrift/bench/peer"
)

// late are the columns of a row of Parquet that are looked up.
type late struct {
	Score float64
	Owner struct{ Name string }
	Ts    int64
}

// table is a file in which records are looked up by their numbers, which are their keys. open maps
// it, and returns a function that looks up a record, and one that unmaps the file.
type table struct {
	name   string
	file   string
	open   func() (lookup func(i int) uint64, end func())
	lookup func(i int) uint64
}

func main() {
	n := flag.Int("n", 5000, "how many records")
	rounds := flag.Int("rounds", 9, "how many rounds")
	sample := flag.Duration("sample", 100*time.Millisecond, "how long each table is looked up in a round")
	dir := flag.String("dir", "", "where the files are made; a directory that is removed afterwards")
	command.ParseFlags()
	tmp := must(os.MkdirTemp(*dir, "archive"))
	defer os.RemoveAll(tmp)
	if err := measure(tmp, *n, *rounds, *sample); err != nil {
		os.RemoveAll(tmp)
		log.Fatal(err)
	}
}

func measure(dir string, n, rounds int, sample time.Duration) error {
	tables, err := tablesIn(dir, n)
	if err != nil {
		return err
	}
	ends := make([]func(), len(tables))
	for k := range tables {
		tables[k].lookup, ends[k] = tables[k].open()
	}
	for i := range n {
		want := tables[0].lookup(i)
		for _, t := range tables[1:] {
			if got := t.lookup(i); i%100 == 0 && got != want {
				return fmt.Errorf("%s: record %d has %d, not %d", t.name, i, got, want)
			}
		}
	}
	times := make([][]time.Duration, len(tables))
	for range rounds {
		for k, t := range tables {
			start, count := time.Now(), 0
			for ; time.Since(start) < sample; count++ {
				t.lookup(rand.IntN(n))
			}
			times[k] = append(times[k], time.Since(start)/time.Duration(count))
		}
	}
	fmt.Println("| file | bytes a record | lookup | cold: waits for pages | cold: KiB read |")
	fmt.Println("|---|---|---|---|---|")
	for _, end := range ends { // the mapped pages stay in memory
		end()
	}
	for k, t := range tables {
		slices.Sort(times[k])
		size := must(os.Stat(t.file)).Size()
		faults, read := cold(t, n)
		fmt.Printf("| %s | %d | %v | %.1f | %.1f |\n", t.name, size/int64(n), times[k][rounds/2].Round(10*time.Nanosecond), faults, read/1024)
	}
	return nil
}

// cold returns how many times a lookup waits for a page, and how many bytes are read from the
// disk, on average.
func cold(t table, n int) (faults, read float64) {
	const lookups = 50
	for range lookups {
		drop(t.file)
		lookup, end := t.open()
		i := rand.IntN(n)
		faultsBefore, readBefore := waited()
		lookup(i)
		f, r := waited()
		faults, read = faults+float64(f-faultsBefore), read+float64(r-readBefore)
		end()
	}
	return faults / lookups, read / lookups
}

// tablesIn makes the files in a directory.
func tablesIn(dir string, n int) ([]table, error) {
	indexed, flatFile, rows := filepath.Join(dir, "indexed"), filepath.Join(dir, "flat"), filepath.Join(dir, "parquet")
	if err := write(n, indexed, flatFile, rows); err != nil {
		return nil, err
	}
	thrift := func(name string, opts ...nocopy.Option) table {
		return table{name: name, file: indexed, open: func() (func(i int) uint64, func()) {
			a := must(records.Open(indexed))
			return func(i int) uint64 {
				m := must(peer.ParseBusiness(a.At(i), opts...))
				sum := data.F64(m.GetScore()) + uint64(m.GetTs()) + data.Str(m.GetOwner().GetName())
				m.Release()
				return sum
			}, func() { a.Close() }
		}}
	}
	return []table{
		thrift("Thrift, by the index", nocopy.RequireIndex, nocopy.Recycle),
		thrift("Thrift, scanned (Lazy)", nocopy.Lazy, nocopy.Recycle),
		thrift("Thrift, parsed", nocopy.Recycle),
		{name: "FlatBuffers", file: flatFile, open: func() (func(i int) uint64, func()) {
			b := must(records.Open(flatFile))
			return func(i int) uint64 {
				m := flatpeer.GetRootAsBusiness(b.At(i), 0)
				var owner flatpeer.User
				return data.F64(m.Score()) + uint64(m.Ts()) + data.Str(m.Owner(&owner).Name())
			}, func() { b.Close() }
		}},
		{name: "Parquet, three columns", file: rows, open: func() (func(i int) uint64, func()) {
			file := must(os.Open(rows))
			read := parquet.NewGenericReader[late](file)
			return func(i int) uint64 {
				var row [1]late
				if err := read.SeekToRow(int64(i)); err != nil {
					panic(err)
				}
				if _, err := read.Read(row[:]); err != nil && err != io.EOF {
					panic(err)
				}
				return data.F64(row[0].Score) + uint64(row[0].Ts) + data.Str(row[0].Owner.Name)
			}, func() { file.Close() }
		}},
	}, nil
}

// write makes the files, of n records each.
func write(n int, indexed, flatFile, rows string) error {
	a, err := records.Append(indexed)
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := records.Append(flatFile)
	if err != nil {
		return err
	}
	defer b.Close()
	f, err := os.Create(rows)
	if err != nil {
		return err
	}
	defer f.Close()
	p := parquet.NewGenericWriter[data.Business](f)
	all := data.All()
	v := all[slices.IndexFunc(all, func(w data.Workload) bool { return w.Name == "C20K" })].New().(*data.Business)
	build := func(p bench.Peer, name string, to *bytes.Buffer) error {
		for _, r := range p.Rows(&bench.Input{Value: v}, bench.Build) {
			if r.Peer == name {
				r.Make()(to)
				return nil
			}
		}
		return fmt.Errorf("no row %s", name)
	}
	for i := range n {
		v.ID, v.Ts, v.Score, v.Owner.Name = int64(i), int64(i)<<20, float64(i)/8, fmt.Sprint("owner ", i)
		var wire, table bytes.Buffer
		if err := build(ours.Peer(), "nocopy", &wire); err != nil {
			return err
		}
		m, err := peer.ParseBusiness(wire.Bytes(), nocopy.WithIndex)
		if err != nil {
			return err
		}
		if err := a.Append(int64(i), m.Message()); err != nil {
			return err
		}
		m.Release()
		if err := build(flat.Peer(), "flatbuffers", &table); err != nil {
			return err
		}
		// A table begins where it is aligned.
		table.Write(make([]byte, -table.Len()&7))
		if err := b.Append(int64(i), &table); err != nil {
			return err
		}
		if _, err := p.Write([]data.Business{*v}); err != nil {
			return err
		}
	}
	return p.Close()
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
