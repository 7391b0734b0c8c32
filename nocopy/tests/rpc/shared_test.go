package rpc_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"github.com/nocopythrift/nocopythrift/internal/shm"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// These tests ask for shared memory where there is none: the socket carries all bytes.

// listenUnix returns a listener of a unix socket and its path.
func listenUnix(t testing.TB) (net.Listener, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	return l, path
}

// TestSharedFallback: without shared memory on one side, calls work as without it on both.
func TestSharedFallback(t *testing.T) {
	t.Parallel()
	cert, pool := certificate(t)
	secret := &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"}
	for name, v := range map[string]struct {
		network string
		srv     *rpc.Server
		opts    []rpc.Option
	}{
		"the server has none":     {"unix", &rpc.Server{}, []rpc.Option{rpc.CopyFromPeer}},
		"the client has none":     {"unix", &rpc.Server{SharedMemory: rpc.TrustPeer}, nil},
		"TCP":                     {"tcp", &rpc.Server{SharedMemory: rpc.CopyFromPeer}, []rpc.Option{rpc.SharedMemory(rpc.CopyFromPeer)}},
		"TLS":                     {"unix", &rpc.Server{SharedMemory: rpc.CopyFromPeer, TLS: &tls.Config{Certificates: []tls.Certificate{cert}}}, []rpc.Option{rpc.CopyFromPeer, rpc.TLS(secret)}},
		"unframed":                {"unix", &rpc.Server{SharedMemory: rpc.TrustPeer}, []rpc.Option{rpc.TrustPeer, rpc.Unframed}},
		"a server with fallbacks": {"unix", &rpc.Server{Processor: echo.NewEchoProcessor(&handler{}).WithFallback(noticeAll(t))}, []rpc.Option{rpc.CopyFromPeer}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, addr := listenUnix(t)
			if v.network == "tcp" {
				l.Close()
				addr = serve(t, v.srv, &handler{})
			} else {
				serveOn(t, v.srv, &handler{}, l)
			}
			cl := dial(t, addr, v.opts...)
			c := echo.NewEchoClient(cl)
			for _, n := range []int{10, 100_000, 2 << 20} {
				res, err := c.Echo(bg, func(args echo.EchoEchoArgs) { args.SetPayload(make([]byte, n)) })
				if err != nil || len(res.GetSuccess()) != n {
					t.Errorf("%d bytes: %v", n, err)
				}
			}
			if n := connsLinked(cl); n != 0 {
				t.Errorf("%d connections with shared memory", n)
			}
		})
	}
}

// noticeAll returns a fallback that gets no calls: clients ask for shared memory, but handlers do
// not notice.
func noticeAll(t *testing.T) rpc.Handler {
	return func(_ context.Context, c *rpc.Call) error {
		t.Errorf("the fallback is called for %s", c.Method)
		return &rpc.ApplicationException{Type: rpc.UnknownMethod, Message: "nobody knows it"}
	}
}

// TestSharedApache: a client that asks Apache's server for shared memory is answered that the
// method is unknown, and goes on. An Apache client is served by a server that has shared memory.
func TestSharedApache(t *testing.T) {
	l, path := listenUnix(t)
	l.Close()
	addr, _ := net.ResolveUnixAddr("unix", path)
	socket := thrift.NewTServerSocketFromAddrTimeout(addr, 0)
	if err := socket.Listen(); err != nil {
		t.Fatal(err)
	}
	framed := thrift.NewTFramedTransportFactoryConf(thrift.NewTTransportFactory(), nil)
	srv := thrift.NewTSimpleServer4(apacheProcessor{}, socket, framed, protocols(true))
	go srv.Serve()
	var dialled atomic.Int32
	counted := rpc.Dialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
		dialled.Add(1)
		return new(net.Dialer).DialContext(ctx, network, addr)
	})
	var log quiet
	cl := dial(t, path, rpc.TrustPeer, rpc.PoolSize(1), counted, rpc.Logger(log.debugLogger()))
	sum, err := echo.NewEchoClient(cl).Add(bg, func(args echo.EchoAddArgs) { args.SetA(40); args.SetB(2) })
	if err != nil || sum.GetSuccess() != 42 {
		t.Error(sum, err)
	}
	want := "answers with an exception"
	if l, err := shm.New(64 << 10); err == nil {
		l.Close()
	} else { // the client has none itself, and does not ask
		want = err.Error()
	}
	if n := dialled.Load(); n != 1 || connsLinked(cl) != 0 || !strings.Contains(log.String(), want) {
		t.Errorf("%d connections, %d with shared memory; the log is %s", n, connsLinked(cl), &log)
	}
	cl.Close()
	srv.Stop()

	own, ownPath := listenUnix(t)
	serveOn(t, &rpc.Server{SharedMemory: rpc.TrustPeer}, &handler{}, own)
	nc, err := net.Dial("unix", ownPath)
	if err != nil {
		t.Fatal(err)
	}
	transport, _ := framed.GetTransport(thrift.NewTSocketFromConnConf(nc, nil))
	defer transport.Close()
	p := protocols(true).GetProtocol(transport)
	result := fields{}
	if _, err := thrift.NewTStandardClient(p, p).Call(bg, "echo", fields{1: make([]byte, 200_000)}, result); err != nil || len(result[0].([]byte)) != 200_000 {
		t.Error(err)
	}
}

// TestSharedRefusedRudely: a server that closes the connection when it is asked gets another one,
// over which it is not asked.
func TestSharedRefusedRudely(t *testing.T) {
	for name, answer := range map[string]string{
		"nothing":       "",
		"half a frame":  "\x00\x00\x01\x00\x80",
		"a huge frame":  "\x7f\xff\xff\xff",
		"an odd reply":  "\x00\x00\x00\x11\x80\x01\x00\x02\x00\x00\x00\x04echo\x00\x00\x00\x00\x00",
		"no descriptor": string(shareReply),
	} {
		t.Run(name, func(t *testing.T) {
			l, path := listenUnix(t)
			serveOn(t, &rpc.Server{}, &handler{}, &rudeListener{Listener: l, answer: answer})
			cl := dial(t, path, rpc.CopyFromPeer)
			unharmed(t, echo.NewEchoClient(cl))
			if connsLinked(cl) != 0 {
				t.Error("there is shared memory")
			}
		})
	}
}

// shareReply is a reply that passes memory, without the descriptor.
var shareReply = append([]byte("\x00\x00\x00\x30\x80\x01\x00\x02\x00\x00\x00\x13nocopy.sharedMemory\x00\x00\x00\x00\x0b\x00\x00\x00\x00\x00\x09\x01"), 0, 0, 0, 0, 0, 0x10, 0, 0, 0)

// rudeListener answers the first message of the first connection with answer and closes it.
type rudeListener struct {
	net.Listener
	answer string
	done   bool
}

func (l *rudeListener) Accept() (net.Conn, error) {
	for {
		nc, err := l.Listener.Accept()
		if err != nil || l.done {
			return nc, err
		}
		l.done = true
		b := make([]byte, 1000)
		n, _ := nc.Read(b)
		if n < 30 || string(b[12:31]) != "nocopy.sharedMemory" { // shared memory is not had here
			return &replayed{nc, b[:n]}, nil
		}
		io.WriteString(nc, l.answer)
		nc.Close()
	}
}

// replayed is a connection that gives bytes again that were read from it already.
type replayed struct {
	net.Conn
	first []byte
}

func (r *replayed) Read(b []byte) (int, error) {
	if len(r.first) > 0 {
		n := copy(b, r.first)
		r.first = r.first[n:]
		return n, nil
	}
	return r.Conn.Read(b)
}

// TestSharedNoAnswer: a server that does not answer gets another connection, within the time for
// dialling.
func TestSharedNoAnswer(t *testing.T) {
	t.Parallel()
	l, path := listenUnix(t)
	defer l.Close()
	cl, err := rpc.Dial(bg, "unix", path, rpc.CopyFromPeer, rpc.DialTimeout(3*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if connsLinked(cl) != 0 {
		t.Error("there is shared memory")
	}
	cl.Close()
	ctx, cancel := context.WithCancel(bg)
	time.AfterFunc(10*time.Millisecond, cancel)
	if cl, err := rpc.Dial(ctx, "unix", path, rpc.CopyFromPeer, rpc.DialTimeout(time.Minute)); err == nil {
		cl.Close() // there is no shared memory to ask for
	} else if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
