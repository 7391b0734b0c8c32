package server

import (
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/firstbytes"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/sasl"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/setting"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/shared"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/socket"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
)

// While Concurrency calls are under way, no further request is handled. The same holds when the
// connection handles no more requests but still has replies to write. Then the reader reads ahead
// to notice when the client goes away. Once it has maxAhead bytes, it asks the system every
// peerPoll instead; only Linux can answer.
const (
	maxAhead = 1 << 20
	peerPoll = 500 * time.Millisecond
)

// unansweredCalls times Concurrency replies may wait to be written at a time: those of calls under
// way, and refusals that wait for earlier replies.
const unansweredCalls = 16

// defaultHalfClose is the value of a Server.HalfCloseTimeout of 0.
const defaultHalfClose = 2 * time.Second

// read is the reader's loop. It returns when another goroutine has become the reader, or the
// connection has ended. If a method of nc panics, the connection ends. Few calls are nested around
// Await: this is where the goroutine of an idle connection is.
func (c *connection) read() {
	defer c.release()
	defer c.survive()
	c.flushHeld() // by the reader before, to be written with the reply of its call
	for ok := c.keepReading(); ok; {
		if err := c.in.Await(); err != nil {
			ok = c.readFailed(message.Header{}, err)
		} else {
			ok = c.readOne()
		}
	}
}

// readOne receives a message and handles it. It reports whether the calling goroutine is still the
// reader and may receive another request.
func (c *connection) readOne() bool {
	var h message.Header
	chunk, err := c.in.Next(&h)
	switch {
	case err != nil:
		return c.readFailed(h, err)
	case c.passed != nil && c.share(h, chunk):
		return c.keepReading()
	}
	return c.process(&h, chunk)
}

// survive is deferred in the goroutines of readers: it ends the connection if a method of nc has
// panicked.
func (c *connection) survive() {
	if v := recover(); v != nil {
		c.srv.Conceal("connection closed", c.Peer, v, debug.Stack())
		c.giveUp()
	}
}

// share answers the call that asks for shared memory, which is the first one on its connection. It
// reports false if h and chunk are not that call or there is no shared memory: then the message is
// a call like others.
func (c *connection) share(h message.Header, chunk memory.Chunk) bool {
	passed := c.passed
	c.passed = nil
	defer passed.Close()
	if string(h.Name) != shared.Method || h.Type != message.Call || h.Style != (message.Style{}) || c.in.Transport != transport.Framed {
		return false
	}
	c.setWriteDeadline()
	link, broken, err := shared.Answer(c.raw.(*net.UnixConn), h, chunk.Mem, passed, setting.Or(c.srv.MaxShared, shared.DefaultSize))
	if broken {
		c.giveUp()
	}
	if err != nil {
		c.srv.Log(slog.LevelDebug, "no shared memory", "peer", c.Peer, "err", err)
		return false
	}
	chunk.Release()
	c.mu.Lock()
	c.Shared = link
	c.mu.Unlock()
	c.Trusts = c.srv.Shared.Trusts()
	c.in.Link, c.in.Trusts = link, c.Trusts
	return true
}

// mayHandle reports whether another request may be handled. Requests that a client sent before it
// closed the connection are handled although no reply can be written: some may be oneway calls.
// c.mu is held.
func (c *connection) mayHandle() bool {
	return c.underway < c.limit && c.unanswered < c.limit*unansweredCalls && !c.in.Charged() && !c.noMore && (!c.aborted || c.eof)
}

// mayClose reports whether the connection may be closed: no more requests will be handled, and no
// reply is still to be written, or none can be. c.mu is held.
func (c *connection) mayClose() bool {
	return c.aborted && (c.noMore || !c.eof) || c.unanswered == 0 && c.noMore
}

// leave is called by the reader when the connection is to end, though nothing is wrong with it:
// the server is closing, or the connection is idle or too old. Requests that have arrived are
// still handled: their clients could not know that they were not. Later requests are dropped, as
// far as the system can do that: clients then know that they were not handled.
func (c *connection) leave() {
	if !c.in.last {
		c.left = time.Now()
		c.sealed = socket.Seal(c.raw)
		_, unix := c.raw.(*net.UnixConn)
		until := time.Time{}
		if !c.sealed {
			until = c.left.Add(mostDraining)
		}
		c.in.endSoon(c.sealed && unix, until)
	}
}

// mayDrain reports whether it pays to look for requests once more after all received ones were
// read: more may come, and replies can still be written. c.mu is held.
func (c *connection) mayDrain() bool {
	return !c.sealed && c.unanswered > 0 && time.Since(c.left) < mostDraining && !c.in.HasBegun()
}

// readAhead is keepReading while no request may be handled.
func (c *connection) readAhead() bool {
	for {
		if c.in.isClosing() {
			c.leave()
		}
		c.mu.Lock()
		c.flush()
		c.in.ClearDeadline()
		c.in.hurry()
		switch {
		case c.in.isClosing() && !c.in.last: // since it was asked
			c.mu.Unlock()
			continue
		case c.mayClose():
			c.state = stopped
			c.mu.Unlock()
			c.close()
			return false
		case c.mayHandle():
			c.state = receiving
			c.mu.Unlock()
			return true
		}
		c.state = ahead
		park := c.eof || c.in.shut || c.in.Buffered() >= maxAhead
		if park {
			c.state = parked
		}
		c.mu.Unlock()
		if park {
			c.park()
		} else if err := c.in.FillAhead(); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			c.readError(err)
		}
	}
}

// park waits until wakeReader is called, or for the time peerPoll; then it asks the system whether
// the client is still there.
func (c *connection) park() {
	timer := time.NewTimer(peerPoll)
	defer timer.Stop()
	select {
	case <-c.wake:
	case <-timer.C:
		if c.in.shut {
			c.mu.Lock()
			if !c.writing && closedByPeer(c.raw) {
				c.abort()
			}
			c.mu.Unlock()
			return
		}
		switch eof, reset := socket.PeerState(c.raw); {
		case reset:
			c.readError(syscall.ECONNRESET)
		case eof:
			c.readError(io.EOF)
		}
	}
}

// closedByPeer reports whether nc is a unix socket whose other end is closed for reading as well
// as for writing. No goroutine may be writing to it.
func closedByPeer(nc net.Conn) bool {
	if !shm.IsUnix(nc) {
		return false
	}
	_, err := nc.Write(nil)
	return errors.Is(err, syscall.EPIPE)
}

// isAhead reports whether the reader reads ahead. c.mu is held.
func (c *connection) isAhead() bool { return c.state == ahead || c.state == parked }

// wakeReader makes a reader that reads ahead check again what it may do. c.mu is held.
func (c *connection) wakeReader() {
	if c.state == parked {
		select {
		case c.wake <- struct{}{}:
		default:
		}
		return
	}
	c.in.Interrupt()
}

// lack is why the reader has received no request. states.md has the names.
type lack uint8

const (
	nothingInTime lack = iota // the read deadline has passed
	badCall                   // a bad call, whose end is known
	badStream                 // a bad call; the next one can't be found
	ownHTTP                   // HTTP, which the server speaks
	otherProtocol             // one that it does not speak
	lost                      // the end of the stream, or no message, or a failure of the connection
)

// lackOf returns the kind of an error of receiving. h is the message's header, whose size is 0 if
// it is not known.
func (c *connection) lackOf(h message.Header, err error) lack {
	var bad *nocopy.Error
	var refused *message.Refusal
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded) && err != transport.ErrTimeout:
		return nothingInTime
	case h.Size > 0 && transport.EndKnown(err):
		return badCall
	case errors.As(err, &refused), errors.As(err, &bad), errors.Is(err, nocopy.ErrLimit):
		return badStream
	case c.speaksHTTP(err):
		return ownHTTP
	case errors.Is(err, message.ErrHTTP), errors.Is(err, message.ErrTLS), errors.Is(err, message.ErrSASL):
		return otherProtocol
	}
	return lost
}

// readFailed deals with an error of receiving, and returns the result of keepReading. A bad call
// is answered if its header h is known. No more requests are handled then, except after one whose
// end is known, and after a deadline that only meant to stop the reader.
func (c *connection) readFailed(h message.Header, err error) bool {
	c.flushHeld()
	switch c.lackOf(h, err) {
	case nothingInTime:
		if c.staysOpen() {
			return c.keepReading()
		}
	case badCall:
		req, _ := c.srv.Calls.Begin(&c.Origin, h)
		return c.refuseBad(req, h.Type, string(h.Name), err)
	case badStream:
		c.logEnd(err)
		var refused *message.Refusal
		switch silent := errors.As(err, &refused) && h.Type == message.Oneway; {
		case h.Size > 0 && !silent:
			req, _ := c.srv.Calls.Begin(&c.Origin, h)
			return c.refuse(req, err, true)
		case refused != nil:
			c.Stats.Refused(refused.Type)
		}
	case ownHTTP:
		c.serveHTTP()
	case otherProtocol:
		c.logEnd(err)
		c.answerForeign(err)
	case lost:
		c.readError(err)
	}
	c.mu.Lock()
	c.noMore = true
	c.mu.Unlock()
	return c.keepReading()
}

// staysOpen is called when nothing has come in time. It reports whether the reader goes on: not if
// the connection is to end and all that had arrived was read. A connection that is idle for too
// long is to end from then on.
func (c *connection) staysOpen() bool {
	c.mu.Lock()
	busy, mayDrain := c.underway+c.unanswered > 0 || c.restless(), c.mayDrain()
	c.mu.Unlock()
	switch {
	case c.in.last && !mayDrain:
		c.drained = true
		return false
	case c.in.last, busy: // calls are under way: it is not idle
	case socket.HasBytes(c.raw): // a request has come just now, after the last look
	default:
		c.leave()
	}
	return true
}

// isMalformed reports whether an error of receiving is about the bytes rather than the connection.
func isMalformed(err error) bool {
	return errors.Is(err, message.ErrVersion) || errors.Is(err, memory.ErrFrameSize) || errors.Is(err, io.ErrUnexpectedEOF)
}

// readError notes an error of reading from nc. At the end of the stream the client may still be
// receiving: the calls under way get HalfCloseTimeout. After another error of the connection it is
// aborted.
func (c *connection) readError(err error) {
	c.logEnd(err)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == io.EOF, err == io.ErrUnexpectedEOF:
		if c.eof {
			return
		}
		c.eof = true
		switch grace := c.halfCloseTimeout(); {
		case !c.writing && closedByPeer(c.raw):
			c.abort()
		case grace > 0:
			c.graceTimer = time.AfterFunc(grace, c.endGrace)
		}
	case isMalformed(err), errors.Is(err, os.ErrDeadlineExceeded):
	default:
		c.abort()
	}
}

// halfCloseTimeout returns Server.HalfCloseTimeout, 0 for no limit.
func (c *connection) halfCloseTimeout() time.Duration {
	return setting.Or(c.srv.HalfCloseTimeout, defaultHalfClose)
}

// endGrace is called HalfCloseTimeout after the end of the stream or the last reply that was
// written since: the client is taken to be gone. The contexts of calls under way end; replies to
// them are still written.
func (c *connection) endGrace() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state != stopped {
		c.cancel()
		c.freeSlot()
	}
}

// freeSlot lets the server accept another connection in place of this one, whose handlers may
// still be running. If too many connections have done so, it does nothing. c.mu is held.
func (c *connection) freeSlot() {
	if c.slotFreed {
		return
	}
	select {
	case c.srv.orphans <- struct{}{}:
		c.slotFreed = true
		<-c.srv.slots
	default: // it keeps its slot until its handlers have returned
	}
}

// giveUpSlot is freeSlot for goroutines that do not hold c.mu.
func (c *connection) giveUpSlot() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.freeSlot()
}

// abort closes the socket at once, drops the replies that are ready and ends the contexts of calls
// under way. Another goroutine closes, since c.mu is held and closing may take a while, for
// instance if the socket lingers.
func (c *connection) abort() {
	if c.aborted {
		return
	}
	c.aborted = true
	c.cancel()
	go socket.Close(c.raw)
	c.freeSlot()
	if !c.writing {
		c.dropReplies()
	}
	if c.isAhead() {
		c.wakeReader()
	}
}

// closeNow aborts the connection: the server was closed.
func (c *connection) closeNow() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noMore = true
	c.abort()
}

// close closes a connection that has nothing more to do.
func (c *connection) close() {
	c.mu.Lock()
	_, unix := c.raw.(*net.UnixConn) // replies stay there
	aborted, refused := c.aborted, !c.eof && !(c.drained && (c.sealed || unix))
	c.stopTimers()
	c.mu.Unlock()
	defer c.giveUpSlot()
	if !aborted {
		defer socket.Close(c.nc) // also if a method of nc panics or ends the goroutine
		if refused {
			c.linger()
		}
	}
}

// stopTimers stops the timers of a connection without a reader. c.mu is held.
func (c *connection) stopTimers() {
	if c.graceTimer != nil {
		c.graceTimer.Stop()
	}
	if c.ageTimer != nil {
		c.ageTimer.Stop()
	}
	c.timer.Stop()
}

// linger gives the client time to read the last reply: if the connection were closed while
// received bytes are unread, the kernel would discard the reply. It reads what the client is still
// sending, such as the rest of a message that is too large.
func (c *connection) linger() {
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
		c.in.EndReadsAt(now.Add(pause))
		if _, err := c.in.Src.Read(into); err != nil {
			return
		}
	}
}

// answerForeign answers a client that speaks HTTP, TLS or SASL in that protocol.
func (c *connection) answerForeign(err error) {
	answer := "\x15\x03\x01\x00\x02\x02\x28" // a TLS alert: fatal, handshake failure
	switch {
	case errors.Is(err, message.ErrHTTP):
		answer = badRequest
	case errors.Is(err, message.ErrSASL):
		answer = sasl.Refusal("this server has no login by SASL")
	}
	c.setWriteDeadline()
	io.WriteString(c.nc, answer)
}

const (
	badRequest = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 31\r\nConnection: close\r\n\r\n" +
		"This port speaks Thrift's RPC.\n"
	plainRequest = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 48\r\nConnection: close\r\n\r\n" +
		"This port speaks Thrift's RPC over TLS (https).\n"
)

// answerPlain answers a client that failed to shake hands since it speaks HTTP without TLS.
func (c *connection) answerPlain(err error) {
	var first tls.RecordHeaderError
	if errors.As(err, &first) && first.Conn != nil && firstbytes.IsHTTPRequest(first.RecordHeader[:]) {
		c.raw.SetWriteDeadline(time.Now().Add(time.Second))
		io.WriteString(c.raw, plainRequest)
	}
}

// logEnd logs why a connection ends, unless the client closed it, it was idle for too long, or the
// server is closing.
func (c *connection) logEnd(err error) {
	switch {
	case err == io.EOF, errors.Is(err, net.ErrClosed), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), c.srv.closing.Load():
	case errors.Is(err, os.ErrDeadlineExceeded) && err != transport.ErrTimeout: // idle
	default:
		c.srv.Log(slog.LevelWarn, "connection closed", "peer", c.Peer, "err", err)
	}
}

// interrupt makes the reader check whether the server is closing.
func (c *connection) interrupt() {
	if c.settingUp.Load() { // its client may be sending a request already
		c.in.EndReadsAt(time.Now().Add(mostDraining))
		return
	}
	c.interruptReader()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// startAging starts the timer for the connection's age, if that is limited.
func (c *connection) startAging() {
	age := c.srv.MaxConnAge
	if age <= 0 {
		return
	}
	age += rand.N(age/5+1) - age/10
	c.mu.Lock()
	if c.state != stopped {
		c.ageTimer = time.AfterFunc(age, c.retire)
	}
	c.mu.Unlock()
}

// retire is called by ageTimer when the connection has reached its age. It lets a reader that
// waits for a request wait for a moment only, and starts the timer for the grace.
func (c *connection) retire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == stopped {
		return
	}
	c.in.old.Store(true)
	if grace := setting.Or(c.srv.MaxConnAgeGrace, setting.Timeout); grace > 0 {
		left := min(quiet, grace/2) // for requests that have arrived by then
		c.ageTimer = time.AfterFunc(grace-left, func() { c.expire(left) })
	}
	c.interruptReader()
}

// expire is called by ageTimer shortly before the grace is over. Only requests that have arrived
// are still read. When the grace is over, the contexts of calls under way end.
func (c *connection) expire(left time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == stopped {
		return
	}
	c.in.expired.Store(true)
	c.ageTimer = time.AfterFunc(left, c.cancel)
	c.interrupt()
}

// restless reports whether a call has ended just now on a connection that is old. c.mu is held.
func (c *connection) restless() bool {
	return c.in.old.Load() && time.Since(c.lastEnded) < quiet
}
