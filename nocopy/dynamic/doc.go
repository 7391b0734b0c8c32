// Package dynamic makes, reads, changes and sends messages of types that are not known when the
// program is compiled. It loads .thrift files at run time, with the parser and the checks of
// nocopyc. Use it in gateways, proxies and tools. Programs that know their types should use
// generated code.
//
//	s, err := dynamic.Load("order.thrift")
//	typ, err := s.Struct("Order")
//	msg, err := typ.Parse(b)
//	city, err := msg.Lookup("customer.address.city")
//	err = msg.Set("note", "paid")
//
// Messages are those of package nocopy: the same bytes, checks, limits, options, lifetimes and
// speed as with generated code. They have the methods of package reflection. Functions that accept
// any message (nocopy.AnyStruct) accept them. Package descriptor describes names, types, comments
// and annotations.
//
// Names and values that do not fit give errors, since they come from outside. Using a handle after
// its message was released panics, as with generated code.
//
// # Calls
//
// A [Client] calls the methods of a service by their names. Service.Processor serves them, with
// one handler for all or one for each. Service.Proxy forwards calls unchanged. [Forward] forwards
// calls of unknown methods, and [CallRaw] makes them.
//
// # What types cost
//
// Types are never freed, because messages refer to them. They are made only once: loading an equal
// definition again, with equal comments and annotations, takes no more memory. If a struct has
// changed, only it and the structs that refer to it are made again. A struct of 11 fields takes
// 4.6 KB, including the program that parses it, and counts as 8.7 KB. When all loaded types count
// as 512 MiB, loading fails. SECURITY.md says what loading untrusted .thrift files may take.
//
// Read next: load.go for files, keys.go and intern.go for finding equal types, build.go, schema.go
// and service.go for the contents of a Schema, convert.go for Go values.
package dynamic
