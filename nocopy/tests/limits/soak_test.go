package limits_test

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// soakMessages returns how many messages TestSoak handles in each mode: NOCOPY_SOAK_MESSAGES, or a
// few.
func soakMessages(t *testing.T) int {
	text := os.Getenv("NOCOPY_SOAK_MESSAGES")
	if text == "" {
		return testmode.Of(4000, 20_000)
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// resident returns the resident memory of the process in bytes, or 0 if it is unknown.
func resident() int {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, _ := strconv.Atoi(strings.Fields(string(b))[1])
	return pages * os.Getpagesize()
}

// soaker handles messages like a busy program.
type soaker struct {
	r       *rand.Rand
	opts    []nocopy.Option
	recycle bool
	wires   [][]byte
	kept    [200]string // strings that the program keeps
	numbers []int64
}

// one handles one message.
func (k *soaker) one() error {
	octave := 0
	for octave < len(k.wires)-1 && k.r.IntN(2) == 0 {
		octave++
	}
	wire := k.wires[octave]
	text, words := fieldNamed(allDesc, "text"), fieldNamed(allDesc, "words")
	if k.r.IntN(4) == 0 { // build a message
		s := newStruct(allDesc, k.opts...)
		n := len(wire) / 16
		s.SetInt64s(fieldNamed(allDesc, "numbers"), allDesc, k.numbers[:n])
		l := nocopy.StringList(s.NewChild(words, allDesc, 0))
		for range n / 16 {
			l.Append("built in place")
		}
		s.SetText(text, "built")
		_, err := s.Message().WriteTo(io.Discard)
		s.Release()
		return err
	}
	s, err := readAll(wire, k.opts)
	if err != nil {
		return err
	}
	l := nocopy.StringList(s.Child(words, allDesc))
	s.SetText(text, "edited")
	for i := 0; i < l.Len(); i += 100 {
		l.Set(i, "other words")
	}
	if !k.recycle && k.r.IntN(100) == 0 {
		k.kept[k.r.IntN(len(k.kept))] = l.At(l.Len() - 1)
	}
	other := s
	if k.r.IntN(8) == 0 { // link it into another, and drop it
		other = newStruct(allDesc, k.opts...)
		other.SetChild(fieldNamed(allDesc, "self"), allDesc, s)
		s.Release()
	}
	_, err = other.Message().WriteTo(io.Discard)
	other.Release()
	return err
}

// readAll receives a message.
func readAll(wire []byte, opts []nocopy.Option) (thriftimpl.Struct, error) {
	return nocopy.Read[thriftimpl.Struct](allDesc, bytes.NewReader(wire), len(wire), opts...)
}

// TestSoak handles the messages of soakWires, one after another in several goroutines. After the
// first part of the test the process must not grow. With -v it prints the sizes.
func TestSoak(t *testing.T) {
	if raceEnabled || debugging {
		t.Skip("measures memory, which the race detector and nocopydebug use otherwise")
	}
	if resident() == 0 {
		t.Skip("the size of the process is not known here")
	}
	wires := soakWires()
	for name, opts := range map[string][]nocopy.Option{"safe": nil, "recycling": {nocopy.Recycle}} {
		t.Run(name, func(t *testing.T) {
			const goroutines, samples = 2, 20
			soakers := make([]*soaker, goroutines)
			for i := range soakers {
				soakers[i] = &soaker{r: rand.New(rand.NewPCG(uint64(i), 9)), opts: opts, recycle: opts != nil, wires: wires, numbers: make([]int64, 1<<20)}
			}
			var sizes []int
			messages := soakMessages(t)
			start := time.Now()
			for range samples {
				done := make(chan error, goroutines)
				for _, k := range soakers {
					go func() {
						var err error
						for i := 0; i < messages/samples/goroutines && err == nil; i++ {
							err = k.one()
						}
						done <- err
					}()
				}
				for range goroutines {
					if err := <-done; err != nil {
						t.Fatal(err)
					}
				}
				runtime.GC()
				sizes = append(sizes, resident()>>20)
			}
			t.Logf("%d messages, %.0f a second; resident MiB: %v", messages, float64(messages)/time.Since(start).Seconds(), sizes)
			early, late := slices.Max(sizes[samples/4:samples/2]), slices.Max(sizes[3*samples/4:])
			if late > early+early/3+48 {
				t.Errorf("%d MiB at the end, %d before", late, early)
			}
		})
	}
	debug.FreeOSMemory()
}

// live returns the bytes of the heap in use, after emptying the pools.
func live() int {
	for range 8 { // large spare memory is given up by a goroutine after some collections
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestHugeMessageLeaves: the memory of a huge message is given up when later messages are small,
// even if pools are in use too often to be emptied.
func TestHugeMessageLeaves(t *testing.T) {
	if raceEnabled || debugging {
		t.Skip("pools are not pools then")
	}
	for name, huge := range map[string]func(s thriftimpl.Struct){
		"many values": func(s thriftimpl.Struct) {
			n := testmode.Of(100_000, 2_000_000)
			l := nocopy.StringList(s.NewChild(fieldNamed(allDesc, "words"), allDesc, n))
			for i := range n {
				l.Set(i, "word")
			}
		},
		"many edits": func(s thriftimpl.Struct) {
			n := testmode.Of(50_000, 500_000)
			l := nocopy.StringList(s.NewChild(fieldNamed(allDesc, "words"), allDesc, n))
			for i := range n {
				l.Set(n-1-i, "word")
			}
		},
		"one large value": func(s thriftimpl.Struct) { s.NewBytes(fieldNamed(allDesc, "blob"), 64<<20) },
		"a large map": func(s thriftimpl.Struct) {
			p := nocopy.Map[string, int64, thriftimpl.AsString, thriftimpl.AsInt64](s.NewChild(fieldNamed(allDesc, "counts"), allDesc, 0))
			for i := range testmode.Of(30_000, 300_000) {
				p.Put(itoa(i), 1)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for mode, opts := range map[string][]nocopy.Option{"safe": nil, "recycling": {nocopy.Recycle}} {
				small := func(n int) {
					for range n {
						s := newStruct(allDesc, opts...)
						s.SetText(fieldNamed(allDesc, "text"), "small")
						s.Message().WriteTo(io.Discard)
						s.Release()
					}
				}
				small(100)
				before := live()
				s := newStruct(allDesc, opts...)
				huge(s)
				s.Message().WriteTo(io.Discard)
				s.Release()
				held := math.MaxInt
				// One slab may wait for new messages
				const most = memory.MaxSlabSize + 256<<10
				// A pool's items survive some collections
				for end := time.Now().Add(time.Minute); held > most && time.Now().Before(end); {
					small(1000)
					runtime.GC()
					var now runtime.MemStats
					runtime.ReadMemStats(&now)
					held = int(now.HeapAlloc) - before
				}
				if held > most {
					t.Errorf("%s, %s: %d bytes are still held", name, mode, held)
				}
			}
		})
	}
}

// TestRetainedString: a string that the program keeps keeps one slab alive: memory.SlabSize, or
// memory.MaxSlabSize for a larger message. For a message received in large pieces, it is at most
// the size of the message.
func TestRetainedString(t *testing.T) {
	if !aliasing || raceEnabled {
		t.Skip("strings are copies, or memory is measured with what the race detector needs")
	}
	words := fieldNamed(allDesc, "words")
	wires := soakWires()
	for name, receive := range map[string]func(wire []byte) thriftimpl.Struct{
		"read": func(wire []byte) thriftimpl.Struct {
			s, err := readAll(wire, nil)
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
		"built": func(wire []byte) thriftimpl.Struct {
			s := newStruct(allDesc)
			l := nocopy.StringList(s.NewChild(words, allDesc, 0))
			for range len(wire)/16 + 1 {
				l.Append("some words")
			}
			return s
		},
		"parsed": func(wire []byte) thriftimpl.Struct { return mustParse(t, allDesc, bytes.Clone(wire)) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, wire := range wires {
				const n = 8
				var kept [n]string
				before := live()
				for i := range kept {
					// Keep one string of each of many messages
					for range max(1, testmode.Of(10_000, 300_000)/len(wire)) {
						s := receive(wire)
						kept[i] = nocopy.StringList(s.Child(words, allDesc)).At(0)
						s.Release()
					}
				}
				slab := memory.SlabSize
				if len(wire) > memory.SlabSize {
					slab = max(len(wire), memory.MaxSlabSize)
				}
				most := n * (slab + 16<<10)
				held := live() - before
				// What is spare may not be given up yet
				for end := time.Now().Add(time.Minute); held > most+256<<10 && time.Now().Before(end); {
					held = live() - before
				}
				if held > most+256<<10 {
					t.Errorf("%s, messages of %d bytes: %d strings keep %d bytes alive, more than %d", name, len(wire), n, held, most)
				}
				runtime.KeepAlive(&kept)
			}
		})
	}
}
