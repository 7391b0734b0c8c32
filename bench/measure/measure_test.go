package measure

import (
	"io"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/bench/peer"
)

var kept []byte

// row returns a row that allocates size bytes and runs a loop.
func row(name string, size, turns int) peer.Row {
	return peer.Row{Peer: name, Make: func() peer.Step {
		return func(io.Writer) uint64 {
			if size > 0 {
				kept = make([]byte, size)
			}
			n := uint64(1)
			for range turns {
				n = n*6364136223846793005 + 1442695040888963407
			}
			return n
		}
	}}
}

func TestRun(t *testing.T) {
	last := 0
	r := Run([]peer.Row{row("slow", 4096, 40_000), row("fast", 0, 10_000)},
		Options{Rounds: 5, Sample: 2 * time.Millisecond, Progress: func(done, of int) {
			if done != last+1 || of != 10 {
				t.Errorf("progress %d of %d after %d", done, of, last)
			}
			last = done
		}})
	slow, fast := r[0], r[1]
	if slow.Peer != "slow" || fast.Peer != "fast" || len(slow.Rounds) != 5 {
		t.Fatalf("results %+v", r)
	}
	if slow.Allocs < 0.9 || slow.Allocs > 1.5 || slow.Bytes < 4096 || slow.Bytes > 5000 || fast.Allocs > 0.2 {
		t.Errorf("slow allocates %v times, %v bytes; fast %v times", slow.Allocs, slow.Bytes, fast.Allocs)
	}
	if slow.NS <= fast.NS || fast.NS <= 0 || slow.CPU <= 0 {
		t.Errorf("slow takes %v ns (processor %v), fast %v ns", slow.NS, slow.CPU, fast.NS)
	}
	if ratio := Ratio(fast, slow); ratio <= 0.05 || ratio >= 0.9 {
		t.Errorf("a quarter of the work takes %v of the time", ratio)
	}
}

// TestBudget: no round is begun that exceeds the budget, after MinRounds.
func TestBudget(t *testing.T) {
	start := time.Now()
	r := Run([]peer.Row{row("", 0, 10_000_000)}, Options{Rounds: 1000, Sample: time.Second, Budget: 150 * time.Millisecond})
	if n := len(r[0].Rounds); n < 1 || n > 60 {
		t.Errorf("%d rounds in 150 ms, each of 10 million turns and more", n)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("took %v", took)
	}

	slow := []peer.Row{{Make: func() peer.Step {
		return func(io.Writer) uint64 { time.Sleep(5 * time.Millisecond); return 0 }
	}}}
	o := Options{Rounds: 7, Sample: time.Millisecond, Budget: time.Millisecond}
	if n := len(Run(slow, o)[0].Rounds); n != MinRounds {
		t.Errorf("%d rounds of a row that exceeds the budget, want %d", n, MinRounds)
	}
	o.Limit = time.Millisecond
	if n := len(Run(slow, o)[0].Rounds); n != 1 {
		t.Errorf("%d rounds of a row that exceeds the limit, want 1", n)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		v    []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 2, 100}, 3}} {
		if got := Median(c.v); got != c.want {
			t.Errorf("Median(%v) = %v, want %v", c.v, got, c.want)
		}
	}
	a, b := Result{Rounds: []float64{10, 20, 90}}, Result{Rounds: []float64{20, 40, 100}}
	if got := Ratio(a, b); got != 0.5 {
		t.Errorf("Ratio = %v, want the median of 0.5, 0.5 and 0.9", got)
	}
}
