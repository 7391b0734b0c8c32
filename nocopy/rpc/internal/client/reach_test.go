package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// narrow is a connection that takes only so many bytes after its first call.
type narrow struct {
	*steered
	size, left int // of a call; how many bytes it takes beyond the first call's
}

func (c *narrow) Write(b []byte) (int, error) {
	if n, err := c.steered.Write(b); c.size == 0 || err != nil {
		c.size = len(b)
		return n, err
	}
	if n := min(len(b), c.left); n < len(b) {
		c.left = 0
		return n, io.ErrShortWrite
	}
	c.left -= len(b)
	return len(b), nil
}

// TestPartlyWritten: if a write fails, calls whose last byte was not written end with ErrNotSent,
// and the others go on until their reply comes or the connection is closed.
func TestPartlyWritten(t *testing.T) {
	for _, test := range []struct {
		calls, more int // how many of two calls are written, and how many bytes more
		replies     bool
		want        string
	}{
		{0, 0, false, "unsent unsent"},
		{1, -1, false, "unsent unsent"},
		{1, 0, false, "failed unsent"},
		{1, 0, true, "reply unsent"},
		{1, 1, true, "reply unsent"},
		{2, -1, false, "failed unsent"},
		{2, -1, true, "reply unsent"},
	} {
		synctest.Test(t, func(t *testing.T) {
			opts := testConfig(slog.DiscardHandler)
			nc := &narrow{steered: newSteered()}
			c := newConnection(nc, &opts, nil)
			m, _ := testMethods()
			var ended []chan string
			for range 3 {
				args, outcome := claimed(m), make(chan string, 1)
				go func() {
					reply, err := c.call(context.Background(), nil, &Call{Method: m, Args: args})
					reply.Body.Release()
					thriftimpl.Struct(args).End()
					if outcome <- outcomeOf(m, err); err != nil && !errors.Is(err, io.ErrShortWrite) && !errors.Is(err, errServerClosed) {
						t.Error(err)
					}
				}()
				synctest.Wait()
				ended = append(ended, outcome)
			}
			nc.writeEnds(nil) // the first call is written, and the others are about to be
			nc.replies(m, 1)
			nc.left = test.calls*nc.size + test.more
			for nc.inside {
				nc.writeEnds(nil)
			}
			if test.replies {
				nc.replies(m, 2)
			}
			nc.end()
			if first := <-ended[0]; first != "reply" {
				t.Error("the first call: ", first)
			}
			if got := fmt.Sprint(<-ended[1], " ", <-ended[2]); got != test.want {
				t.Errorf("%+v: %s", test, got)
			}
			c.close(ErrClosed)
			c.wait()
		})
	}
}
