package rpc

import (
	"context"
	"sync"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// Caller makes calls for generated clients. A [*Client] is one; NewCaller makes one of a function.
type Caller interface {
	// NewArgs returns empty arguments for a call of m. The caller fills them and passes them to Call.
	NewArgs(m *Method) nocopy.Struct
	// Call sends args and returns the result. It takes args over; the result belongs to the caller.
	// The result of a oneway method is absent, and so is a result that comes with an error.
	Call(ctx context.Context, m *Method, args nocopy.Struct) (nocopy.Struct, error)
}

// MultiplexedCaller returns a Caller for one of the services that share a server; see Multiplexed.
// It calls "service:method".
func MultiplexedCaller(c Caller, service string) Caller {
	return &multiplexed{Caller: c, prefix: service + ":"}
}

type multiplexed struct {
	Caller
	prefix  string
	methods sync.Map // *Method → *prefixed
}

// prefixed is a method with a prefix, and what Forward makes of it.
type prefixed struct{ usual, passing Method }

// method returns m with the prefix, always the same one unless it is a RawMethod.
func (c *multiplexed) method(m *Method) *Method {
	if m.raw { // made for one call
		p := *m
		p.prefix = c.prefix + m.prefix
		return &p
	}
	of := m
	if m.passes != nil { // each Forward has copies of its own
		of = m.passes
	}
	p, ok := c.methods.Load(of)
	if !ok {
		both := &prefixed{*of, *of}
		both.usual.prefix = c.prefix + of.prefix
		both.passing.prefix, both.passing.passes = both.usual.prefix, &both.usual
		p, _ = c.methods.LoadOrStore(of, both)
	}
	if m.passes != nil {
		return &p.(*prefixed).passing
	}
	return &p.(*prefixed).usual
}

func (c *multiplexed) NewArgs(m *Method) nocopy.Struct { return c.Caller.NewArgs(c.method(m)) }

func (c *multiplexed) Call(ctx context.Context, m *Method, args nocopy.Struct) (nocopy.Struct, error) {
	return c.Caller.Call(ctx, c.method(m), args)
}
