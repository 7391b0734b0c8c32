package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
)

// The proxy is called with bytes, and what it calls answers with the bytes that it gets, so that
// nearly all work is the proxy's.

const (
	method = "put"
	// argsAt is where the arguments begin in a frame: after its size, the message's type, the
	// method's name and the sequence id.
	argsAt = 4 + 4 + 4 + len(method) + 4
)

// requestFrame returns the frame of a call with this record.
func requestFrame(src *source) []byte {
	record := src.message().Message().Bytes()
	b := binary.BigEndian.AppendUint32(nil, uint32(argsAt-4+3+len(record)+1))
	b = binary.BigEndian.AppendUint32(b, 0x80010001)
	b = binary.BigEndian.AppendUint32(b, uint32(len(method)))
	b = append(b, method...)
	b = binary.BigEndian.AppendUint32(b, 1)
	b = append(b, 12, 0, 1) // a struct, field 1
	return append(append(b, record...), 0)
}

// readFrame reads a frame into buf, which it makes larger if need be.
func readFrame(r io.Reader, buf []byte) ([]byte, error) {
	buf = buf[:4]
	if _, err := io.ReadFull(r, buf); err != nil {
		return buf, err
	}
	n := 4 + int(binary.BigEndian.Uint32(buf))
	if n < argsAt+4 || n > 64<<20 {
		return buf, fmt.Errorf("frame of %d bytes", n)
	}
	if cap(buf) < n {
		buf = append(make([]byte, 0, n), buf...)
	}
	buf = buf[:n]
	_, err := io.ReadFull(r, buf[4:])
	return buf, err
}

// serveRaw answers calls with the record that they have, until l is closed.
func serveRaw(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			r, buf := bufio.NewReaderSize(c, 64<<10), make([]byte, 64<<10)
			for {
				if buf, err = readFrame(r, buf); err != nil {
					return
				}
				buf[7] = 2                          // a reply
				buf[argsAt+1], buf[argsAt+2] = 0, 0 // its field 0
				if _, err := c.Write(buf); err != nil {
					return
				}
			}
		}()
	}
}

// rawCaller returns a function that calls the proxy at addr with a record and looks at the answer.
func rawCaller(addr string, src *source, closeLater func(io.Closer)) (func() error, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	closeLater(c)
	request := requestFrame(src)
	tenant := []byte(byProxy(src.tenant))
	want := len(request) + len(tenant) - len(src.tenant)
	r, buf := bufio.NewReaderSize(c, 64<<10), make([]byte, 64<<10)
	return func() error {
		if _, err := c.Write(request); err != nil {
			return err
		}
		var err error
		if buf, err = readFrame(r, buf); err != nil {
			return err
		}
		if len(buf) != want || buf[7] != 2 || !bytes.Contains(buf[:min(len(buf), 200)], tenant) {
			return errors.New("the proxy's answer is not the record: " + string(buf[:min(len(buf), 200)]))
		}
		return nil
	}, nil
}
