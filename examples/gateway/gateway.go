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
	backends map[string]backend    // by the names of services
	timeout  time.Duration         // of a call
	slots    chan struct{}         // one for each request that is being answered
	table    atomic.Pointer[table] // what the latest good IDL says
	refused  atomic.Pointer[error] // why the IDL is not used that is on disk, nil if it is
}

// A backend makes calls to the server of a service. A server closes a connection on which
// malformed arguments come, with what others have sent on it, so that arguments that the gateway
// has not decoded have connections of their own.
type backend struct{ checked, unchecked rpc.Caller }

// maxRequests is the most requests that are answered at a time. Each has at most one body in
// memory, in JSON and in Thrift, and one reply.
const maxRequests = 1024

// A table is what one version of the IDL says. A request keeps to the table that it began with.
type table struct {
	mux    *http.ServeMux
	routes []*route
}

func newGateway(backends map[string]backend, timeout time.Duration) *gateway {
	g := &gateway{backends: backends, timeout: timeout, slots: make(chan struct{}, maxRequests)}
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
	g.addPage(t.mux)
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
	select {
	case g.slots <- struct{}{}:
		defer func() { <-g.slots }()
	default:
		w.Header().Set("Retry-After", "1")
		write(w, &problem{Status: http.StatusServiceUnavailable, Message: "too many requests at a time"})
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

// answer answers a request that is for r.
func (g *gateway) answer(r *route, w http.ResponseWriter, req *http.Request) {
	a, err := g.call(r, req)
	if err != nil {
		write(w, err)
		return
	}
	for name, values := range a.header {
		w.Header()[name] = values
	}
	send(w, a.status, a.body)
}

// call makes the call that a request stands for. The error is a *problem.
func (g *gateway) call(r *route, req *http.Request) (*answer, error) {
	args, checked, err := r.arguments(req)
	if err != nil {
		return nil, err
	}
	caller := r.backend.unchecked
	if checked {
		caller = r.backend.checked
	}
	ctx, cancel := context.WithTimeout(req.Context(), g.timeout)
	defer cancel()
	if r.method.Oneway() {
		if err := dynamic.CallRawOneway(ctx, caller, r.method.Name(), args); err != nil {
			return nil, r.unanswered(err)
		}
		return &answer{status: http.StatusAccepted, body: []byte("{}")}, nil
	}
	result, err := dynamic.CallRaw(ctx, caller, r.method.Name(), args)
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
	body, _ := json.Marshal(p)
	send(w, p.Status, body)
}

func send(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	if status != http.StatusNoContent && status != http.StatusNotModified {
		w.Write(append(bytes.TrimSpace(body), '\n'))
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
