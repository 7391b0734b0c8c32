package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/nocopythrift/nocopythrift/kitex/examples/proxy/envelope"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// router forwards each call to the back end of its tenant.
type router struct {
	name     string // of this proxy, for the headers of calls
	backends []rpc.Handler
	metrics  *metrics
}

// newRouter returns a router to clients of the back ends.
func newRouter(name string, m *metrics, backends ...rpc.Caller) *router {
	r := &router{name: name, metrics: m}
	for _, b := range backends {
		r.backends = append(r.backends, rpc.Forward(b))
	}
	return r
}

// processor returns the proxy's Processor: for all methods of all services. Arguments should be
// parsed lazily: then only the way to the header is indexed.
func (r *router) processor() *rpc.Processor {
	var known []*rpc.Method
	for _, name := range oneway {
		m := rpc.RawMethod(name, true)
		m.Args = envelope.ArgumentsDesc
		known = append(known, m.HandledBy(r.route))
	}
	return rpc.NewProcessor("", nil, known...).WithFallbackArgs(envelope.ArgumentsDesc, r.route)
}

// oneway are the names of oneway methods. The header of a oneway call says so, except from
// Apache's Go clients: theirs look like all other calls.
var oneway = []string{"note"}

// tenantPath leads to the tenant's id: the first argument, its header, the tenant, the id.
var tenantPath = []int{1, 1, 1, 1}

// route forwards a call.
func (r *router) route(ctx context.Context, c *rpc.Call) error {
	tenant, err := c.Peek(tenantPath...)
	if err != nil || tenant.Type != nocopy.WireString {
		return &rpc.ApplicationException{Type: rpc.ProtocolError, Message: fmt.Sprintf("no tenant: %v", err)}
	}
	backend := r.backendOf(tenant.Bytes())
	args, _ := rpc.ArgsOf[envelope.Arguments](c)
	header := args.GetRequest().GetHeader()
	header.SetVia(strings.TrimPrefix(header.GetVia()+" "+r.name, " "))
	r.metrics.routed(backend)
	return r.backends[backend](ctx, c)
}

// backendOf returns the number of a tenant's back end, which is always the same.
func (r *router) backendOf(tenant []byte) int {
	h := fnv.New32a()
	h.Write(tenant)
	return int(h.Sum32() % uint32(len(r.backends)))
}
