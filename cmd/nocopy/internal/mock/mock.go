// Package mock is the command that serves the methods of IDL with made-up or written answers.
package mock

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/faults"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/idlfiles"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/listen"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/recording"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// Command serves the services of IDL files.
type Command struct {
	Listen  string   `help:"HOST:PORT, or the path of a unix socket. Without a host it is 127.0.0.1." default:"127.0.0.1:9090" placeholder:"ADDR"`
	Answers []string `help:"File of answers, one JSON object a line, as nocopy record writes them; may be repeated." placeholder:"FILE" sep:"none"`
	Strict  bool     `help:"Answer only what -answers has; other calls get an error."`
	Seed    uint64   `help:"Seed of made-up values, errors and cuts; 0 is a new one each time." default:"1"`
	Cert    string   `help:"Serve TLS with this certificate, a PEM file; with -key." placeholder:"FILE"`
	Key     string   `help:"Private key for -cert." placeholder:"FILE"`
	Depth   int      `name:"max-depth" help:"How deep structs and containers of a message may be nested." default:"64" placeholder:"N"`
	Quiet   bool     `short:"q" help:"Print nothing but errors: no address, calls or warnings."`

	faults.Flags
	idlfiles.Files
}

// Help is the end of the command's help text.
func (Command) Help() string {
	return `Every method is answered with made-up values that fit names, types, defaults, rules (vt) and examples:
the annotations example and examples (a JSON list) of fields. Clients may be framed or not, use Binary,
Compact, THeader or HTTP, and the names of services (Service:method). The server tells its IDL: other
commands need no -idl.

A line of -answers is such as {"method": "Store.get", "args": {"key": "a"}, "result": "b"}. It counts for
calls that have these arguments; more of them may follow. Instead of result it may have
"exception": "NotFound", "value": {…}, "error": {"type": 6, "message": "…"}, or "cut": true; in addition
"delay": "100ms". If several lines match, they take turns, and the last one stays. With a method such as
"shop:get", the service Store is served by the name shop, too.

Example:
  nocopy mock -idl store.thrift -listen :9090 -answers answers.jsonl -delay 5ms`
}

// Run is called by the parser.
func (c *Command) Run(sh *shell.Shell) error {
	if err := c.check(); err != nil {
		return shell.WithCode(shell.Usage, err)
	}
	idl, err := c.Load()
	if err != nil {
		return err
	}
	if len(idl.Services) == 0 {
		return errors.New("the IDL has no service")
	}
	if err := c.CheckMethods(idl.Services); err != nil {
		return shell.WithCode(shell.Usage, err)
	}
	seed := c.Seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	m := &server{Command: c, sh: sh, idl: idl, faults: faults.New(c.Flags, "mock", seed), seed: seed}
	for _, name := range c.Answers {
		if err := m.readAnswers(name); err != nil {
			return err
		}
	}
	return m.serve()
}

func (c *Command) check() error {
	switch {
	case len(c.IDL) == 0:
		return errors.New("which services are to be served? Give the IDL with -idl FILE")
	case (c.Cert == "") != (c.Key == ""):
		return errors.New("-cert and -key need each other")
	case c.Depth < 0 || c.Depth > 1<<16:
		return errors.New("-max-depth is from 0 to 65,536")
	case c.Strict && len(c.Answers) == 0:
		return errors.New("-strict needs -answers")
	}
	return c.Flags.Check()
}

// limits returns those of messages.
func (c *Command) limits() nocopy.Limits { return nocopy.Limits{MaxDepth: c.Depth} }

// server is a running mock.
type server struct {
	*Command
	sh   *shell.Shell
	idl  *idlfiles.IDL
	seed uint64 // of made-up values

	faults *faults.Injector

	// Services by the names that answers have for multiplexing clients, other than the IDL's
	registered map[string]string

	mu      sync.Mutex // of what follows, and of printing
	answers map[string][]*answer
}

// processor returns what handles the calls of all services, with and without their names.
func (m *server) processor() *rpc.Processor {
	services := map[string]*rpc.Processor{}
	var plain []*rpc.Method
	var seen []string
	for _, s := range m.idl.Services {
		p := s.Processor(func(ctx context.Context, call *dynamic.Call) error { return m.handle(ctx, s, call) })
		for name, method := range p.Methods() {
			if !slices.Contains(seen, name) {
				plain, seen = append(plain, method), append(seen, name)
			}
		}
		if files := m.files(s); len(files) > 0 {
			p = p.WithIDL(s.Name(), files...)
		}
		services[s.Name()] = p
	}
	for service, name := range m.idl.Multiplexed {
		services[name] = services[service]
	}
	for name, service := range m.registered {
		services[name] = services[service]
	}
	services[""] = rpc.NewProcessor("", nil, plain...)
	if files := m.files(m.idl.Services[0]); len(m.idl.Services) == 1 && len(files) > 0 {
		services[""] = services[""].WithIDL(m.idl.Services[0].Name(), files...)
	}
	return rpc.Multiplexed(services)
}

// names returns the names of a method that patterns of -methods are compared with.
func (m *server) names(s dynamic.Service, method string) []string {
	names := []string{s.Name() + "." + method}
	if name := m.idl.Multiplexed[s.Name()]; name != "" {
		names = append(names, name+":"+method)
	}
	for name, service := range m.registered {
		if service == s.Name() {
			names = append(names, name+":"+method)
		}
	}
	return names
}

// files returns the IDL of a service for clients that ask: the file that declares it comes first.
func (m *server) files(s dynamic.Service) []rpc.IDLFile {
	declaring := m.idl.FileOf(s)
	var files []rpc.IDLFile
	for path, text := range m.idl.Files {
		files = append(files, rpc.IDLFile{Path: path, Text: text})
	}
	slices.SortStableFunc(files, func(a, b rpc.IDLFile) int {
		switch declaring {
		case a.Path:
			return -1
		case b.Path:
			return 1
		}
		return strings.Compare(a.Path, b.Path)
	})
	return files
}

// serve serves until the user interrupts it.
func (m *server) serve() error {
	log := slog.New(slog.DiscardHandler)
	if !m.Quiet {
		log = slog.New(slog.NewTextHandler(m.sh.Err, nil))
	}
	srv := &rpc.Server{
		Processor: m.processor(), Describe: true, Limits: m.limits(), Logger: log,
		ConnContext: faults.ConnContext,
	}
	if m.Cert != "" {
		pair, err := tls.LoadX509KeyPair(m.Cert, m.Key)
		if err != nil {
			return err
		}
		srv.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	}
	l, err := listen.On(m.Listen)
	if err != nil {
		return err
	}
	if !m.Quiet {
		var names []string
		for _, s := range m.idl.Services {
			names = append(names, s.Name())
		}
		fmt.Fprintf(m.sh.Err, "mocking %s on %s\n", strings.Join(names, ", "), l.Addr())
	}
	return Serve(m.sh.Ctx, srv, l)
}

// Serve serves until ctx ends; then calls under way may take a second to end.
func Serve(ctx context.Context, srv *rpc.Server, l net.Listener) error {
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if srv.Shutdown(ending) != nil {
		srv.Close()
	}
	<-served
	return nil
}

// handle answers a call.
func (m *server) handle(ctx context.Context, s dynamic.Service, c *dynamic.Call) error {
	a, err := m.answer(ctx, s, c)
	if !m.Quiet {
		m.mu.Lock()
		fmt.Fprintf(m.sh.Out, "%s.%s %.1000s → %s\n", s.Name(), c.Method.Name(), c.Args, a)
		m.mu.Unlock()
	}
	return err
}

// answer answers a call, and says how.
func (m *server) answer(ctx context.Context, s dynamic.Service, c *dynamic.Call) (string, error) {
	method := s.Name() + "." + c.Method.Name()
	names := m.names(s, c.Method.Name())
	if err := m.faults.Hold(ctx, names...); err != nil {
		return "given up", err
	}
	switch m.faults.Draw(names...) {
	case faults.Error:
		return "error on demand", m.faults.Err()
	case faults.CutBefore, faults.CutAfter: // nothing is handled here
		return "connection cut", m.faults.Cut(ctx)
	}
	a, err := m.find(s, c)
	if err != nil {
		return "error", err
	}
	if a != nil {
		return m.give(ctx, a, c)
	}
	if m.Strict {
		return "no answer for it", errors.New("nocopy mock has no answer for these arguments")
	}
	if c.Method.Oneway() {
		return "oneway", nil
	}
	returns, ok := c.Method.Returns()
	if !ok {
		return "void", nil
	}
	// The same arguments get the same answer.
	values := newGenerator(m.seed, method, c.Args.Message().Bytes())
	return "made up", m.setResult(c, map[string]any{"success": values.make(returns, c.Method.Name(), nil, 0)})
}

// readAnswers reads a file of answers.
func (m *server) readAnswers(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if m.answers == nil {
		m.answers, m.registered = map[string][]*answer{}, map[string]string{}
	}
	var leftOut []string // numbers of lines
	answers := 0
	err = recording.Read(f, func(n int, l *recording.Line) error {
		a, err := m.newAnswer(l)
		switch {
		case err == errBytes:
			leftOut = append(leftOut, fmt.Sprint(n))
			return nil
		case a != nil:
			m.answers[a.method] = append(m.answers[a.method], a)
			answers++
		}
		return err
	})
	switch {
	case err != nil:
		return fmt.Errorf("%s:%w", name, err)
	case len(leftOut) > 0 && answers == 0:
		return fmt.Errorf("%s has no answers: it was recorded without IDL, or its bytes do not fit the IDL (lines %s)", name, idlfiles.Listed(leftOut))
	case len(leftOut) > 0 && !m.Quiet:
		fmt.Fprintf(m.sh.Err, "%s: left out, since they have bytes that do not fit the IDL, or were recorded without it: lines %s\n", name, idlfiles.Listed(leftOut))
	}
	return nil
}
