package rpc

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// While no request may be handled, since as many calls are under way as may be, or nothing more
// will be handled but replies are owed, the reader reads ahead, at most aheadMost bytes: so it
// notices when the client goes away. When it has as many it asks the system from time to time, if
// that tells.
const (
	aheadMost = 1 << 20
	askAgain  = 500 * time.Millisecond
)

// defaultGrace is the default of Server.HalfCloseTimeout.
const defaultGrace = 2 * time.Second

// read makes the goroutine the reader until it loses that role or the connection ends.
func (c *serverConn) read() {
	defer c.release()
	for ok := c.goOn(); ok; {
		h, chunk, err := c.receive()
		if err == nil {
			ok = c.process(h, chunk)
		} else {
			ok = c.readFailed(h, err)
		}
	}
}

func (c *serverConn) receive() (h header, chunk chain.Chunk, err error) {
	defer c.guard(&err)
	return c.in.next()
}

// guard makes an error of a panic about received bytes: it is deferred. There should be none but
// those of a tls.Config's functions.
func (c *serverConn) guard(err *error) {
	if v := recover(); v != nil {
		*err = c.srv.conceal("request failed", nil, c.peer, v, debug.Stack())
	}
}

// mayHandle reports whether another request may be handled. What a client sent before it closed
// the connection is handled although no reply can be written: there may be oneway calls in it.
// c.mu is held.
func (c *serverConn) mayHandle() bool {
	return c.underway < c.limit && !c.last && (!c.dead || c.eof) && !c.srv.closing.Load()
}

// over reports whether the connection has nothing more to do. c.mu is held.
func (c *serverConn) over() bool {
	ends := c.last || c.srv.closing.Load()
	return c.dead && (ends || !c.eof) || c.owed == 0 && ends
}

// goOn reports to the reader whether it may receive another request. If it may not yet, goOn
// waits; if it never will, the connection is closed.
func (c *serverConn) goOn() bool {
	c.mu.Lock()
	may := c.mayHandle()
	if may {
		c.state = receiving
	}
	c.mu.Unlock()
	return may || c.readAhead()
}

// readAhead is goOn when no request may be handled.
func (c *serverConn) readAhead() bool {
	for {
		c.mu.Lock()
		c.flush()
		c.in.clearDeadline()
		switch {
		case c.over():
			c.state = stopped
			c.mu.Unlock()
			c.hangUp()
			return false
		case c.mayHandle():
			c.state = receiving
			c.mu.Unlock()
			return true
		}
		c.state = ahead
		c.waits = c.eof || c.in.buffered() >= aheadMost
		waits := c.waits
		c.mu.Unlock()
		if waits {
			c.wait()
		} else if err := c.in.fillAhead(); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			c.broken(err)
		}
	}
}

// wait waits until wakeReader is called, or it is time to ask the system how the client does.
func (c *serverConn) wait() {
	timer := time.NewTimer(askAgain)
	defer timer.Stop()
	select {
	case <-c.wake:
	case <-timer.C:
		switch eof, reset := peerState(c.raw); {
		case reset:
			c.broken(syscall.ECONNRESET)
		case eof:
			c.broken(io.EOF)
		}
	}
}

// wakeReader has the reader that reads ahead look again. c.mu is held.
func (c *serverConn) wakeReader() {
	if c.waits {
		select {
		case c.wake <- struct{}{}:
		default:
		}
		return
	}
	c.in.stop()
}

// readFailed ends receiving, or not, and returns what goOn does. Somebody who sent what can't be
// understood gets an answer if it is known what to.
func (c *serverConn) readFailed(h header, err error) bool {
	c.mu.Lock()
	c.flush()
	busy := c.underway > 0
	c.mu.Unlock()
	var bad *nocopy.Error
	var internal *ApplicationException
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded) && (c.srv.closing.Load() || err != errTimeout && busy):
		return c.goOn() // to be closed, or not idle
	case errors.As(err, &internal), errors.As(err, &bad), errors.Is(err, nocopy.ErrLimit):
		c.logEnd(err)
		if h.size > 0 {
			return c.refuse(h, protocolError(err), true)
		}
	case errors.Is(err, ErrHTTP), errors.Is(err, ErrTLS):
		c.logEnd(err)
		c.answerForeign(err)
	default:
		c.broken(err)
	}
	c.mu.Lock()
	c.last = true
	c.mu.Unlock()
	return c.goOn()
}

// isMalformed reports whether an error of receiving is about the bytes rather than the connection.
func isMalformed(err error) bool {
	return errors.Is(err, ErrVersion) || errors.Is(err, chain.ErrFrameSize) || errors.Is(err, io.ErrUnexpectedEOF)
}

// broken notes an error of reading. At the end of the stream the client may still receive, for all
// that is known; then calls under way have some time left. After another error of the connection
// it can't.
func (c *serverConn) broken(err error) {
	c.logEnd(err)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == io.EOF, err == io.ErrUnexpectedEOF:
		if c.eof {
			return
		}
		c.eof = true
		switch grace := c.graceTime(); {
		case !c.writing && closedSocket(c.raw):
			c.die()
		case grace > 0:
			c.grace = time.AfterFunc(grace, c.giveUp)
		}
	case isMalformed(err), errors.Is(err, os.ErrDeadlineExceeded):
	default:
		c.die()
	}
}

func (c *serverConn) graceTime() time.Duration {
	return orDefault(c.srv.HalfCloseTimeout, defaultGrace)
}

// giveUp is called some time after the client's last byte, and after the last reply since: the
// client is taken to be gone. Replies to calls under way are still written.
func (c *serverConn) giveUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state != stopped {
		c.cancel()
		c.freeSlot()
	}
}

// slot tells what a connection counts as.
type slot uint8

const (
	taken slot = iota // one of Server.MaxConns
	freed             // one of Server.orphans
)

// freeSlot lets another connection be accepted instead of this one, whose handlers may still be
// running. c.mu is held.
func (c *serverConn) freeSlot() {
	if c.slot == freed {
		return
	}
	select {
	case c.srv.orphans <- struct{}{}:
		c.slot = freed
		<-c.srv.slots
	default: // too many of them: it keeps its slot until they have returned
	}
}

// die ends a connection whose client can receive nothing more. c.mu is held.
func (c *serverConn) die() {
	if c.dead {
		return
	}
	c.dead = true
	c.cancel()
	c.raw.Close()
	c.freeSlot()
	if !c.writing {
		c.drop()
	}
	if c.state == ahead {
		c.wakeReader()
	}
}

// hangUp closes the connection when there is nothing more to do.
func (c *serverConn) hangUp() {
	c.mu.Lock()
	dead, last := c.dead, c.last && !c.eof
	if c.grace != nil {
		c.grace.Stop()
	}
	c.timer.Stop()
	c.mu.Unlock()
	if !dead {
		if last {
			c.linger()
		}
		c.nc.Close()
	}
	c.mu.Lock()
	c.freeSlot()
	c.mu.Unlock()
}

// linger lets the client read the last reply: closing with bytes unread would make the kernel
// throw the reply away. It takes what the client is still sending, such as the rest of a message
// that is too large.
func (c *serverConn) linger() {
	const pause, most = 500 * time.Millisecond, 5 * time.Second
	half, ok := c.nc.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	into := make([]byte, 32<<10)
	for end := time.Now().Add(most); ; {
		now := time.Now()
		if now.After(end) {
			return
		}
		c.nc.SetReadDeadline(now.Add(pause))
		if _, err := c.nc.Read(into); err != nil {
			return
		}
	}
}

// answerForeign answers a client that does not speak Thrift, in its own language.
func (c *serverConn) answerForeign(err error) {
	answer := "\x15\x03\x01\x00\x02\x02\x28" // a TLS alert: fatal, handshake failure
	if errors.Is(err, ErrHTTP) {
		answer = badRequest
	}
	c.setWriteDeadline()
	io.WriteString(c.nc, answer)
}

const badRequest = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 31\r\nConnection: close\r\n\r\n" +
	"This port speaks Thrift's RPC.\n"

// answerPlain answers an HTTP request to a server with TLS.
func (c *serverConn) answerPlain(err error) {
	var first tls.RecordHeaderError
	if errors.As(err, &first) && first.Conn != nil && looksLikeHTTP(first.RecordHeader[:]) {
		c.raw.SetWriteDeadline(time.Now().Add(time.Second))
		io.WriteString(c.raw, badRequest)
	}
}

// logEnd logs why a connection ends, unless that is as it should be.
func (c *serverConn) logEnd(err error) {
	switch {
	case err == io.EOF, errors.Is(err, net.ErrClosed), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), c.srv.closing.Load():
	case errors.Is(err, os.ErrDeadlineExceeded) && err != errTimeout: // idle
	default:
		c.srv.log(warn, "connection closed", "peer", c.peer, "err", err)
	}
}

// stop has the reader look whether the server is closing.
func (c *serverConn) stop() {
	c.in.stop()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// closedSocket reports whether a connection that has no more to read is a unix socket whose other
// end is closed altogether, which the system tells at once. Nobody may be writing.
func closedSocket(nc net.Conn) bool {
	if _, ok := nc.(*net.UnixConn); !ok {
		return false
	}
	_, err := nc.Write(nil)
	return errors.Is(err, syscall.EPIPE)
}

// buffered returns how many bytes have arrived of messages that were not returned.
func (r *receiver) buffered() int { return len(r.in.Bytes()) }

// fillAhead waits for more bytes, without a limit to the time.
func (r *receiver) fillAhead() error { return r.in.Fill(r.nc, r.buffered()+1) }

// clearDeadline lets fillAhead wait. Whoever calls it looks afterwards whether the server is
// closing.
func (r *receiver) clearDeadline() {
	r.nc.SetReadDeadline(time.Time{})
	r.timed = false
}
