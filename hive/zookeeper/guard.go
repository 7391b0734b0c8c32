package zookeeper

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// This file protects the client of ZooKeeper. It allocates what a server's numbers say, and panics
// in its own goroutine if they make no sense.

// guard makes the connections of one client, and keeps their first error.
type guard struct {
	connect func(ctx context.Context, network, addr string) (net.Conn, error)
	ctx     context.Context // ends with the guard
	close   context.CancelFunc
	failed  chan error
}

func newGuard(ctx context.Context, connect func(ctx context.Context, network, addr string) (net.Conn, error)) *guard {
	g := &guard{connect: connect, failed: make(chan error, 1)}
	if connect == nil {
		g.connect = new(net.Dialer).DialContext
	}
	g.ctx, g.close = context.WithCancel(ctx)
	return g
}

func (g *guard) note(err error) {
	select {
	case g.failed <- err:
	default: // the first one counts
	}
}

// reason returns why the client has failed with err: it does not say what happened to connections.
func (g *guard) reason(err error) error {
	if isAnswer(err) {
		return err
	}
	select {
	case err = <-g.failed:
	default:
	}
	return err
}

// dial connects for the client, whose limit of a second for it is too short for slow networks.
func (g *guard) dial(network, addr string, _ time.Duration) (net.Conn, error) {
	nc, err := g.connect(g.ctx, network, addr)
	if err != nil {
		g.note(err)
		return nil, err
	}
	c := &guarded{Conn: nc, guard: g}
	c.stop = context.AfterFunc(g.ctx, func() { nc.Close() })
	return c, nil
}

// guarded is a connection whose packets are checked. The client reads in one goroutine.
type guarded struct {
	net.Conn
	guard  *guard
	stop   func() bool // takes back that the guard closes it
	begun  bool        // the server has answered the client's first packet
	packet []byte      // what is left of one that was checked
}

// Close closes the connection.
func (c *guarded) Close() error {
	c.stop()
	return c.Conn.Close()
}

// Read returns bytes of packets that were checked.
func (c *guarded) Read(b []byte) (int, error) {
	if len(c.packet) == 0 {
		packet, err := c.next()
		if err != nil {
			c.guard.note(err)
			return 0, err
		}
		c.packet = packet
	}
	n := copy(b, c.packet)
	c.packet = c.packet[n:]
	return n, nil
}

// next reads a packet: its length, 16 bytes, and what the client has asked for. In all packets
// that a client without watches gets, that begins with a length: of a password, of a list of
// names, or of data.
func (c *guarded) next() ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(c.Conn, head[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size < 16 || size > mostBytes {
		return nil, fmt.Errorf("not ZooKeeper, or too much: a packet of %d bytes", size)
	}
	packet := append(make([]byte, 0, 4+size), head[:]...)[:4+size]
	body := packet[4:]
	if _, err := io.ReadFull(c.Conn, body); err != nil {
		return nil, err
	}
	if size >= 20 {
		if n := binary.BigEndian.Uint32(body[16:]); n > size-20 {
			return nil, fmt.Errorf("not ZooKeeper: a length of %d in a packet of %d bytes", n, size)
		}
	}
	switch first := binary.BigEndian.Uint32(body); {
	case !c.begun:
		// The protocol's version, the session's timeout in milliseconds, its number, its password
		timeout := time.Duration(binary.BigEndian.Uint32(body[4:])) * time.Millisecond
		if session := binary.BigEndian.Uint64(body[8:]); session != 0 && (timeout < time.Second || timeout > time.Hour) {
			return nil, fmt.Errorf("not ZooKeeper: a session's timeout of %v", timeout)
		}
		c.begun = true
	case first == 1<<32-1: // an event; without watches there are none
		return nil, errors.New("an event that was not asked for")
	}
	return packet, nil
}
