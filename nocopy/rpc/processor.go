package rpc

// Processor holds the methods of a service and their handlers. It is immutable. Any number of
// servers may share it.
type Processor struct {
	methods map[string]*Method // by the name that a call's header has
	unknown *fallback          // for all other calls; nil if there is none
	// For all other calls of a service, by its name and a colon; "" is for calls without one
	ofService map[string]*fallback
}

// NewProcessor returns the Processor of a service with these methods, each with a handler, and
// with the methods of base, which may be nil. For generated code; programs call NewXProcessor of
// their service X.
func NewProcessor(service string, base *Processor, methods ...*Method) *Processor {
	p := &Processor{methods: map[string]*Method{}}
	if base != nil {
		p.inherit(base)
	}
	for _, m := range methods {
		if m == nil {
			panic("nocopy: rpc.NewProcessor with a nil Method")
		}
		if m.handler == nil {
			panic("nocopy: method " + service + "." + m.Name + " has no handler")
		}
		p.methods[m.Name] = m
	}
	return p
}

// Multiplexed returns a Processor for several services on one port, keyed by name. Clients call
// "service:method"; see MultiplexedCaller. Calls without a service's name go to the service with
// the name "", if there is one.
func Multiplexed(services map[string]*Processor) *Processor {
	p := &Processor{methods: map[string]*Method{}}
	for service, of := range services {
		if of == nil {
			panic("nocopy: rpc.Multiplexed: no processor for service " + service)
		}
		if service != "" {
			service += ":"
		}
		for name, m := range of.methods {
			p.methods[service+name] = m
		}
		p.addFallbacks(service, of)
	}
	return p
}
