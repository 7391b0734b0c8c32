package sessions

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee/apachetest"
)

var (
	seedFlag = flag.Uint64("model.seed", 0, "seed of TestModel; 0 is as testmode.Seed has it")
	opsFlag  = flag.Int("model.ops", 0, "operations of TestModel, at least; 0: 10,000, 200,000 with NOCOPY_LONG")
)

// universe holds the types of a session.
type universe struct {
	structs []*referee.Struct
	*apachetest.Schema
}

// typesSeed is the seed of the random types.
var typesSeed uint64

// universes are the sets of types that sessions choose from: structs of every shape, and random
// ones of 3 to 1,022 fields.
var universes = sync.OnceValue(func() (all []universe) {
	all = append(all, universe{referee.Everything(), apachetest.NewSchema()})
	for seed, counts := range [][]int{
		{3, 4, 5}, {6, 3, 9, 4}, {14, 15, 3}, {16, 57, 5}, {58, 3, 6}, {56, 59, 4}, {100, 7, 3}, {5, 200, 4}, {575, 3, 8},
		{3, 577, 4}, {1022, 5, 3}, {4, 5, 1022}, {3, 3, 3, 3, 3}, {8, 9, 30, 4}, {9, 3, 70, 4}, {7, 7, 7, 7},
	} {
		g := apachetest.NewGen(typesSeed + uint64(seed))
		all = append(all, universe{g.StructsOf(counts...), apachetest.NewSchema()})
	}
	return all
})

// play runs the session of the bytes and returns it with its first failure.
func play(data []byte, log bool) (s *session, err error) {
	c := &choices{b: data}
	all := universes()
	s = &session{universe: all[c.Intn(len(all))], Gen: &referee.Gen{Choices: c}, data: c}
	if log {
		s.log = &strings.Builder{}
	}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			err = fmt.Errorf("%s", string(r))
		default:
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	s.run(2000)
	return s, nil
}

// shorten removes bytes from a failing session that still fails without them: steps, as many at a
// time as possible, then single bytes.
func shorten(data []byte, limit time.Duration) []byte {
	deadline := time.Now().Add(limit)
	fails := func(b []byte) bool {
		if time.Now().After(deadline) {
			return false
		}
		_, err := play(b, false)
		return err != nil
	}
	s, _ := play(data, false)
	data = data[:min(s.data.at, len(data))]
	for size := len(s.marks); size > 0; size /= 2 {
		for k := 0; k < len(s.marks); {
			from, to := s.marks[k], len(data)
			if k+size < len(s.marks) {
				to = min(s.marks[k+size], len(data))
			}
			less := append(append([]byte{}, data[:min(from, to)]...), data[to:]...)
			if to > from && fails(less) {
				data = less
				s, _ = play(data, false)
			} else {
				k += size
			}
		}
	}
	for i := len(data) - 1; i > 0; i-- {
		if less := append(append([]byte{}, data[:i]...), data[i+1:]...); fails(less) {
			data = less
		} else if data[i] != 0 {
			zero := append([]byte{}, data...)
			if zero[i] = 0; fails(zero) {
				data = zero
			}
		}
	}
	return data
}

// report fails the test with the shortest form of a failing session.
func report(t *testing.T, data []byte, limit time.Duration) {
	t.Helper()
	data = shorten(data, limit)
	s, err := play(data, true)
	if err == nil {
		t.Errorf("a session failed, but not again: %x", data)
		return
	}
	text := err.Error()
	if len(text) > 6000 {
		text = text[:6000] + "…"
	}
	t.Errorf("%s\n%s\nwith -model.seed=%d the session's bytes are %x", s.log, text, typesSeed, data)
}

// TestModel plays sessions until they have done the requested number of operations.
func TestModel(t *testing.T) {
	t.Parallel()
	seed := *seedFlag
	if seed == 0 {
		seed = testmode.Seed(t)
	}
	want := *opsFlag
	if want == 0 {
		want = testmode.Of(10_000, 100_000)
	}
	typesSeed = seed
	ops, sessions := 0, uint64(0)
	for ops < want {
		sessions++
		data := randomBytes(seed, sessions)
		s, err := play(data, false)
		if ops += s.ops; err != nil {
			t.Logf("-model.seed=%d, session %d", seed, sessions)
			report(t, data, 20*time.Second)
			return
		}
	}
	t.Logf("-model.seed=%d: %d operations in %d sessions", seed, ops, sessions)
}

func randomBytes(seed, session uint64) []byte {
	r := rand.New(rand.NewPCG(seed, session))
	b := make([]byte, 200+r.IntN(4000))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func FuzzModel(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(randomBytes(0, seed)[:200])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 2<<10 {
			return // longer sessions only repeat themselves
		}
		if _, err := play(data, false); err != nil {
			report(t, data, 3*time.Second) // a fuzzer takes 10 for a hang
		}
	})
}
