// Package dynamic makes, reads, changes and sends messages of types that are not known when the
// program is compiled: it loads .thrift files at run time, with the parser and the checks of
// nocopyc. It is what gateways, proxies and tools need; programs that know their types generate
// code.
//
//	s, err := dynamic.Load("order.thrift")
//	typ, err := s.Struct("Order")
//	msg, err := typ.Parse(b)
//	city, err := msg.Lookup("customer.address.city")
//	err = msg.Set("note", "paid")
//
// Messages are those of package nocopy: the same bytes, checks, limits, options, lifetimes and
// speed as with generated code. They have the methods of package reflection, and are given to all
// that takes any message (nocopy.AnyStruct). Names, types, comments and annotations are told by
// package descriptor.
//
// Names and values that do not fit are errors, since they come from outside. A handle that is used
// after its message was released panics, as generated ones do.
//
// # Calls
//
// A [Client] calls the methods of a service by their names. Service.Processor serves them, with
// one handler for all or one for each. Service.Proxy passes calls on as they are. [Forward] passes
// on calls of methods of which nothing is known, and [CallRaw] makes them.
//
// # What types cost
//
// Types are never given back: messages refer to them. So they are made once. What is loaded again
// and is equal to what has been loaded before, comments and annotations included, takes no more
// memory; a struct that has changed is made again, with those that refer to it, and nothing else.
// A struct of eleven fields takes 4.6 KB with the program by which it is parsed, and counts as 8.7
// KB. All types that a program loads may count as 512 MiB; then loading fails. SECURITY.md has
// what loading .thrift files of strangers may take.
//
// Read next: load.go for files, keys.go and intern.go for how equal types are found, build.go,
// schema.go and service.go for what a Schema has, convert.go for Go values.
package dynamic
