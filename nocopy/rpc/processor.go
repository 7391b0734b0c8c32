package rpc

import "maps"

// Processor knows the methods of a service and who handles them. It does not change and may serve
// any number of servers.
type Processor struct {
	methods map[string]*Method // by the name in a call's header
}

// NewProcessor returns the processor of a service with these methods and those of base, which may
// be nil. Generated code calls it as NewVProcessor.
func NewProcessor(service string, base *Processor, methods ...*Method) *Processor {
	p := &Processor{methods: map[string]*Method{}}
	if base != nil {
		maps.Copy(p.methods, base.methods)
	}
	for _, m := range methods {
		if m.handler == nil {
			panic("nocopy: method " + service + "." + m.Name + " has no handler")
		}
		p.methods[m.Name] = m
	}
	return p
}

// Multiplexed returns the processor of several services on one port: calls of a method are for
// "service:method", by the keys of the map. Calls without a service go to the processor with the
// key "", if there is one.
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
	}
	return p
}
