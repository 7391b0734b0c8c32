package socket

import (
	"crypto/tls"
	"net"
	"sync"
)

// TCP says how many bytes of TLS had arrived when the other end closed a connection. This file
// notes how many bytes of the program these were.

// Counted is a TCP connection beneath a client's TLS. Each of its writes is a record of TLS, which
// the other end can read only as a whole.
type Counted struct {
	*net.TCPConn
	before int64 // what acknowledged has returned before anything was written
	fixed  bool  // the way in which the connection is encrypted stays the same

	mu       sync.Mutex
	written  int64 // bytes of TLS, the handshake included
	plain    int64 // bytes of the program in them, since begin
	overhead int64 // how much longer a record is than what is in it; 0 if that is not known
	marks    []mark
	agreed   int // the number of marks that Wrote has confirmed
}

// mark says that the first tls bytes of a connection hold the first plain bytes of the program.
type mark struct {
	tls, plain int64
	coarse     bool // nothing is known of records between the mark before and this one
}

// mostMarks bounds the marks of a connection.
const mostMarks = 1 << 10

// Count returns nc, or, if it is a TCP connection, one that counts what is written, for TLS with
// this Config on top of it. Nothing may have been written yet.
func Count(nc net.Conn, c *tls.Config) net.Conn {
	if tcp, ok := nc.(*net.TCPConn); ok && KnowsUnread {
		return &Counted{TCPConn: tcp, before: ackedBefore(tcp), fixed: c.Renegotiation == tls.RenegotiateNever}
	}
	return nc
}

// countedBeneath returns the Counted that carries nc, nil if there is none.
func countedBeneath(nc net.Conn) *Counted {
	if t, ok := nc.(*tls.Conn); ok {
		c, _ := t.NetConn().(*Counted)
		return c
	}
	return nil
}

// uncounted returns the connection that nc counts for, or nc.
func uncounted(nc net.Conn) net.Conn {
	if c, ok := nc.(*Counted); ok {
		return c.TCPConn
	}
	return nc
}

// Begin must be called before writing the bytes that Reached will be asked about. It returns an
// argument for Reached. nc is as dialled, or TLS on top of what Count has returned, after its
// handshake.
func Begin(nc net.Conn) (before int64) {
	if c := countedBeneath(nc); c != nil {
		c.begin(nc.(*tls.Conn).ConnectionState())
	}
	return ackedBefore(nc)
}

// Wrote is called when n bytes have been written to nc since Begin, and no write is under way.
func Wrote(nc net.Conn, n int64) {
	if c := countedBeneath(nc); c != nil {
		c.wrote(n)
	}
}

// NetConn returns the connection itself.
func (c *Counted) NetConn() net.Conn { return c.TCPConn }

// Write writes a record.
func (c *Counted) Write(b []byte) (int, error) {
	c.note(len(b))
	return c.TCPConn.Write(b)
}

// note notes a record of n bytes.
func (c *Counted) note(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.written += int64(n); c.overhead > 0 {
		c.plain += max(int64(n)-c.overhead, 0)
		c.mark(mark{c.written, c.plain, false})
	}
}

// mark adds a mark. If there are too many, it drops those of bytes that have arrived, or makes the
// last one coarse. c.mu is held.
func (c *Counted) mark(m mark) {
	if len(c.marks) >= mostMarks {
		c.dropAcked()
	}
	if last := len(c.marks) - 1; len(c.marks) >= mostMarks {
		m.coarse = true
		c.marks[last] = m
		c.agreed = min(c.agreed, last)
		return
	}
	c.marks = append(c.marks, m)
}

// dropAcked drops all marks of bytes that the other end has acknowledged except the last of them.
// c.mu is held.
func (c *Counted) dropAcked() {
	acked := int64(-1)
	control(c.TCPConn, func(fd uintptr) { acked = acknowledged(fd) - c.before })
	n := 0
	for n+1 < len(c.marks) && c.marks[n+1].tls <= acked {
		n++
	}
	c.marks = append(c.marks[:0], c.marks[n:]...)
	c.agreed = max(c.agreed-n, 0)
}

// begin makes the Counted count the program's bytes from now on. s is the state of TLS after its
// handshake.
func (c *Counted) begin(s tls.ConnectionState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.plain, c.marks, c.agreed = 0, []mark{{tls: c.written}}, 1
	if c.fixed {
		c.overhead = overheadOf(s)
	}
}

// overheadOf returns how much longer records are than what is in them; 0 if that is not known, or
// not always the same.
func overheadOf(s tls.ConnectionState) int64 {
	const header, nonce, tag, kind = 5, 8, 16, 1
	switch {
	case s.Version == tls.VersionTLS13:
		return header + kind + tag
	case s.Version != tls.VersionTLS12:
		return 0
	}
	switch s.CipherSuite {
	case tls.TLS_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_RSA_WITH_AES_256_GCM_SHA384,
		tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
		tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384:
		return header + nonce + tag
	case tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256:
		return header + tag
	}
	return 0
}

// wrote notes that plain bytes of the program have been written in all. Records of TLS itself
// may have been among them, such as for new keys: then nothing is known of single records.
func (c *Counted) wrote(plain int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.overhead == 0 || c.plain != plain {
		c.marks = c.marks[:c.agreed]
		c.mark(mark{c.written, plain, true})
	}
	c.plain, c.agreed = plain, len(c.marks)
}

// reached returns how many of the n bytes of the program that were written can have arrived if
// acked bytes of TLS have.
func (c *Counted) reached(acked, n int64) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	arrived := mark{}
	for _, m := range c.marks {
		switch {
		case m.tls <= acked:
			arrived = m
			continue
		case m.coarse && acked > arrived.tls:
			return min(m.plain, n)
		}
		return min(arrived.plain, n)
	}
	if acked > arrived.tls { // of a write that goes on, whose records are not known
		return n
	}
	return min(arrived.plain, n)
}
