package rpc

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/header"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
)

// receiveBody receives the body of a request or a response of HTTP, in one piece. length is how
// long it will be; −1 if that is not known. Memory grows as the bytes arrive.
func receiveBody(body io.Reader, length int64, l transport.Limits, recycle bool) (chain.Chunk, error) {
	if 0 <= length && length <= chain.SlabSize {
		c := chain.NewChunk(int(length), recycle)
		if _, err := io.ReadFull(body, c.Mem); err != nil {
			c.Release()
			return chain.Chunk{}, truncated(err)
		}
		return c, nil
	}
	var in chain.Receiver
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
			return chain.Chunk{}, fmt.Errorf("%w: more than %s = %d bytes", errTooLong, l.Name, l.Frame)
		case int64(have) == length:
			return in.Take(have), nil
		}
		switch err := in.Fill(body, want); {
		case err == io.EOF && length < 0:
			return in.Take(have), nil
		case err != nil:
			return chain.Chunk{}, truncated(err)
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

// headersOfHTTP returns the headers of a request or a response, except those that HTTP has a
// meaning of its own for, and those that net/http adds by itself. Of several values of a header,
// the last counts. If there is no room for all, the largest are left out.
func headersOfHTTP(h http.Header) *header.List {
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
