package zookeeper_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/nocopythrift/nocopythrift/hive"
	"github.com/nocopythrift/nocopythrift/hive/zookeeper"
)

// fake is a ZooKeeper that knows what a client asks for here. Real ones are in TestRealZooKeeper.
type fake struct {
	nodes map[string]string               // the data of each path
	reply func(op int32, b []byte) []byte // if not nil, changes a packet that is sent
}

// serve starts it on a loopback address, which it returns.
func (f *fake) serve(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go f.handle(nc)
		}
	}()
	return l.Addr().String()
}

func (f *fake) handle(nc net.Conn) {
	defer nc.Close()
	const connecting = 0
	for op := int32(connecting); ; {
		var size [4]byte
		if _, err := io.ReadFull(nc, size[:]); err != nil {
			return
		}
		b := make([]byte, binary.BigEndian.Uint32(size[:]))
		if _, err := io.ReadFull(nc, b); err != nil {
			return
		}
		var answer []byte
		if op == connecting {
			// The session's timeout, its number, its password
			answer = binary.BigEndian.AppendUint32(make([]byte, 4), 10_000)
			answer = append(text(binary.BigEndian.AppendUint64(answer, 7), ""), 0)
			answer = f.changed(op, answer)
			op = -1
		} else {
			op = int32(binary.BigEndian.Uint32(b[4:]))
			answer = f.changed(op, f.answer(op, b))
		}
		if _, err := nc.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(answer))), answer...)); err != nil || op == -11 {
			return
		}
	}
}

func (f *fake) changed(op int32, answer []byte) []byte {
	if f.reply != nil {
		return f.reply(op, answer)
	}
	return answer
}

func text(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
}

// answer answers getChildren2, getData and others.
func (f *fake) answer(op int32, request []byte) []byte {
	header := append(bytes.Clone(request[:4]), make([]byte, 12)...) // its number, no error
	if op != 12 && op != 4 {
		return header
	}
	path := string(request[12 : 12+binary.BigEndian.Uint32(request[8:])])
	data, ok := f.nodes[path]
	if !ok {
		copy(header[12:], "\xff\xff\xff\x9b") // -101: no node
		return header
	}
	if op == 4 {
		return append(text(header, data), make([]byte, 68)...)
	}
	var names []string
	for name := range f.nodes {
		if child, ok := strings.CutPrefix(name, path+"/"); ok {
			names = append(names, child)
		}
	}
	slices.Sort(names)
	header = binary.BigEndian.AppendUint32(header, uint32(len(names)))
	for _, name := range names {
		header = text(header, name)
	}
	return append(header, make([]byte, 68)...)
}

// registered are nodes as servers write them.
var registered = map[string]string{
	"/hiveserver2": "",
	"/hiveserver2/serverUri=h1.example.com:10000;version=3.1.3;sequence=0000000001": "hive.server2.instance.uri=h1.example.com:10000",
	"/hiveserver2/serverUri=h1.example.com:10000;version=3.1.3;sequence=0000000002": "",
	"/hiveserver2/serviceUri=kyuubi:10009;version=1.9;sequence=0000000003":          "",
	"/hiveserver2/other": "hive.server2.authentication=NONE;hive.server2.instance.uri=h2:10000;hive.server2.transport.mode=binary",
	"/hiveserver2/old":   "h3:10000",
	"/hiveserver2/none":  "a=b",
	"/a/b":               "",
	"/a/b/serverUri=[::1]:10000;version=3.1.3;sequence=0000000001": "",
	"/empty":       "",
	"/strange":     "",
	"/strange/x;y": "a=b",
}

func find(t *testing.T, d zookeeper.Discovery) ([]string, error) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return d.Servers(ctx)
}

func TestServers(t *testing.T) {
	addr := (&fake{nodes: registered}).serve(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := l.Addr().String()
	l.Close()
	for namespace, want := range map[string][]string{
		"": {"h1.example.com:10000", "h2:10000", "h3:10000", "kyuubi:10009"}, "/a/b/": {"[::1]:10000"}, "empty": nil,
	} {
		addrs, err := find(t, zookeeper.Discovery{Ensemble: []string{gone, addr}, Namespace: namespace})
		if err != nil || !slices.Equal(addrs, want) {
			t.Errorf("%s: %v %v", namespace, addrs, err)
		}
	}
	for _, test := range []struct {
		d    zookeeper.Discovery
		want string
	}{
		{zookeeper.Discovery{Ensemble: []string{addr}, Namespace: "unknown"}, `zookeeper: the nodes of "/unknown": zk: node does not exist`},
		{zookeeper.Discovery{Ensemble: []string{addr}, Namespace: "strange"}, "none of 1 nodes names a server"},
		{zookeeper.Discovery{Ensemble: []string{gone}}, gone + ": dial tcp"},
		{zookeeper.Discovery{}, "Ensemble is empty"},
	} {
		if _, err := find(t, test.d); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test.d, err)
		}
	}
}

// TestDSN: the import makes discovery=zookeeper known to package hive.
func TestDSN(t *testing.T) {
	addr := (&fake{nodes: registered}).serve(t)
	cfg, err := hive.ParseDSN("hive://ada:secret@" + addr + "," + addr + "/db?discovery=zookeeper&zooKeeperNamespace=a/b&order=given")
	if err != nil || cfg.Addr != "" || cfg.Discover == nil || cfg.User != "ada" {
		t.Fatalf("%+v %v", cfg, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cfg.Dial = func(_ context.Context, _, addr string) (net.Conn, error) { return nil, fmt.Errorf("to %s", addr) }
	if _, err := hive.Connect(ctx, cfg); err == nil || !strings.Contains(err.Error(), "to [::1]:10000") {
		t.Error(err)
	}
	cfg, err = hive.ParseDSN("hive://" + addr + "/?discovery=zookeeper&zooKeeperNamespace=unknown")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hive.Connect(ctx, cfg); !errors.Is(err, zk.ErrNoNode) || !strings.HasPrefix(err.Error(), `hive: connecting: Config.Discover: zookeeper: the nodes of "/unknown"`) {
		t.Error(err)
	}
}

// TestHostile: what claims to be a ZooKeeper can neither end the program nor fill its memory. The
// client alone would panic in a goroutine of its own, or allocate what a length says.
func TestHostile(t *testing.T) {
	number := func(at int, v uint32) func([]byte) []byte {
		return func(b []byte) []byte {
			binary.BigEndian.PutUint32(b[at:], v)
			return b
		}
	}
	for name, test := range map[string]struct {
		op     int32 // of the reply that is changed; 0 is the one to connecting
		change func([]byte) []byte
		want   string
	}{
		"a packet of 4 bytes":      {12, func([]byte) []byte { return make([]byte, 4) }, "a packet of 4 bytes"},
		"a large packet":           {12, func([]byte) []byte { return make([]byte, 2<<20) }, "a packet of 2097152 bytes"},
		"many names":               {12, number(16, 1<<31-1), "a length of 2147483647"},
		"-1 names":                 {12, number(16, 1<<32-1), "a length of 4294967295"},
		"a long name":              {12, number(20, 1<<31-1), "zk:"},
		"an event":                 {12, number(0, 1<<32-1), "not asked for"},
		"no timeout":               {0, number(4, 0), "timeout of 0s"},
		"a negative timeout":       {0, number(4, 1<<32-1), "session's timeout"},
		"a long password":          {0, number(16, 1<<31), "a length of 2147483648"},
		"a large first packet":     {0, func([]byte) []byte { return make([]byte, 1<<21) }, "a packet of 2097152 bytes"},
		"a short first packet":     {0, func([]byte) []byte { return nil }, "a packet of 0 bytes"},
		"names longer than a list": {12, number(16, 60), "zk:"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fake{nodes: registered, reply: func(op int32, b []byte) []byte {
				if op == test.op {
					return test.change(b)
				}
				return b
			}}
			if addrs, err := find(t, zookeeper.Discovery{Ensemble: []string{f.serve(t)}}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%.100q %v", addrs, err)
			}
		})
	}
}

// TestContext: a ZooKeeper that says nothing keeps nobody waiting after the end of the context,
// and its connection is closed.
func TestContext(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	closed := make(chan error, 1)
	go func() {
		nc, err := l.Accept()
		if err != nil {
			closed <- err
			return
		}
		cancel(cause)
		_, err = io.Copy(io.Discard, nc)
		closed <- err
	}()
	if _, err := (zookeeper.Discovery{Ensemble: []string{l.Addr().String()}}).Servers(ctx); !errors.Is(err, cause) {
		t.Error(err)
	}
	select {
	case <-closed:
	case <-time.After(time.Minute):
		t.Error("the connection stays")
	}
}

// TestShare: servers that do not answer leave enough time for one that does. Of each one the error
// says what happened.
func TestShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		good := &fake{nodes: registered}
		dial := func(ctx context.Context, _, addr string) (net.Conn, error) {
			if addr == "hole:2181" {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			client, server := net.Pipe()
			if addr == "good:2181" {
				go good.handle(server)
			} else {
				go io.Copy(io.Discard, server)
			}
			return client, nil
		}
		for range 20 { // the order is random
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			addrs, err := zookeeper.Discovery{Ensemble: []string{"silent:2181", "hole:2181", "good:2181"}, Dial: dial}.Servers(ctx)
			cancel()
			if err != nil || len(addrs) != 4 {
				t.Error(addrs, err)
			}
		}
		for _, limit := range []time.Duration{3 * time.Second, time.Hour} {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			_, err := zookeeper.Discovery{Ensemble: []string{"silent:2181", "hole:2181"}, Dial: dial}.Servers(ctx)
			cancel()
			if err == nil || !strings.Contains(err.Error(), "silent:2181: ") || !strings.Contains(err.Error(), "hole:2181: no answer: context deadline exceeded") {
				t.Error(err)
			}
		}
		if _, err := (zookeeper.Discovery{Ensemble: []string{"hole"}, Dial: dial}).Servers(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}
