package chain_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
)

// lateSource is a stream whose bytes arrive bit by bit. While it waits, wait is called.
type lateSource struct {
	data []byte
	r    *rand.Rand
	wait func()
}

func (s *lateSource) Read([]byte) (int, error) { panic("ReadLate is to be called") }

func (s *lateSource) ReadLate(m interface {
	Room() []byte
	Vacate()
}) (int, error) {
	for s.r.IntN(2) == 0 {
		m.Room() // there is nothing to be read yet
		m.Vacate()
		s.wait()
	}
	if len(s.data) == 0 {
		return 0, io.EOF
	}
	n := copy(m.Room()[:1+s.r.IntN(min(len(s.data), len(m.Room())))], s.data)
	s.data = s.data[n:]
	return n, nil
}

// TestReceiverLate: Receivers give each other the memory that they do not need while they wait.
// What has arrived stays as it is, also a part of a message, and messages that are held.
func TestReceiverLate(t *testing.T) {
	for _, recycle := range []bool{false, true} {
		t.Run(fmt.Sprint(recycle), func(t *testing.T) {
			blocks := memory.BlocksInUse()
			r := rand.New(rand.NewPCG(testmode.Seed(t), 2))
			type held struct {
				memory.Chunk
				want []byte
			}
			var chunks []held
			release := func(most int) {
				for len(chunks) > most {
					h := chunks[0]
					chunks = chunks[1:]
					var got []byte
					for p := &h.Chunk; p != nil; p = p.Next() {
						got = append(got, p.Mem...)
						for i := range p.Mem {
							p.Mem[i] = 0xee // no other chunk may show this
						}
					}
					if !bytes.Equal(got, h.want) {
						t.Fatalf("a chunk of %d bytes has changed", len(h.want))
					}
					h.Release()
				}
			}
			// Each Receiver goes on while another one waits, as goroutines do.
			type stream struct {
				in   memory.Receiver
				src  lateSource
				busy bool
			}
			streams := make([]stream, 4)
			var step func(depth int)
			depth := 0
			receive := func(s *stream) {
				s.busy = true
				defer func() { s.busy = false }()
				n := 1 + r.IntN(1<<r.IntN(17))
				want := make([]byte, n)
				for i := range want {
					want[i] = byte(r.Uint32())
				}
				s.src.data = want
				cut := 0
				for s.in.Arrived() < n {
					if err := s.in.Fill(&s.src, 1+r.IntN(n-cut)); err != nil {
						t.Fatal(err)
					}
					if arrived := len(s.in.Bytes()); s.in.Arrived() < n && r.IntN(8) == 0 {
						s.in.Cut(arrived)
						cut += arrived
					}
				}
				chunks = append(chunks, held{s.in.Take(n - cut), want})
				release(r.IntN(8))
			}
			step = func(max int) {
				if depth >= max {
					return
				}
				depth++
				if s := &streams[r.IntN(len(streams))]; !s.busy {
					receive(s)
				}
				depth--
			}
			for i := range streams {
				streams[i].in.Reset(recycle)
				streams[i].in.Idle = true
				streams[i].src = lateSource{r: r, wait: func() { step(3) }}
			}
			for range testmode.Of(2_000, 10_000) {
				step(3)
			}
			release(0)
			for i := range streams {
				streams[i].src.wait = func() {}
				if err := streams[i].in.Fill(&streams[i].src, 1); err != io.EOF {
					t.Errorf("at the end: %v", err)
				}
				streams[i].in.Free()
			}
			if now := memory.BlocksInUse(); now != blocks {
				t.Errorf("%d blocks in use, %d before", now, blocks)
			}
		})
	}
}

// TestReceiverLateHeld: messages that are held share blocks, although the Receiver waits after
// each.
func TestReceiverLateHeld(t *testing.T) {
	memory.CountBlocks()
	before, _ := memory.Blocks()
	var in memory.Receiver
	in.Reset(true)
	in.Idle = true
	src := &lateSource{r: rand.New(rand.NewPCG(3, 4)), wait: func() {}}
	var chunks []memory.Chunk
	for range 500 {
		src.data = make([]byte, 100)
		for len(in.Bytes()) < 100 {
			if err := in.Fill(src, 100); err != nil {
				t.Fatal(err)
			}
		}
		chunks = append(chunks, in.Take(100))
	}
	if now, _ := memory.Blocks(); now-before > 40 {
		t.Errorf("%d blocks for 50 KB", now-before)
	}
	for _, c := range chunks {
		c.Release()
	}
	in.Free()
}
