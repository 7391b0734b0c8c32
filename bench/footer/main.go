// Command footer measures reading the footers of Parquet files of several shapes, in rounds: each
// round runs every row for a while. The files are written by parquet-go.
//
//	go run -C bench ./footer
//	go run -C bench ./footer -only 100x50/column -times 100    one row, for a profiler
//
// The columns are processor time, including the collector's, and allocations, of:
//
//   - parquet-go: the footer is read, and becomes parquet-go's structs
//   - open: parquetmeta.Open
//   - column: Open, and the chunks of one column
//   - all: Open, and all row groups and chunks
//   - metadata: Open, and Metadata: a message of all of the footer
//   - parse: the footer's bytes are parsed with Compact
//   - lazy: with Lazy, too; and a value of the last chunk is read
//   - binary, binary lazy: the same of the footer in Thrift Binary
//   - peek: nocopy.Peek of a value of the last chunk, in Thrift Binary
package main

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	parquetformat "github.com/parquet-go/parquet-go/format"

	"github.com/nocopythrift/nocopythrift/internal/command"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/parquetmeta"
	"github.com/nocopythrift/nocopythrift/parquetmeta/format"

	"github.com/nocopythrift/nocopythrift/bench/measure"
)

// row is one thing that is measured: once runs it once.
type row struct {
	name  string
	once  func()
	times []float64 // ns, of each round
}

func main() {
	rounds := flag.Int("rounds", 15, "how many rounds")
	sample := flag.Duration("sample", 20*time.Millisecond, "how long a row runs in each round")
	only := flag.String("only", "", "run only this `row`, and measure nothing")
	times := flag.Int("times", 1, "how often -only runs the row")
	command.ParseFlags()
	for k, shape := range [][2]int{{100, 1}, {100, 50}, {1000, 10}, {10, 1000}, {10_000, 1}} {
		name := fmt.Sprintf("%dx%d", shape[0], shape[1])
		if *only != "" && (len(*only) < len(name) || (*only)[:len(name)+1] != name+"/") {
			continue
		}
		file := write(shape[0], shape[1])
		rows := rowsOf(file, shape[0], shape[1])
		if *only != "" {
			for _, r := range rows {
				for range *times {
					if name+"/"+r.name == *only {
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
		if k == 0 {
			head, line := "| columns x row groups | bytes |", "|---|---|"
			for _, r := range rows {
				head, line = head+" "+r.name+" |", line+"---|"
			}
			fmt.Printf("%s\n%s\n", head, line)
		}
		base := rows[0].median()
		fmt.Printf("| %s | %d |", name, len(footerOf(file)))
		for _, r := range rows {
			fmt.Printf(" %s, %.0f allocs, %.3f |", time.Duration(r.median()).Round(time.Microsecond), testing.AllocsPerRun(3, r.once), r.median()/base)
		}
		fmt.Println()
	}
	if *only == "" && seen == 0 {
		panic("nothing was read")
	}
}

// median returns the median of the rounds, in ns.
func (r *row) median() float64 {
	slices.Sort(r.times)
	return r.times[len(r.times)/2]
}

// run runs the row for a while and notes how long it takes once.
func (r *row) run(sample time.Duration) {
	for n := 1; ; n *= 2 {
		start := measure.CPUTime()
		for range n {
			r.once()
		}
		if took := measure.CPUTime() - start; took >= sample || n >= 1<<24 {
			r.times = append(r.times, float64(took)/float64(n))
			return
		}
	}
}

func rowsOf(file []byte, columns, groups int) []*row {
	r, size := bytes.NewReader(file), int64(len(file))
	footer := footerOf(file)
	var protocol thrift.CompactProtocol
	path := fmt.Sprintf("column_%05d", columns/2)
	open := func() *parquetmeta.File { return must(parquetmeta.Open(r, size)) }
	whole := must(format.ParseFileMetaData(footer, nocopy.Compact))
	wire := whole.Message().AppendTo(nil)
	last := func(m format.FileMetaData) {
		c := m.GetRowGroups().At(groups - 1).GetColumns().At(columns - 1)
		seen += c.GetMetaData().GetNumValues()
		m.Release()
	}
	return []*row{
		{name: "parquet-go", once: func() {
			var tail [8]byte
			must(r.ReadAt(tail[:], size-8))
			b := make([]byte, binary.LittleEndian.Uint32(tail[:]))
			must(r.ReadAt(b, size-8-int64(len(b))))
			var m parquetformat.FileMetaData
			check(thrift.Unmarshal(&protocol, b, &m))
		}},
		{name: "open", once: func() { open() }},
		{name: "column", once: func() {
			for c, err := range open().Column(path).Chunks() {
				check(err)
				seen += c.NumValues
			}
		}},
		{name: "all", once: func() {
			for g, err := range open().RowGroups() {
				check(err)
				for c, err := range g.Chunks() {
					check(err)
					seen += c.NumValues
				}
			}
		}},
		{name: "metadata", once: func() { must(open().Metadata()).Release() }},
		{name: "parse", once: func() { last(must(format.ParseFileMetaData(footer, nocopy.Compact))) }},
		{name: "lazy", once: func() { last(must(format.ParseFileMetaData(footer, nocopy.Compact, nocopy.Lazy))) }},
		{name: "binary", once: func() { last(must(format.ParseFileMetaData(wire))) }},
		{name: "binary lazy", once: func() { last(must(format.ParseFileMetaData(wire, nocopy.Lazy))) }},
		{name: "peek", once: func() { seen += must(nocopy.Peek(wire, 4, groups-1, 1, columns-1, 3, 5)).Int64() }},
	}
}

// seen keeps reads from being optimized away.
var seen int64

func footerOf(file []byte) []byte {
	end := len(file) - 8
	return file[end-int(binary.LittleEndian.Uint32(file[end:])) : end]
}

// write returns a file with these numbers of columns and row groups.
func write(columns, groups int) []byte {
	nodes := []parquet.Node{
		parquet.String(), parquet.Optional(parquet.Int(64)), parquet.Leaf(parquet.DoubleType),
		parquet.Timestamp(parquet.Microsecond), parquet.Optional(parquet.Decimal(2, 18, parquet.Int64Type)),
	}
	row := make(parquet.Row, columns)
	schema := parquet.Group{}
	for i := range columns {
		schema[fmt.Sprintf("column_%05d", i)] = nodes[i%len(nodes)]
	}
	var file bytes.Buffer
	w := parquet.NewWriter(&file, parquet.NewSchema("table", schema), parquet.KeyValueMetadata("origin", "bench/footer"))
	for g := range groups {
		for i := range row {
			v := parquet.ValueOf(int64(1_000_000*i + g))
			definition := 0
			switch i % len(nodes) {
			case 0:
				v = parquet.ValueOf(fmt.Sprintf("value %d of %d", i, g))
			case 2:
				v = parquet.ValueOf(float64(i) / 8)
			case 1, 4:
				definition = 1
			}
			row[i] = v.Level(0, definition, i)
		}
		must(w.WriteRows([]parquet.Row{row}))
		check(w.Flush())
	}
	check(w.Close())
	return file.Bytes()
}

func check(err error) {
	if err != nil && err != io.EOF {
		panic(err)
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}
