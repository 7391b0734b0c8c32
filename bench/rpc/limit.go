package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"sync"
)

// This file is the least that a call can cost in Go: an echo written by hand for this one message.
// Nothing is checked, a request can't be given up, and nothing is parsed but the length of a frame
// and the sequence id. Callers wait for their replies as with any client, and those who share a
// connection write together.

// Of a frame: its length, 0x80010001, the length of "Echo" and the name, and the sequence id.
const seqAt, headerLen = 4 + 4 + 4 + 4, 4 + 4 + 4 + 4 + 4

func startLimit() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go echoFrames(c)
		}
	}()
	return l.Addr().String(), nil
}

// echoFrames sends each frame back, and writes once for all frames that have arrived together.
func echoFrames(c net.Conn) {
	defer c.Close()
	r, w := bufio.NewReaderSize(c, 64<<10), bufio.NewWriterSize(c, 64<<10)
	var frame []byte
	for {
		var err error
		if frame, err = readFrame(r, frame); err != nil {
			return
		}
		if w.Write(frame); r.Buffered() < headerLen {
			if w.Flush() != nil {
				return
			}
		}
	}
}

// readFrame reads a frame with its length into b, which grows if it is too small.
func readFrame(r *bufio.Reader, b []byte) ([]byte, error) {
	head, err := r.Peek(4)
	if err != nil {
		return b, err
	}
	n := 4 + int(binary.BigEndian.Uint32(head))
	if cap(b) < n {
		b = make([]byte, n)
	}
	_, err = io.ReadFull(r, b[:n])
	return b[:n], err
}

// appendRequest appends a call of Echo in a frame.
func appendRequest(b []byte, seq int, id int64, payload []byte) []byte {
	be := binary.BigEndian
	b = be.AppendUint32(b, uint32(headerLen-4+overhead+len(payload)))
	b = append(b, "\x80\x01\x00\x01\x00\x00\x00\x04Echo"...)
	b = be.AppendUint32(b, uint32(seq))
	b = append(b, 12, 0, 1, 10, 0, 1)
	b = be.AppendUint64(b, uint64(id))
	b = append(b, 11, 0, 2)
	b = be.AppendUint32(b, uint32(len(action)))
	b = append(b, action...)
	b = append(b, 11, 0, 3)
	b = be.AppendUint32(b, uint32(len(payload)))
	b = append(b, payload...)
	return append(b, 0, 0)
}

// readReply reads the fields of a reply at their places.
func readReply(frame []byte) (id int64, payload []byte) {
	return int64(binary.BigEndian.Uint64(frame[headerLen+6:])), frame[headerLen+overhead-2 : len(frame)-2]
}

func dialLimit(addr string, conns, workers int) ([]caller, func(), error) {
	callers := make([]caller, 0, workers)
	var opened []net.Conn
	for range conns {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return nil, nil, err
		}
		opened = append(opened, c)
		if conns == workers {
			callers = append(callers, callAlone(c))
		} else {
			callers = append(callers, share(c, workers/conns)...)
		}
	}
	return callers, func() {
		for _, c := range opened {
			c.Close()
		}
	}, nil
}

// callAlone returns a caller that has the connection for itself, and reads its own replies.
func callAlone(c net.Conn) caller {
	r := bufio.NewReaderSize(c, 64<<10)
	var out, in []byte
	return func(id int64, payload []byte) (int64, int, error) {
		out = appendRequest(out[:0], 0, id, payload)
		if _, err := c.Write(out); err != nil {
			return 0, 0, err
		}
		var err error
		if in, err = readFrame(r, in); err != nil {
			return 0, 0, err
		}
		got, text := readReply(in)
		return got, len(text), nil
	}
}

// reply is what a caller waits for.
type reply struct {
	id  int64
	n   int
	err error
}

// requests is what the callers of a connection have written: the one that finds no writer sends
// until nothing is left.
type requests struct {
	mu      sync.Mutex
	queued  []byte
	spare   []byte
	writing bool
}

// share returns the callers of a connection, and starts the goroutine that reads their replies.
func share(c net.Conn, workers int) []caller {
	var q requests
	replies := make([]chan reply, workers)
	callers := make([]caller, workers)
	for seq := range callers {
		replies[seq] = make(chan reply, 1)
		callers[seq] = func(id int64, payload []byte) (int64, int, error) {
			if err := q.send(c, seq, id, payload); err != nil {
				return 0, 0, err
			}
			got := <-replies[seq]
			return got.id, got.n, got.err
		}
	}
	go func() {
		r := bufio.NewReaderSize(c, 64<<10)
		var frame []byte
		for {
			var err error
			if frame, err = readFrame(r, frame); err != nil {
				for _, waiting := range replies {
					select {
					case waiting <- reply{err: err}:
					default: // it has its reply
					}
				}
				return
			}
			id, text := readReply(frame)
			replies[binary.BigEndian.Uint32(frame[seqAt:])] <- reply{id: id, n: len(text)}
		}
	}()
	return callers
}

// send queues a request. If nobody writes, it first lets other callers queue theirs.
func (q *requests) send(c net.Conn, seq int, id int64, payload []byte) error {
	q.mu.Lock()
	q.queued = appendRequest(q.queued, seq, id, payload)
	if q.writing {
		q.mu.Unlock()
		return nil
	}
	q.writing = true
	q.mu.Unlock()
	runtime.Gosched()
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.queued) > 0 {
		b := q.queued
		q.queued = q.spare[:0]
		q.mu.Unlock()
		_, err := c.Write(b)
		q.mu.Lock()
		if q.spare = b; err != nil {
			return err
		}
	}
	q.writing = false
	return nil
}
