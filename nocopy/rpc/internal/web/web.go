// Package web has what requests and responses of HTTP that hold messages have in common: their
// content types, their bodies, and the headers of calls in theirs. The server's half and the
// client's of package rpc call it.
package web

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/header"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
)

// MaxHeader limits the header of a request or a response; net/http takes a little more.
const MaxHeader = 64 << 10

// MaxText bounds the text of a body that is read into an error, in bytes.
const MaxText = 1 << 10

// NotHandled is the name of a response's header, whose value is 1. The server says with it that it
// has not begun to handle the call, and that it may be made again.
const NotHandled = "Thrift-Not-Handled"

// The content types of calls over HTTP, and of their replies.
const (
	Thrift  = "application/x-thrift" // as all of Apache's clients send it
	Binary  = "application/vnd.apache.thrift.binary"
	Compact = "application/vnd.apache.thrift.compact"
	JSON    = "application/vnd.apache.thrift.json"
)

// MediaType returns a Content-Type without parameters.
func MediaType(t string) string {
	if !IsThrift(t) {
		t, _, _ = mime.ParseMediaType(t)
	}
	return t
}

// IsThrift reports whether t is a type of calls and replies that are understood.
func IsThrift(t string) bool { return t == Thrift || t == Binary || t == Compact }

// ErrTooLong is the error of a body that has more bytes than are allowed.
var ErrTooLong = errors.New("the body is too large")

// Receive receives the body of a request or a response of HTTP, in one piece. length is how
// long it will be; −1 if that is not known. Memory grows as the bytes arrive.
func Receive(body io.Reader, length int64, l transport.Limits, recycle bool) (memory.Chunk, error) {
	if 0 <= length && length <= memory.Claim {
		c := memory.NewChunk(int(length), recycle)
		if _, err := io.ReadFull(body, c.Mem); err != nil {
			c.Release()
			return memory.Chunk{}, truncated(err)
		}
		return c, nil
	}
	var in memory.Receiver
	in.Reset(recycle)
	defer in.Free()
	for {
		have := len(in.Bytes())
		want := have + 1
		if length >= 0 {
			want = int(length)
		}
		switch {
		case have > l.Frame:
			return memory.Chunk{}, fmt.Errorf("%w: more than %s = %d bytes", ErrTooLong, l.Name, l.Frame)
		case int64(have) == length:
			return in.Take(have), nil
		}
		switch err := in.Fill(body, want); {
		case err == io.EOF && length < 0:
			return in.Take(have), nil
		case err != nil:
			return memory.Chunk{}, truncated(err)
		}
	}
}

// truncated returns the error of a body that was not received whole because of err.
func truncated(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("the body did not arrive: %w", err)
}

// Headers returns the headers of a request or a response. It omits headers with a meaning in HTTP
// itself, and those that net/http adds. If a header has several values, the last one counts. If
// there is no room for all headers, the largest are omitted.
func Headers(h http.Header) *header.List {
	all := make(header.List, 0, len(h))
	for key, values := range h {
		if len(values) == 0 || header.IsReserved(key) {
			continue
		}
		if p := (header.Pair{Key: key, Value: values[len(values)-1]}); !addedByNetHTTP(p) {
			all = append(all, p)
		}
	}
	if all.TooLarge() {
		all = header.Fitting(all)
	}
	return &all
}

// addedByNetHTTP reports whether p is the User-Agent that Go's clients send if the program has set
// none.
func addedByNetHTTP(p header.Pair) bool {
	return p.Key == "User-Agent" && strings.HasPrefix(p.Value, "Go-http-client/")
}
