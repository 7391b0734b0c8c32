// Command held measures what received messages cost as long as a program holds them: the memory of
// each, and the processor time of a cycle of the garbage collector.
//
//	go run -C bench ./held            250 MB of each workload, each row in a process of its own
//	go run -C bench ./held -mb 25 B   less of them, and only some
//
// Each message has been received in a buffer of its own. The rows:
//
//   - parsed: messages of nocopythrift, parsed and held; they alias their buffers
//   - bytes: only the buffers, which nocopy.ParseInto reads when a message is wanted
//   - Kitex: Kitex's structs, by FastRead; the buffers are garbage then
//
// Times are processor time that the kernel has counted. A busy machine changes them little.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"slices"
	"time"

	"github.com/cloudwego/gopkg/protocol/thrift"
	"github.com/nocopythrift/nocopythrift/internal/command"
	"github.com/nocopythrift/nocopythrift/nocopy"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/generated/nocopy/peer"
	"github.com/nocopythrift/nocopythrift/bench/generated/nocopy/prom"
	"github.com/nocopythrift/nocopythrift/bench/limit"
	"github.com/nocopythrift/nocopythrift/bench/measure"
	"github.com/nocopythrift/nocopythrift/bench/structs/kitex"
)

var ways = []string{"parsed", "bytes", "Kitex"}

func main() {
	log.SetFlags(0)
	log.SetPrefix("held: ")
	mb := flag.Int("mb", 250, "how many `MB` of messages, as they are on the wire")
	row := flag.String("row", "", "measure only this `WAY` to hold the one workload named, in this process")
	command.ParseFlags()
	names := flag.Args()
	if len(names) == 0 {
		names = []string{"B", "C1K", "C4K", "C20K", "C256K", "E", "F"}
	}
	if *row == "" {
		fmt.Println("| | messages | of bytes | held as | heap, MB | objects | bytes of heap per message | collector's CPU per cycle, ms |")
		fmt.Println("|---|---|---|---|---|---|---|---|")
	}
	all := data.All()
	for _, name := range names {
		i := slices.IndexFunc(all, func(w data.Workload) bool { return w.Name == name })
		if i < 0 {
			log.Fatalf("there is no workload %s", name)
		}
		if *row != "" {
			measureRow(all[i], *row, *mb)
			continue
		}
		for _, way := range ways {
			// No collection before all is held: earlier work of the collector is not measured.
			cmd := exec.Command(os.Args[0], "-mb", fmt.Sprint(*mb), "-row", way, name)
			cmd.Env = append(os.Environ(), "GOGC=off")
			cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
			if err := cmd.Run(); err != nil {
				log.Fatal(err)
			}
		}
	}
}

// cycles is how many cycles of the collector are measured; the median counts.
const cycles = 7

func measureRow(w data.Workload, way string, mb int) {
	wire := limit.Append(nil, data.Message(w.New()))
	n := max(1, mb*1_000_000/len(wire))
	before := heap()
	held := hold(way, reflect.New(reflect.TypeOf(w.Kind).Elem()).Interface(), wire, n)
	after := heap()
	var times []float64
	for range cycles {
		began := measure.CPUTime()
		runtime.GC()
		times = append(times, float64(measure.CPUTime()-began)/float64(time.Millisecond))
	}
	runtime.KeepAlive(held)
	runtime.KeepAlive(wire)
	bytes := after.HeapAlloc - before.HeapAlloc
	fmt.Printf("| %s | %d | %d | %s | %.0f | %d | %d | %.2f |\n",
		w.Name, n, len(wire), way, float64(bytes)/1e6, after.HeapObjects-before.HeapObjects, bytes/uint64(n), measure.Median(times))
}

// heap returns the heap's size when all garbage is gone.
func heap() (m runtime.MemStats) {
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m
}

// hold returns n messages of the type of v, which are wire on the wire, held in one of the ways.
func hold(way string, v any, wire []byte, n int) any {
	switch way {
	case "bytes":
		return each(n, func() []byte { return bytes.Clone(wire) })
	case "Kitex":
		m := kitex.Of(v)
		return each(n, func() any {
			s := m.New()
			must(s.(thrift.FastCodec).FastRead(bytes.Clone(wire)))
			return s
		})
	case "parsed":
		switch v.(type) {
		case *data.Small:
			return parsed(peer.ParseSmall, wire, n)
		case *data.Business:
			return parsed(peer.ParseBusiness, wire, n)
		case *data.VStreamRows:
			return parsed(peer.ParseVStreamRowsResponse, wire, n)
		case *data.WriteRequest:
			return parsed(prom.ParseWriteRequest, wire, n)
		}
	}
	panic(fmt.Sprintf("no row %s of %T", way, v))
}

func parsed[S nocopy.StructView](parse func([]byte, ...nocopy.Option) (S, error), wire []byte, n int) any {
	return each(n, func() S { return must(parse(bytes.Clone(wire))) })
}

func each[T any](n int, f func() T) []T {
	held := make([]T, n)
	for i := range held {
		held[i] = f()
		// Collect the temporary memory of the parser and of Kitex now and then.
		if i%(1+n/4) == n/4 {
			runtime.GC()
		}
	}
	return held
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
