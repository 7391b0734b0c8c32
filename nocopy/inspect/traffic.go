package inspect

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"
)

// direction is a direction of a connection, as seen by its user.
type direction int

const (
	sent direction = iota
	received
)

func (d direction) other() direction { return 1 - d }

// traffic has the bytes of a connection that were seen and not yet dumped. Each direction has a
// goroutine that dumps it. The two goroutines take turns, so that messages come in order.
type traffic struct {
	tap           *Tap
	local, remote string

	mu      sync.Mutex
	changed *sync.Cond
	pieces  []piece
	size    int // of the pieces

	missing [2]int64 // bytes that were left out after the pieces
	started [2]bool  // the goroutine was started
	resting [2]bool  // the goroutine waits for more, or has ended
	ended   [2]bool  // nothing more comes
	over    [2]bool  // the goroutine has ended
	running int      // goroutines
}

// piece has the bytes of one Read or Write, or the number of bytes that were left out.
type piece struct {
	direction
	at   time.Time
	data []byte
	gap  *gapError
}

// cost returns how much memory the piece takes.
func (p piece) cost() int { return len(p.data) + recordOverhead }

// gapError is the error of Read where bytes were left out, or where bytes that were seen were not
// sent.
type gapError struct {
	n      int64
	unsent error // why bytes were not sent; nil if bytes were left out
}

func (e *gapError) Error() string { return fmt.Sprintf("%d bytes left out", e.n) }

func newTraffic(t *Tap, nc net.Conn) *traffic {
	c := &traffic{tap: t, local: address(nc.LocalAddr()), remote: address(nc.RemoteAddr())}
	c.changed = sync.NewCond(&c.mu)
	return c
}

func address(a net.Addr) string {
	if a == nil {
		return "?"
	}
	return a.String()
}

// push adds a copy of b, or of as much of it as there is room for.
func (c *traffic) push(d direction, b []byte) {
	if len(b) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended[d] {
		return
	}
	if !c.started[d] {
		if c.running == 0 {
			c.tap.add(c)
		}
		c.started[d] = true
		c.running++
		go newLive(c, d).run()
	}
	room := min(mostOfConn-c.size, int(mostWaiting-c.tap.waiting.Load())) - 2*recordOverhead
	n := min(len(b), room)
	if n < len(b) && n < recordOverhead {
		n = 0
	}
	if n > 0 {
		if c.missing[d] > 0 {
			c.add(piece{direction: d, gap: &gapError{n: c.missing[d]}})
			c.missing[d] = 0
		}
		c.add(piece{direction: d, at: time.Now(), data: append([]byte(nil), b[:n]...)})
	}
	c.missing[d] += int64(len(b) - n)
	c.changed.Broadcast()
}

func (c *traffic) add(p piece) {
	c.pieces = append(c.pieces, p)
	c.size += p.cost()
	c.tap.waiting.Add(int64(p.cost()))
}

// unsent notes that the last n bytes were not sent. A connection that has failed may be written to
// again, but not so often that these notes take much memory.
func (c *traffic) unsent(n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.started[sent] && !c.ended[sent] && c.size < mostOfConn {
		c.add(piece{direction: sent, gap: &gapError{int64(n), err}})
		c.changed.Broadcast()
	}
}

// end notes that nothing more comes in these directions.
func (c *traffic) end(directions ...direction) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range directions {
		c.ended[d] = true
	}
	c.changed.Broadcast()
}

// next waits for the next piece of a direction. The error is io.EOF at the end, or a *gapError.
func (c *traffic) next(d direction) (piece, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		turn := !c.started[d.other()] || c.resting[d.other()]
		switch {
		case len(c.pieces) > 0 && c.pieces[0].direction == d:
			if !turn {
				break
			}
			p := c.pieces[0]
			c.pieces[0] = piece{}
			if c.pieces = c.pieces[1:]; len(c.pieces) == 0 {
				c.pieces = nil
			}
			c.size -= p.cost()
			c.tap.waiting.Add(int64(-p.cost()))
			c.resting[d] = false
			if p.gap != nil {
				return p, p.gap
			}
			return p, nil
		case len(c.pieces) > 0:
		case c.missing[d] > 0 && turn:
			gap := &gapError{n: c.missing[d]}
			c.missing[d] = 0
			c.resting[d] = false
			return piece{gap: gap}, gap
		case c.ended[d] && c.missing[d] == 0:
			c.resting[d] = false
			return piece{}, io.EOF
		}
		if !c.resting[d] { // wake the waiting goroutines once
			c.resting[d] = true
			c.changed.Broadcast()
		}
		c.changed.Wait()
	}
}

// finished notes that the goroutine of a direction has ended.
func (c *traffic) finished(d direction) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended[d], c.over[d], c.resting[d] = true, true, true
	c.missing[d] = 0
	c.pieces = slices.DeleteFunc(c.pieces, func(p piece) bool { // pieces are left only after a panic
		if p.direction == d {
			c.size -= p.cost()
			c.tap.waiting.Add(int64(-p.cost()))
		}
		return p.direction == d
	})
	if c.running--; c.running == 0 {
		c.tap.remove(c)
	}
	c.changed.Broadcast()
}

// wait waits until all seen bytes are dumped.
func (c *traffic) wait(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.changed.Broadcast()
	})()
	c.mu.Lock()
	defer c.mu.Unlock()
	for ctx.Err() == nil && !c.isIdle() {
		c.changed.Wait()
	}
	return ctx.Err()
}

func (c *traffic) isIdle() bool {
	for _, d := range []direction{sent, received} {
		if c.started[d] && (!c.resting[d] || c.missing[d] > 0 || c.ended[d] && !c.over[d]) {
			return false
		}
	}
	return len(c.pieces) == 0
}
