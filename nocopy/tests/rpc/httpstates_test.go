package rpc_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// httpStates are those of a call over HTTP in a client. Each brings nc, the server's end of the
// connection, there.
var httpStates = []struct {
	name  string
	reach func(nc net.Conn)
}{
	{"dialling", nil},
	{"being written", func(nc net.Conn) { io.ReadFull(nc, make([]byte, 500)) }},
	{"sent", readRequest},
	{"response begun", func(nc net.Conn) { readRequest(nc); io.WriteString(nc, "HTTP/1.1 200 OK\r\nContent-") }},
	{"body begun", func(nc net.Conn) {
		readRequest(nc)
		io.WriteString(nc, "HTTP/1.1 200 OK\r\nContent-Type: application/x-thrift\r\nContent-Length: 100\r\n\r\nhalf")
	}},
}

func readRequest(nc net.Conn) {
	if r, err := http.ReadRequest(bufio.NewReader(nc)); err == nil {
		io.Copy(io.Discard, r.Body)
	}
}

const (
	ofHTTPDial  = 40 * time.Second
	ofHTTPStall = 10 * time.Second
)

// httpEvents are the events that may follow. ends has, for each state, the errors that the call's
// one wraps; nil: the call goes on.
var httpEvents = []struct {
	name   string
	happen func(x *httpState)
	ends   [5][]error
}{
	{"cancelled", func(x *httpState) { x.cancel(context.Canceled) }, inAll(context.Canceled)},
	{"a cause", func(x *httpState) { x.cancel(errTest) }, inAll(errTest)},
	{"client closed", func(x *httpState) { x.caller.Close() }, inAll(rpc.ErrClientClosed)},
	{"an interceptor returns", func(x *httpState) { close(x.leave) }, inAll(errLeft)},
	{"connection ends", func(x *httpState) { x.peer().Close() }, [5][]error{
		nil, {rpc.ErrNotSent}, {rpc.ErrConnLost}, {rpc.ErrConnLost}, {rpc.ErrConnLost, io.ErrUnexpectedEOF},
	}},
	{"dial fails", func(x *httpState) { x.refused <- errTest }, [5][]error{{rpc.ErrNotSent, errTest}}},
	{"StallTimeout passes", func(*httpState) { time.Sleep(ofHTTPStall + time.Second) }, [5][]error{
		nil, {rpc.ErrNotSent, os.ErrDeadlineExceeded}, nil, {rpc.ErrConnLost, os.ErrDeadlineExceeded}, {rpc.ErrConnLost, os.ErrDeadlineExceeded},
	}},
	{"DialTimeout passes", func(*httpState) { time.Sleep(ofHTTPDial + time.Second) }, [5][]error{
		{rpc.ErrNotSent, context.DeadlineExceeded}, {rpc.ErrNotSent, os.ErrDeadlineExceeded}, nil, {rpc.ErrConnLost, os.ErrDeadlineExceeded}, {rpc.ErrConnLost, os.ErrDeadlineExceeded},
	}},
}

var errTest, errLeft = errors.New("of the test"), errors.New("an interceptor has left")

func inAll(err error) [5][]error { return [5][]error{{err}, {err}, {err}, {err}, {err}} }

// httpState is a call in one of httpStates.
type httpState struct {
	cancel  context.CancelCauseFunc
	caller  interface{ Close() error }
	leave   chan struct{} // closed: the interceptor returns before the call
	refused chan error    // ends dialling
	conns   chan net.Conn // the server's ends
	server  net.Conn
}

// peer returns the server's end of the call's connection, nil if there is none.
func (x *httpState) peer() net.Conn {
	if x.server == nil {
		return nopConn{}
	}
	return x.server
}

type nopConn struct{ net.Conn }

func (nopConn) Close() error { return nil }

// dial is the client's Dialer. The first connection waits in the state "dialling".
func (x *httpState) dial(waits bool) rpc.Option {
	first := true
	return rpc.Dialer(func(ctx context.Context, _, _ string) (net.Conn, error) {
		if waits && first {
			first = false
			select {
			case err := <-x.refused:
				return nil, err
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		client, server := net.Pipe()
		x.conns <- server
		return client, nil
	})
}

// TestHTTPStates walks every pair of state and event of a call over HTTP. In each, the call ends
// as the table says, or goes on; nothing is left over; and the client's next call is answered,
// unless it was closed.
func TestHTTPStates(t *testing.T) {
	if !testmode.InOwnProcess(t) { // it counts blocks
		return
	}
	for s, state := range httpStates {
		for _, event := range httpEvents {
			for _, recycle := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/recycle=%v", state.name, event.name, recycle), func(t *testing.T) {
					blocks := memory.BlocksInUse()
					synctest.Test(t, func(t *testing.T) { walkHTTP(t, state.reach, event.happen, event.ends[s], recycle) })
					if n := memory.BlocksInUse() - blocks; n != 0 {
						t.Errorf("%d blocks are left over", n)
					}
				})
			}
		}
	}
}

func walkHTTP(t *testing.T, reach func(net.Conn), happen func(*httpState), ends []error, recycle bool) {
	x := &httpState{leave: make(chan struct{}), refused: make(chan error, 1), conns: make(chan net.Conn, 4)}
	leaves := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		ended := make(chan error, 1)
		go func() { ended <- next(ctx, c) }()
		select {
		case err := <-ended:
			return err
		case <-x.leave:
			x.leave = nil // the next call is let through
			return errLeft
		}
	}
	opts := []rpc.Option{
		x.dial(reach == nil), rpc.DialTimeout(ofHTTPDial), rpc.StallTimeout(ofHTTPStall), rpc.MaxInFlight(1),
		rpc.Interceptors(leaves), rpc.Logger(new(quiet).logger()),
	}
	if recycle {
		opts = append(opts, rpc.Recycle)
	}
	caller, err := rpc.DialHTTP("http://server/", opts...)
	if err != nil {
		t.Fatal(err)
	}
	x.caller = caller.(interface{ Close() error })
	defer x.caller.Close()
	ctx, cancel := context.WithCancelCause(bg)
	defer cancel(nil)
	x.cancel = cancel
	c := echo.NewEchoClient(caller)
	result := make(chan error, 1)
	go func() {
		res, err := c.Echo(ctx, func(args echo.EchoEchoArgs) { args.SetPayload(make([]byte, 100_000)) })
		if err == nil {
			res.Message().Release()
		}
		result <- err
	}()
	if reach != nil {
		x.server = <-x.conns
		defer x.server.Close()
		reach(x.server)
	}
	synctest.Wait()
	happen(x)
	synctest.Wait()
	select {
	case err := <-result:
		if ends == nil {
			t.Fatalf("the call has ended: %v", err)
		}
		for _, want := range ends {
			if !errors.Is(err, want) {
				t.Errorf("got %v, want one that wraps %v", err, want)
			}
		}
		for _, other := range []error{rpc.ErrNotSent, rpc.ErrConnLost} {
			if errors.Is(err, other) && ends[0] != other {
				t.Errorf("%v wraps %v", err, other)
			}
		}
	default:
		if ends != nil {
			t.Error("the call has not ended")
		}
		cancel(errTest)
		<-result
	}
	synctest.Wait()
	next := make(chan error, 1)
	go func() {
		res, err := c.Ping(bg, nil)
		if err == nil {
			res.Message().Release()
		}
		next <- err
	}()
	synctest.Wait()
	select {
	case nc := <-x.conns:
		defer nc.Close()
		readRequest(nc)
		body := strict(reply, "ping", 1, []byte{0})
		fmt.Fprintf(nc, "HTTP/1.1 200 OK\r\nContent-Type: application/x-thrift\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	default: // it was closed
	}
	closed := len(ends) > 0 && ends[0] == rpc.ErrClientClosed
	if err := <-next; closed != errors.Is(err, rpc.ErrClientClosed) || !closed && err != nil {
		t.Errorf("the next call: %v", err)
	}
}
