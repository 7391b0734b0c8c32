package faults

import (
	"bytes"
	"context"
	"io"
	"math"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestDraw: errors and cuts come as often as asked for, the same with the same seed, and only to
// the methods that were named.
func TestDraw(t *testing.T) {
	flags := Flags{Errors: 0.1, Cuts: 0.2, Methods: []string{"Store.get", "put*"}}
	draws := func(seed uint64, method string) (all []Fault, counts [4]int) {
		i := New(flags, "record", seed)
		for range 10_000 {
			f := i.Draw(method)
			all = append(all, f)
			counts[f]++
		}
		return all, counts
	}
	first, counts := draws(7, "Store.get")
	for f, want := range map[Fault]int{None: 7200, Error: 1000, CutBefore: 900, CutAfter: 900} {
		if have := counts[f]; have < want-250 || have > want+250 {
			t.Errorf("fault %d comes %d times in 10,000, not about %d", f, have, want)
		}
	}
	again, _ := draws(7, "putAll")
	other, _ := draws(0, "shop:putAll")
	same, others := 0, 0
	for i, f := range first {
		if again[i] == f {
			same++
		}
		if other[i] == f {
			others++
		}
	}
	if same != len(first) || others == len(first) {
		t.Errorf("with the same seed %d draws are the same, with another %d", same, others)
	}
	for _, method := range []string{"Store.getAll", "get", "Other.get", "input"} {
		if _, counts := draws(7, method); counts[None] != 10_000 {
			t.Errorf("%s: %v", method, counts)
		}
	}
}

// TestHold: an answer is held back for the time of -delay, and not longer than the call lives.
func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := New(Flags{Delay: time.Minute, Methods: []string{"get"}}, "record", 1)
		began := time.Now()
		if err := i.Hold(t.Context(), "Store.put"); err != nil || time.Since(began) != 0 {
			t.Errorf("another method: %v after %v", err, time.Since(began))
		}
		if err := i.Hold(t.Context(), "Store.get"); err != nil || time.Since(began) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := i.Hold(ctx, "Store.get"); err != context.DeadlineExceeded || time.Since(began) != time.Minute+time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// TestCheck: values that make no sense are refused.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		flags Flags
		want  string
	}{
		{Flags{}, ""}, {Flags{Delay: 1, Errors: 1, Cuts: 1, Methods: []string{"a.*"}}, ""},
		{Flags{Errors: 1.1}, "from 0 to 1"}, {Flags{Cuts: -1}, "from 0 to 1"}, {Flags{Errors: math.NaN()}, "from 0 to 1"}, {Flags{Delay: -1}, "not negative"},
		{Flags{Methods: []string{"a"}}, "-methods needs"}, {Flags{Delay: 1, Methods: []string{"["}}, "-methods [: syntax error"},
	} {
		if err := c.flags.Check(); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v", c.flags, err)
		}
	}
	for text, want := range map[string]int64{"100KB/s": 100_000, "1MiB/s": 1 << 20, "1": 1, "1.5MB": 1_500_000, "0": 0, "0.5": 0, "NaN": 0, "KB/s": 0, "1KiBKB": 0, "-1KB/s": 0, "x": 0, "999999TB": 0, "": 0, "1KB/h": 0} {
		if n, err := ParseBandwidth(text); n != want || (err == nil) != (want > 0) {
			t.Errorf("%s: %d, %v", text, n, err)
		}
	}
}

// listener has one connection.
type listener struct {
	net.Listener
	nc net.Conn
}

func (l *listener) Accept() (net.Conn, error) { return l.nc, nil }

// TestThrottle: a connection carries its bytes unchanged, in the time that they need, in both
// directions at once.
func TestThrottle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		slow, err := Throttle(&listener{nc: near}, 1000).Accept()
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		sent := bytes.Repeat([]byte("0123456789"), 1000)
		took := make(chan time.Duration, 2)
		check := func(what string, b []byte, err error) {
			if err != nil || !bytes.Equal(b, sent) {
				t.Errorf("%s: %d bytes, %v", what, len(b), err)
			}
			took <- time.Since(began)
		}
		go func() {
			b := make([]byte, len(sent))
			_, err := io.ReadFull(slow, b)
			check("to the server", b, err)
		}()
		go func() {
			b := make([]byte, len(sent))
			_, err := io.ReadFull(far, b)
			check("to the client", b, err)
		}()
		go far.Write(sent)
		if n, err := slow.Write(sent); n != len(sent) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		for range 2 {
			if d := <-took; d < 9900*time.Millisecond || d > 10100*time.Millisecond {
				t.Errorf("10,000 bytes at 1,000 per second took %v", d)
			}
		}
		far.Close()
		if n, err := slow.Write(sent); err == nil || n != 0 {
			t.Errorf("after the end: %d, %v", n, err)
		}
	})
}
