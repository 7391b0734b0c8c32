package server

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/transport"
)

// TestLack: each error of receiving is of the kind that states.md says, and each kind is named
// there.
func TestLack(t *testing.T) {
	doc, err := os.ReadFile("../../states.md")
	if err != nil {
		t.Fatal(err)
	}
	names := map[lack]string{nothingInTime: "nothing in time", badCall: "bad call", badStream: "bad stream", ownHTTP: "HTTP", otherProtocol: "other protocol", lost: "lost"}
	for kind, name := range names {
		if !strings.Contains(string(doc), "\n    "+name+"  ") {
			t.Errorf("states.md has no row %q, for %d", name, kind)
		}
	}
	known := message.Header{Size: 20, Type: message.Call}
	timeout := fmt.Errorf("read: %w", os.ErrDeadlineExceeded)
	c := &connection{}
	for _, one := range []struct {
		h    message.Header
		err  error
		want lack
	}{
		{message.Header{}, timeout, nothingInTime},
		{known, timeout, nothingInTime},
		{known, transport.ErrTimeout, lost}, // a message has begun
		{message.Header{}, io.EOF, lost},
		{message.Header{}, io.ErrUnexpectedEOF, lost},
		{message.Header{}, syscall.ECONNRESET, lost},
		{message.Header{}, message.ErrVersion, lost},
		{message.Header{}, memory.ErrFrameSize, lost},
		{known, &message.Refusal{Text: "no"}, badCall},
		{known, &message.Refusal{Text: "no", Ends: true}, badStream},
		{message.Header{}, &message.Refusal{Text: "no"}, badStream},
		{known, &nocopy.Error{Err: nocopy.ErrType}, badStream},
		{message.Header{}, fmt.Errorf("%w: too large", nocopy.ErrLimit), badStream},
		{message.Header{}, message.ErrTLS, otherProtocol},
		{message.Header{}, message.ErrSASL, otherProtocol},
	} {
		if got := c.lackOf(one.h, one.err); got != one.want {
			t.Errorf("size %d, %v: %q, not %q", one.h.Size, one.err, names[got], names[one.want])
		}
	}
	c.in.Transport = transport.Unframed
	if got := c.lackOf(message.Header{}, message.ErrHTTP); got != otherProtocol {
		t.Errorf("HTTP after the first message: %q", names[got])
	}
}
