package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/cloudwego/kitex/pkg/klog"

	"github.com/nocopythrift/nocopythrift/kitex/examples/proxy/shop"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// Back ends and proxies are processes of their own, to measure a proxy's processor time apart from
// the others'. Each is this program again, with a role in the environment:
//
//	backend NAME
//	nocopy NAME PAGE BACKENDS...
//	kitex NAME BACKENDS...
//	apache NAME BACKENDS...
const roleEnv = "PROXY_ROLE"

// process is a back end or a proxy. Its standard output begins with its address and its page's
// address, "-" if it has none. Then there is a line with its processor time in nanoseconds for
// each line of its standard input. It ends when its input ends.
type process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	addr string
	page string
}

// start starts a process with this role and waits until it listens.
func start(role ...string) (*process, error) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"="+strings.Join(role, " "))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, in: in, out: bufio.NewReader(out)}
	if _, err := fmt.Fscanln(p.out, &p.addr, &p.page); err != nil {
		p.stop()
		return nil, fmt.Errorf("%s did not start: %w", role[0], err)
	}
	return p, nil
}

// cpu returns how much processor time the process has used so far.
func (p *process) cpu() (time.Duration, error) {
	var nanoseconds int64
	_, err := fmt.Fprintln(p.in)
	if err == nil {
		_, err = fmt.Fscanln(p.out, &nanoseconds)
	}
	return time.Duration(nanoseconds), err
}

// stop has the process end, and returns when it has.
func (p *process) stop() {
	p.in.Close()
	late := time.AfterFunc(10*time.Second, func() { p.cmd.Process.Kill() })
	defer late.Stop()
	p.cmd.Wait()
}

// play does what a process with this role does, until standard input ends.
func play(role string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	addr := l.Addr() // which Apache's server is given anew
	klog.SetLevel(klog.LevelFatal)
	about := "-" // where its page is
	stop, ended := make(chan struct{}), make(chan error, 1)
	serve := func(f func() error) { go func() { ended <- f() }() }
	switch f := strings.Fields(role); {
	case len(f) == 2 && f[0] == "backend":
		serve(func() error {
			return serveOurs(l, &rpc.Server{Processor: shop.NewOrdersProcessor(&backend{f[1]})}, stop)
		})
	case len(f) >= 4 && f[0] == "nocopy":
		m := newMetrics(len(f) - 3)
		page, err := servePage(f[2], m)
		if err != nil {
			return err
		}
		if page != nil {
			about = fmt.Sprint("http://", page)
		}
		serve(func() error { return serveRouter(l, f[1], m, f[3:], stop) })
	case len(f) >= 3 && f[0] == "kitex":
		serve(func() error { return serveKitex(l, f[1], f[2:], stop) })
	case len(f) >= 3 && f[0] == "apache":
		serve(func() error { return serveApache(l, f[1], f[2:], stop) })
	default:
		return errors.New("no such role")
	}
	if err := waitFor(addr.String()); err != nil {
		return err
	}
	fmt.Println(addr, about)
	go func() {
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			fmt.Println(processorTime().Nanoseconds())
		}
		close(stop)
	}()
	return <-ended
}

// waitFor returns when a server listens at addr.
func waitFor(addr string) error {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		nc, err := net.Dial("tcp", addr)
		if err == nil {
			return nc.Close()
		}
	}
	return fmt.Errorf("nobody listens at %s", addr)
}

// processorTime returns how much processor time this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// serveOurs serves until stop is closed.
func serveOurs(l net.Listener, srv *rpc.Server, stop <-chan struct{}) error {
	go func() {
		<-stop
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		srv.Shutdown(ctx)
	}()
	if err := srv.Serve(l); err != rpc.ErrServerClosed {
		return err
	}
	return nil
}

// serveRouter serves our proxy, which is called name, until stop is closed.
func serveRouter(l net.Listener, name string, m *metrics, backends []string, stop <-chan struct{}) error {
	var clients []rpc.Caller
	for _, addr := range backends {
		cl, err := rpc.Dial(context.Background(), "tcp", addr, rpc.Lazy, rpc.Recycle, m.stats(false))
		if err != nil {
			return err
		}
		defer cl.Close()
		clients = append(clients, cl)
	}
	return serveOurs(l, &rpc.Server{
		Processor:    newRouter(name, m, clients...).processor(),
		Interceptors: []rpc.Interceptor{m.measure},
		Stats:        m.stats(true),
		Lazy:         true,
		Recycle:      true,
		Unordered:    true,
	}, stop)
}

// servePage serves the page with what m counts, unless addr is "-", and returns its address.
func servePage(addr string, m *metrics) (net.Addr, error) {
	if addr == "-" {
		return nil, nil
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	go http.Serve(l, m.handler())
	return l.Addr(), nil
}

// backend answers calls.
type backend struct{ name string }

func (b *backend) Place(_ context.Context, args shop.OrdersPlaceArgs, result shop.OrdersPlaceResult) error {
	order := args.GetOrder()
	if order.GetLines().Len() == 0 {
		refused := shop.NewRefused()
		refused.SetWhy("an order without lines")
		return refused
	}
	receipt := result.NewSuccess()
	receipt.SetID(order.GetID())
	receipt.SetBackend(b.name)
	receipt.SetVia(order.GetHeader().GetVia())
	receipt.SetLines(int32(order.GetLines().Len()))
	receipt.SetDocument(order.GetDocument())
	return nil
}

func (b *backend) Known(_ context.Context, args shop.OrdersKnownArgs, result shop.OrdersKnownResult) error {
	result.SetSuccess(args.GetQuestion().GetID() > 0)
	return nil
}

func (b *backend) Note(context.Context, shop.OrdersNoteArgs) error { return nil }
