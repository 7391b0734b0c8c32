// Package console is the command that serves a page for calling a server's methods and watching
// its traffic.
package console

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/idlfiles"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/listen"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/project"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/target"
	"github.com/nocopythrift/nocopythrift/nocopy/gateway"
	"github.com/nocopythrift/nocopythrift/nocopy/inspect"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// Command serves the page.
type Command struct {
	Address string   `arg:"" help:"The server: HOST:PORT, a URL, or the path of a unix socket."`
	Listen  string   `help:"Where the page is. Without a host it is 127.0.0.1." default:"127.0.0.1:8090" placeholder:"ADDR"`
	Host    []string `help:"Name by which browsers may reach the page, besides localhost and IP addresses; may be repeated." placeholder:"NAME" sep:"none"`
	Token   string   `help:"Text that requests need, in the URL, a cookie or as 'Authorization: Bearer TEXT'; a random one without. off: none is needed." env:"NOCOPY_CONSOLE_TOKEN" placeholder:"TEXT"`
	Watch   string   `help:"Pass connections to this address on to the server, and show their traffic." placeholder:"ADDR"`

	idlfiles.Files
	target.Connection

	project *project.Use // nil if the server is no target of a project
}

// Take implements project.Taker.
func (c *Command) Take(u *project.Use) {
	if u.Target != nil {
		c.project = u
	}
}

// Help is the end of the command's help text.
func (Command) Help() string {
	return `The page has a form for each method, made from its types, a history, headers, and for each call the reply
as JSON and both messages annotated. It shows the traffic of its own calls and, with -watch, that of other
clients, which connect to that address instead of the server's. The same port also answers HTTP as package
gateway does: POST /Service/method with the arguments as JSON, and the paths of annotations api.*.

The URL that is printed has a token, which the page then keeps as a cookie. Programs send it as
"Authorization: Bearer TOKEN". With -token off, everyone who can reach the port can call the server: it is
127.0.0.1 unless -listen says otherwise. Pages of other sites can't in any case: requests from them are
refused, and so are names that are not -host. Programs that call by GET, or with a form or text as body,
without a token add the header "X-Nocopy-Console: 1".

Example:
  nocopy console localhost:9090 -idl store.thrift -watch :9092`
}

// Run is called by the parser.
func (c *Command) Run(sh *shell.Shell) error {
	if err := c.Check(c.Address); err != nil {
		return shell.WithCode(shell.Usage, err)
	}
	if c.Token == "" {
		c.Token = rand.Text()
	}
	idl, err := c.Load()
	if err != nil {
		return err
	}
	first, err := c.Connect(sh.Ctx, c.Address, idl == nil)
	if err != nil {
		return err
	}
	first.Close()
	if idl == nil {
		if idl, err = idlfiles.Told(first); err != nil {
			return err
		}
	}
	traffic := newTraffic()
	tap, err := inspect.NewTap(traffic, inspect.Options{IDL: idl.Names()})
	if err != nil {
		return err
	}
	var opts []rpc.Option
	if !c.TLS { // the traffic of TLS can't be read
		opts = append(opts, rpc.Dialer(tap.DialContext))
	}
	server, err := c.Again(sh.Ctx, c.Address, first.Wire, opts...)
	if err != nil {
		return err
	}
	defer server.Close()
	s := &site{Command: c, idl: idl, server: server, traffic: traffic, dialer: opts, others: map[string]*environment{}}
	defer s.closeOthers()
	s.gateway = gateway.New(idl.Schema, s.backends())
	s.gateway.Timeout, s.gateway.Logger = c.Timeout, slog.New(slog.DiscardHandler)
	for _, reason := range []error{s.gateway.Err(), s.gateway.LeftOut()} {
		if reason == nil {
			continue
		}
		for line := range strings.SplitSeq(reason.Error(), "\n") {
			fmt.Fprintln(sh.Err, "not offered over HTTP:", shell.Printable(line))
		}
	}

	l, err := listen.On(c.Listen)
	if err != nil {
		return err
	}
	if c.Watch != "" {
		w, err := listen.On(c.Watch)
		if err != nil {
			l.Close()
			return err
		}
		ctx, cancel := context.WithCancel(sh.Ctx)
		defer cancel()
		go watch(ctx, w, tap, c.Address)
		fmt.Fprintf(sh.Err, "connections to %s are passed on to %s\n", w.Addr(), target.Shown(c.Address))
	}
	query := ""
	if c.Token != noToken {
		query = "?token=" + url.QueryEscape(c.Token)
	}
	fmt.Fprintf(sh.Err, "the console of %s (%s) is at http://%s/%s\n", target.Shown(c.Address), server.Wire, l.Addr(), query)
	return s.serve(sh.Ctx, l)
}

// backends returns Callers for all services.
func (s *site) backends() map[string]rpc.Caller {
	all := map[string]rpc.Caller{}
	for _, service := range s.idl.Services {
		name := s.idl.Multiplexed[service.Name()]
		if s.Multiplexed != "" {
			name = s.Multiplexed
		}
		all[service.Name()] = s.server.Caller
		if name != "" {
			all[service.Name()] = rpc.MultiplexedCaller(s.server.Caller, name)
		}
	}
	return all
}

// serve serves the page until ctx ends.
func (s *site) serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{
		Handler: s.guard(s.handler()), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 64 << 10, BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
		srv.Close()
		<-served
		return nil
	}
}

// mostWatched is how many connections are passed on at the same time.
const mostWatched = 1000

// watch passes connections on to a server until ctx ends.
func watch(ctx context.Context, l net.Listener, tap *inspect.Tap, addr string) {
	context.AfterFunc(ctx, func() { l.Close() })
	network, address := target.Address(addr)
	slots := make(chan struct{}, mostWatched)
	for {
		nc, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // too many files, perhaps
			time.Sleep(50 * time.Millisecond)
			continue
		}
		select {
		case slots <- struct{}{}:
		default:
			nc.Close()
			continue
		}
		go func() {
			defer func() { <-slots }()
			pass(ctx, tap.Conn(nc), network, address)
		}()
	}
}
