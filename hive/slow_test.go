package hive_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/hive"
	"github.com/nocopythrift/nocopythrift/hive/internal/fakehive"
	"github.com/nocopythrift/nocopythrift/hive/internal/tcli"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// slowConn takes a second for each KiB that it reads.
type slowConn struct{ net.Conn }

func (c slowConn) Read(b []byte) (int, error) {
	time.Sleep(time.Second)
	return c.Conn.Read(b[:min(len(b), 1<<10)])
}

// pipes is a listener whose connections have no sockets: a bubble's time goes on while they wait.
type pipes chan net.Conn

func (l pipes) Accept() (net.Conn, error) {
	c, ok := <-l
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (l pipes) Close() error   { return nil }
func (l pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (l pipes) dial(context.Context, string, string) (net.Conn, error) {
	a, b := net.Pipe()
	l <- b
	return slowConn{a}, nil
}

// TestSlowReply: a large reply may take as long as MaxReply allows; then the connection fails. The
// test has a process of its own, since package rpc uses calls again: those of a bubble can't be
// used outside of it.
func TestSlowReply(t *testing.T) {
	if os.Getenv("NOCOPY_HIVE_SLOW") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSlowReply$", "-test.count=1", "-test.timeout=10m")
		cmd.Env = append(os.Environ(), "NOCOPY_HIVE_SLOW=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	const size = 200 << 10
	reply := fetchOf(stringColumn(nil, strings.Repeat("x", size)))
	s := &fakehive.Server{Queries: map[string]*fakehive.Query{"q": {Schema: schemaOf(hive.TypeString), Fetches: []tcli.TFetchResultsResp{reply}}}}
	s.Serve(t, &rpc.Server{})
	synctest.Test(t, func(t *testing.T) {
		for _, maxReply := range []int{0, 1 << 20} {
			l := make(pipes)
			srv := &rpc.Server{Processor: tcli.NewTCLIServiceProcessor(s), WriteTimeout: -1, ReadTimeout: -1}
			served := make(chan struct{})
			go func() {
				defer close(served)
				srv.Serve(l)
			}()
			c, err := hive.Connect(t.Context(), hive.Config{Addr: "h:1", NoSASL: true, Dial: l.dial, Timeout: time.Minute, MaxReply: maxReply})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			r, err := c.Query(t.Context(), "q")
			if err != nil {
				t.Fatal(err)
			}
			switch ok := r.Next(); {
			case maxReply == 0:
				if d := time.Since(began); !ok || len(r.Batch().Column(0).Strings()[0]) != size || d < 200*time.Second {
					t.Error(d, r.Err())
				}
			case ok || !errors.Is(r.Err(), rpc.ErrConnLost):
				t.Error(ok, r.Err())
			}
			r.Close()
			c.Close()
			srv.Close()
			close(l)
			<-served
		}
	})
}
