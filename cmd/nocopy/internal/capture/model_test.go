package capture

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/capture/capturetest"
)

// modelled is a connection of a client of some kind, and what the capture has of it.
type modelled struct {
	client string // how many calls it has open: "sequential", "batches", "steady", "random"
	ids    string // of its calls: "same", "unique", "periodic", "http"
	window int    // most calls that are open
	mss    int

	late, lossy, swapped bool
}

func modelOf(r *rand.Rand) modelled {
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	m := modelled{client: one("sequential", "sequential", "batches", "steady", "random"), ids: one("same", "same", "unique", "periodic", "http"), window: 2 + r.IntN(3), mss: 12 + r.IntN(200)}
	m.late, m.lossy, m.swapped = r.IntN(3) == 0, r.IntN(2) == 0, r.IntN(2) == 0
	if m.client == "sequential" {
		m.window = 1
	}
	return m
}

// talk adds a connection with some calls to a capture. The results are the arguments.
func (m modelled) talk(r *rand.Rand, c *capturetest.Capture, calls int) {
	conn := c.Conn("10.0.0.1:50001", "10.0.0.2:9090")
	conn.Jump(r.Uint32())
	conn.MSS = m.mss
	conn.Open()
	same := uint32(r.IntN(3))
	send := func(from, i int) {
		kind := byte(kindCall)
		if from == server {
			kind = kindReply
		}
		id := map[string]uint32{"same": same, "unique": uint32(i) + 1, "periodic": uint32(i % 16)}[m.ids]
		body := fmt.Sprintf("\x08\x00\x01\x00\x00\x00%c\x00", i)
		if m.ids == "http" {
			conn.Send(from, carried(true, kind, "f", body))
		} else {
			conn.Send(from, frame(kind, "f", id, body))
		}
	}
	sent, answered := 0, 0
	for answered < calls {
		more := min(m.window-(sent-answered), calls-sent)
		switch {
		case m.client == "batches" && sent > answered:
			more = 0
		case m.client == "random":
			more = min(more, r.IntN(2))
		}
		for range more {
			send(client, sent)
			sent++
		}
		if sent > answered && (m.client != "random" || r.IntN(2) == 0) {
			send(server, answered)
			answered++
		}
	}
	conn.Close()
}

// harm loses packets, cuts some, and puts them in another order.
func (m modelled) harm(r *rand.Rand, c *capturetest.Capture) {
	if m.late {
		c.Packets = c.Packets[3+r.IntN(8):]
	}
	if m.lossy {
		c.Packets = slices.DeleteFunc(c.Packets, func(capturetest.Packet) bool { return r.IntN(15) == 0 })
		for i := range c.Packets {
			if p := &c.Packets[i]; r.IntN(30) == 0 && len(p.Data) > 60 {
				p.Size, p.Data = len(p.Data), p.Data[:55+r.IntN(len(p.Data)-55)]
			}
		}
	}
	if i := r.IntN(3); m.swapped && i > 0 { // those that open the connection
		c.Packets[i-1], c.Packets[i] = c.Packets[i], c.Packets[i-1]
	}
	for i := 4; m.swapped && i < len(c.Packets); i++ {
		if r.IntN(4) == 0 {
			c.Packets[i-1], c.Packets[i] = c.Packets[i], c.Packets[i-1]
		}
	}
}

// TestModel: a pair that is not marked as assumed is right. One that is marked is only wrong for a
// client that does not wait for each reply; if its beginning alone is missing, a note says so. All
// calls of a client that waits are paired if nothing is missing.
func TestModel(t *testing.T) {
	const captures, calls = 3000, 20
	count := map[string]int{}
	for seed := range uint64(captures) {
		r := rand.New(rand.NewPCG(seed, 3))
		m := modelOf(r)
		c := new(capturetest.Capture)
		m.talk(r, c, calls)
		m.harm(r, c)
		f, sum := read(t, c.PCAP(), Options{})
		paired, wrong := 0, 0
		for _, call := range f.calls {
			isWrong := call.Err == nil && !bytes.Equal(call.Args, call.Reply)
			if isWrong && (!call.Assumed || m.window == 1) {
				t.Errorf("seed %d, %+v: assumed %v, %q has the reply %q", seed, m, call.Assumed, call.Args, call.Reply)
			}
			if isWrong {
				wrong++
			} else if call.Err == nil {
				paired++
			}
		}
		if !m.late && !m.lossy && (paired != calls || len(f.notes) > 0 || sum.Replies > 0) {
			t.Errorf("seed %d, %+v: %d of %d calls are paired: %q", seed, m, paired, calls, f.notes)
		}
		if m.late && !m.lossy && !m.swapped && m.window == 1 && paired < len(f.calls)-2 {
			t.Errorf("seed %d, %+v: %d of %d calls are paired: %q", seed, m, paired, len(f.calls), f.notes)
		}
		if wrong > 0 && !m.lossy && !m.swapped && !strings.Contains(f.String(), "does not wait") {
			t.Errorf("seed %d, %+v: no note of %d wrong pairs: %q", seed, m, wrong, f.notes)
		}
		count[m.client+" paired"] += paired
		count[m.client+" wrong"] += wrong
	}
	t.Log(count)
	if count["sequential paired"] < captures*2/5*calls*7/10 {
		t.Errorf("%v", count)
	}
}

// TestWait: what follows missing bytes that were acknowledged waits for them, as they may have
// been captured later, but not longer than maxLate says. If one side was not captured, nothing
// waits.
func TestWait(t *testing.T) {
	for _, lost := range []int{1, 0} { // a call, or none: its packet comes late
		var turns []turn
		for i := range 2 * maxLate {
			body := fmt.Sprintf("\x06\x00\x01%c%c\x00", i>>7, i&127)
			turns = append(turns, turn{client, frame(1, "f", 0, body)}, turn{server, frame(2, "f", 0, body)})
		}
		c := conversation(turns...)
		at := 3 + 2*10
		late := c.Packets[at]
		c.Packets = slices.Delete(c.Packets, at, at+1)
		if lost == 0 {
			c.Packets = slices.Insert(c.Packets, at+maxLate-10, late)
		}
		c.Packets = c.Packets[:at+maxLate+20]
		f := new(found)
		from, err := sourceOf(bytes.NewReader(c.PCAP()))
		if err != nil {
			t.Fatal(err)
		}
		table := newTable(Options{}, f)
		if err := table.follow(t.Context(), from); err != nil {
			t.Fatal(err)
		}
		if n, notes := len(f.calls), len(f.notes); n < maxLate/2-10 || n > maxLate/2+20 || notes > 0 != (lost > 0) {
			t.Errorf("%d lost: %d calls have ended: %q", lost, n, f.notes)
		}
		table.end()
	}
	c := conversation(turn{client, frame(1, "f", 1, "\x00")}, turn{server, frame(2, "f", 1, "\x00")}, turn{client, frame(4, "f", 2, "\x00")}, turn{client, frame(4, "g", 3, "\x00")})
	c.Packets = slices.DeleteFunc(c.Packets, func(p capturetest.Packet) bool { return !sameSender(p, c.Packets[0]) })
	f := new(found)
	from, err := sourceOf(bytes.NewReader(c.PCAP()))
	if err != nil {
		t.Fatal(err)
	}
	table := newTable(Options{}, f)
	if err := table.follow(t.Context(), from); err != nil || len(f.calls) != 2 || len(f.notes) != 0 {
		t.Errorf("%v: %s", err, f)
	}
	table.end()
}
