package gateway

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/compressed"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// Gateway is an http.Handler that answers HTTP requests by calls of Thrift services. New makes
// one. The zero value of each exported field is a good default. None may be changed once the
// Gateway has been given a request.
type Gateway struct {
	// Timeout limits the time of a call. 0 means 5 s. The calls' contexts end with it.
	Timeout time.Duration
	// MaxCalls limits the calls that are made at the same time. 0 means 1,024. Each has at most one
	// body in memory, in JSON and in Thrift, and one reply, in both. Further requests are answered
	// with the status 503.
	MaxCalls int
	// MaxMemory limits the bytes of bodies that have arrived in part, and of answers that are
	// being written. 0 means 256 MiB. One request may take a quarter of the free memory.
	MaxMemory int
	// Logger logs failed calls, with the reasons that clients do not get to see. Nil means
	// slog.Default.
	Logger *slog.Logger

	backends map[string]rpc.Caller
	table    atomic.Pointer[table] // what the latest good schema says
	err      error                 // of the schema that New was given

	once     sync.Once
	slots    chan struct{}      // one for each call that is being made
	memory   budget             // for what slow clients send and receive
	inflated *compressed.Budget // for bodies that are compressed
}

const (
	defaultTimeout   = 5 * time.Second
	defaultMaxCalls  = 1024
	defaultMaxMemory = 256 << 20
)

// A table has the routes of one schema. A request keeps to the table that it began with.
type table struct {
	mux     *http.ServeMux
	routes  []*route
	at      map[string]*route // by their patterns
	leftOut error             // the reasons for routes and fields that are left out
}

// New returns a Gateway for the services of schema. backends has the servers of the services, by
// their names in the IDL. If a schema can't be used, Err says why, and all requests are answered
// with the status 503. If some of its routes can't be offered, the others are: see LeftOut. schema
// may be nil: then Use has to follow.
func New(schema *dynamic.Schema, backends map[string]rpc.Caller) *Gateway {
	g := &Gateway{backends: maps.Clone(backends)}
	g.table.Store(&table{mux: http.NewServeMux()})
	g.err = errors.New("there is no schema yet")
	if schema != nil {
		g.err = g.Use(schema)
	}
	return g
}

// Err returns the reason why New's schema can't be used, until Use is given one that can be. It
// returns nil if there is no such reason.
func (g *Gateway) Err() error {
	if len(g.table.Load().routes) > 0 {
		return nil
	}
	return g.err
}

// LeftOut returns the reasons, one a line, why routes of the schema are not offered: two methods
// at the same path, a path that is not possible, a required field that nothing in a request can
// set, a field of a type that can't be where its annotation says. It also names fields that are
// never set, since the path does not have them. It returns nil if nothing is left out.
func (g *Gateway) LeftOut() error { return g.table.Load().leftOut }

// Use makes the Gateway answer requests by another schema. Requests that are under way end as they
// began. It is an error if no route of the schema can be offered, or if a service with annotations
// of paths has no server. After an error the Gateway goes on as before. Any number of goroutines
// may call it, while requests are served.
func (g *Gateway) Use(schema *dynamic.Schema) error {
	if schema == nil {
		panic("nocopy: gateway.Gateway.Use of a nil Schema")
	}
	routes, leftOut, err := routesOf(schema, g.backends)
	t := &table{mux: http.NewServeMux(), at: map[string]*route{}}
	for _, r := range routes {
		if err := t.add(r, g); err != nil {
			leftOut = append(leftOut, fmt.Errorf("%s.%s: %w", r.service, r.method.Name(), err))
		}
	}
	t.leftOut = errors.Join(leftOut...)
	switch {
	case err != nil:
		return errors.Join(err, t.leftOut)
	case len(t.routes) == 0 && t.leftOut != nil:
		return t.leftOut
	case len(t.routes) == 0:
		return errors.New("no service has a server and methods")
	}
	g.table.Store(t)
	return nil
}

// init sets the fields that depend on exported ones.
func (g *Gateway) init() {
	g.once.Do(func() {
		g.slots = make(chan struct{}, max(cmp.Or(g.MaxCalls, defaultMaxCalls), 1))
		g.memory.free = cmp.Or(g.MaxMemory, defaultMaxMemory)
		g.inflated = compressed.NewBudget(maxInflated, nil)
	})
}

// Stats are the resources that a Gateway has in use.
type Stats struct {
	Calls int // that are being made
	Bytes int // of MaxMemory
}

// Stats returns the calls and the memory in use at the moment.
func (g *Gateway) Stats() Stats {
	g.init()
	g.memory.mu.Lock()
	defer g.memory.mu.Unlock()
	return Stats{len(g.slots), cmp.Or(g.MaxMemory, defaultMaxMemory) - g.memory.free}
}

// add adds a route. It returns an error if the route is not possible, or if the mux could not tell
// it from another one. A method that several services inherit is that of the first.
func (t *table) add(r *route, g *Gateway) (err error) {
	pattern, err := patternOf(r.path)
	if err != nil {
		return err
	}
	pattern = strings.TrimSpace(r.verb + " " + pattern)
	if other := t.at[pattern]; other != nil {
		if other.method == r.method {
			return nil
		}
		return fmt.Errorf("%s.%s is at %s, too", other.service, other.method.Name(), strings.TrimSpace(r.verb+" "+r.path))
	}
	defer func() {
		if p := recover(); p != nil { // of the mux
			text, _, _ := strings.Cut(registered.ReplaceAllString(fmt.Sprint(p), ""), ":\n")
			err = errors.New(text)
		}
	}()
	t.mux.HandleFunc(pattern, func(w http.ResponseWriter, req *http.Request) { g.answer(r, w, req) })
	t.routes, t.at[pattern] = append(t.routes, r), r
	return nil
}

// registered is the part of the mux's texts that names a line of this file.
var registered = regexp.MustCompile(` \(registered at [^)]*\)`)

// patternOf returns a path such as /v1/keys/:key or /files/*name as ServeMux has it.
func patternOf(path string) (string, error) {
	if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "{} \t\r\n?#") {
		return "", fmt.Errorf("path %q does not begin with a slash, or has one of the characters {} ?#", path)
	}
	parts := strings.Split(path[1:], "/")
	for i, part := range parts {
		switch last := i == len(parts)-1; {
		case part == "" && last:
			parts[i] = "{$}"
		case strings.HasPrefix(part, ":"):
			parts[i] = "{" + part[1:] + "}"
		case strings.HasPrefix(part, "*") && last:
			parts[i] = "{" + part[1:] + "...}"
		case strings.HasPrefix(part, "*") || part == "" || part == "." || part == "..":
			return "", fmt.Errorf("path %q can't have a part %q here", path, part)
		}
	}
	return "/" + strings.Join(parts, "/"), nil
}

// ServeHTTP answers a request. It bounds bodies; headers and times are for the http.Server.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	g.init()
	if err := g.Err(); err != nil {
		write(w, &problem{Status: http.StatusServiceUnavailable, Message: "the gateway has no routes: " + err.Error()})
		return
	}
	req.Body = http.MaxBytesReader(w, req.Body, maxBody)
	mux := g.table.Load().mux
	h, pattern := mux.Handler(req)
	if _, isRoute := h.(http.HandlerFunc); pattern == "" || !isRoute { // or it redirects
		// The mux would answer in plain text: only its status is of use, and its header.
		refusal := statusOnly{w.Header(), http.StatusNotFound}
		h.ServeHTTP(&refusal, req)
		message := "no method of the IDL is at " + req.Method + " " + req.URL.Path
		if clean := w.Header().Get("Location"); clean != "" {
			message = "the path without empty parts and dots is " + clean
		}
		write(w, &problem{Status: refusal.status, Message: message})
		return
	}
	mux.ServeHTTP(w, req)
}

// answer answers a request that is for r. It holds a slot only from when the body has arrived
// until the answer is ready to be written: slow clients, deliberate or not, do not take slots from
// others.
func (g *Gateway) answer(r *route, w http.ResponseWriter, req *http.Request) {
	memory := loan{from: &g.memory}
	defer memory.set(0)
	zipped, err := g.openBody(w, req)
	defer zipped.End()
	if err != nil {
		write(w, err)
		return
	}
	body, err := readBody(req, &memory)
	if err != nil {
		write(w, err)
		return
	}
	a, err := g.callInSlot(r, req, body)
	if err == nil && !memory.set(len(a.body)) {
		err = &problem{Status: http.StatusServiceUnavailable, Message: "the call was made, but too much memory is in use for its answer"}
	}
	if err != nil {
		write(w, err)
		return
	}
	for name, values := range a.header {
		w.Header()[name] = values
	}
	send(w, a.status, a.body, compressed.Prefers(req.Header))
}

// callInSlot makes the call that a request with a body stands for if there is a slot for it. The
// error is a *problem.
func (g *Gateway) callInSlot(r *route, req *http.Request, body []byte) (*answer, error) {
	select {
	case g.slots <- struct{}{}:
		defer func() { <-g.slots }()
		return g.call(r, req, body)
	default:
		return nil, busy("too many requests at a time")
	}
}

// call makes the call that a request with a body stands for. The error is a *problem.
func (g *Gateway) call(r *route, req *http.Request, body []byte) (*answer, error) {
	args, err := r.arguments(req, body)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(req.Context(), cmp.Or(g.Timeout, defaultTimeout))
	defer cancel()
	if r.method.Oneway() {
		if err := dynamic.CallRawOneway(ctx, r.backend, r.method.Name(), args); err != nil {
			return nil, g.unanswered(r, err)
		}
		return &answer{status: http.StatusAccepted, body: []byte("{}")}, nil
	}
	result, err := dynamic.CallRaw(ctx, r.backend, r.method.Name(), args)
	if err != nil {
		return nil, g.unanswered(r, err)
	}
	return r.answerFor(result)
}

// unanswered logs an error whose details clients are not shown, unless the client has gone away.
func (g *Gateway) unanswered(r *route, err error) error {
	if errors.Is(err, context.Canceled) {
		return unanswered(err)
	}
	logger := cmp.Or(g.Logger, slog.Default())
	logger.Warn("call failed", "service", r.service, "method", r.method.Name(), "error", err)
	return unanswered(err)
}

// write answers with an error, which is a *problem.
func write(w http.ResponseWriter, err error) {
	p := &problem{Status: http.StatusInternalServerError}
	errors.As(err, &p)
	if p.Title == "" {
		p.Title = http.StatusText(p.Status)
	}
	if p.retry {
		w.Header().Set("Retry-After", "1")
	}
	body, _ := json.Marshal(p)
	send(w, p.Status, body, false)
}

// send sends a JSON body. It may be compressed.
func send(w http.ResponseWriter, status int, body []byte, compress bool) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if status == http.StatusNoContent || status == http.StatusNotModified {
		w.WriteHeader(status)
		return
	}
	to := io.Writer(w)
	if compress && len(body) >= compressed.Least {
		w.Header().Set("Content-Encoding", "gzip")
		z := compressed.NewCompressor()
		defer func() {
			w.Write(z.Bytes())
			z.Free()
		}()
		to = z
	}
	w.WriteHeader(status)
	to.Write(bytes.TrimSpace(body))
	io.WriteString(to, "\n")
}

// statusOnly is a ResponseWriter that keeps the status.
type statusOnly struct {
	header http.Header
	status int
}

func (s *statusOnly) Header() http.Header         { return s.header }
func (s *statusOnly) Write(b []byte) (int, error) { return len(b), nil }
func (s *statusOnly) WriteHeader(status int)      { s.status = status }
