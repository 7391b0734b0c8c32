package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// A gateway answers HTTP requests by calls of Thrift services.
type gateway struct {
	backends map[string]rpc.Caller // by the names of services
	timeout  time.Duration         // of a call
	slots    chan struct{}         // one for each call that is being made
	memory   budget                // for what slow clients send and receive
	table    atomic.Pointer[table] // what the latest good IDL says
	refused  atomic.Pointer[error] // why the IDL is not used that is on disk, nil if it is
}

// maxRequests is the most calls that are made at a time. Each has at most one body in memory, in
// JSON and in Thrift, and one reply, in both.
const maxRequests = 1024

// A table is what one version of the IDL says. A request keeps to the table that it began with.
type table struct {
	mux     *http.ServeMux
	routes  []*route
	methods []byte // the JSON of what the page shows of the routes
}

func newGateway(backends map[string]rpc.Caller, timeout time.Duration) *gateway {
	g := &gateway{backends: backends, timeout: timeout, slots: make(chan struct{}, maxRequests), memory: budget{free: maxMemory}}
	g.table.Store(&table{mux: http.NewServeMux()})
	return g
}

// use makes the gateway answer requests as the IDL files say, by their names. After an error it
// goes on as before.
func (g *gateway) use(texts map[string]string) error {
	t, err := g.tableOf(texts)
	if err != nil {
		g.refused.Store(&err)
		return err
	}
	g.refused.Store(nil)
	g.table.Store(t)
	return nil
}

func (g *gateway) tableOf(texts map[string]string) (*table, error) {
	schema, err := dynamic.LoadText(texts)
	if err != nil {
		return nil, err
	}
	t := &table{mux: http.NewServeMux()}
	if t.routes, err = routesOf(schema, g.backends); err != nil {
		return nil, err
	}
	if err := g.addPage(t); err != nil {
		return nil, err
	}
	for _, r := range t.routes {
		if err := t.add(r, g); err != nil {
			return nil, fmt.Errorf("%s.%s: %w", r.service, r.method.Name(), err)
		}
	}
	return t, nil
}

// add adds a route. The error tells that there can't be one, or that the mux could not tell it
// from another one.
func (t *table) add(r *route, g *gateway) (err error) {
	pattern, err := patternOf(r.path)
	if err != nil {
		return err
	}
	defer func() {
		if p := recover(); p != nil { // of the mux
			err = fmt.Errorf("%v", p)
		}
	}()
	t.mux.HandleFunc(strings.TrimSpace(r.verb+" "+pattern), func(w http.ResponseWriter, req *http.Request) { g.answer(r, w, req) })
	return nil
}

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

// ServeHTTP answers a request by the table of the moment.
func (g *gateway) ServeHTTP(w http.ResponseWriter, req *http.Request) {
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

// answer answers a request that is for r. It has a slot only from when its body is there until the
// answer is to be written: clients that are slow, or mean to be, keep others from nothing.
func (g *gateway) answer(r *route, w http.ResponseWriter, req *http.Request) {
	memory := loan{from: &g.memory}
	defer memory.set(0)
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
	send(w, a.status, a.body)
}

// callInSlot makes the call that a request with a body stands for if there is a slot for it. The
// error is a *problem.
func (g *gateway) callInSlot(r *route, req *http.Request, body []byte) (*answer, error) {
	select {
	case g.slots <- struct{}{}:
		defer func() { <-g.slots }()
		return g.call(r, req, body)
	default:
		return nil, busy("too many requests at a time")
	}
}

// call makes the call that a request with a body stands for. The error is a *problem.
func (g *gateway) call(r *route, req *http.Request, body []byte) (*answer, error) {
	args, err := r.arguments(req, body)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(req.Context(), g.timeout)
	defer cancel()
	if r.method.Oneway() {
		if err := dynamic.CallRawOneway(ctx, r.backend, r.method.Name(), args); err != nil {
			return nil, r.unanswered(err)
		}
		return &answer{status: http.StatusAccepted, body: []byte("{}")}, nil
	}
	result, err := dynamic.CallRaw(ctx, r.backend, r.method.Name(), args)
	if err != nil {
		return nil, r.unanswered(err)
	}
	return r.answerFor(result)
}

// unanswered logs what clients are not shown, unless the client itself has gone away.
func (r *route) unanswered(err error) error {
	if errors.Is(err, context.Canceled) {
		return unanswered(err)
	}
	slog.Warn("call failed", "service", r.service, "method", r.method.Name(), "error", err)
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
	send(w, p.Status, body)
}

func send(w http.ResponseWriter, status int, body []byte) {
	sendParts(w, status, bytes.TrimSpace(body), []byte("\n"))
}

// sendParts sends a body that is in parts.
func sendParts(w http.ResponseWriter, status int, parts ...[]byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	if status == http.StatusNoContent || status == http.StatusNotModified {
		return
	}
	for _, p := range parts {
		w.Write(p)
	}
}

// statusOnly is a ResponseWriter that keeps the status.
type statusOnly struct {
	header http.Header
	status int
}

func (s *statusOnly) Header() http.Header         { return s.header }
func (s *statusOnly) Write(b []byte) (int, error) { return len(b), nil }
func (s *statusOnly) WriteHeader(status int)      { s.status = status }
