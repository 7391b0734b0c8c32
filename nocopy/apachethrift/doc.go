// Package apachethrift uses the types and services that nocopyc generates with Apache Thrift's own
// Go library: with its protocols and transports, its servers, clients and middlewares, and the
// types that its compiler generates.
//
//	apachethrift.Write(ctx, thrift.NewTCompactProtocolConf(trans, nil), order) // any TProtocol
//	order, err := apachethrift.Read[shop.Order](ctx, thrift.NewTJSONProtocol(trans))
//	b, err := thrift.NewTSerializer().Write(ctx, apachethrift.Struct(&order))  // a TStruct
//
//	processor := apachethrift.NewProcessor(shop.NewStoreProcessor(handler), nocopy.Limits{})
//	server := thrift.NewTSimpleServer4(processor, socket, transports, protocols)
//
//	store := shop.NewStoreClient(apachethrift.NewCaller(thrift.NewTStandardClient(in, out)))
//
//	err := apachethrift.ToApache(order, theirs)                                // and back:
//	order, err := apachethrift.FromApache[shop.Order](theirs)
//
// # What happens to a message
//
// A message is always Thrift Binary in memory. Other protocols are translated value by value. The
// descriptor supplies what the protocol does not say. Writing to a TBinaryProtocol, and reading
// one from a TMemoryBuffer, copies the bytes without translation.
//
//   - Fields are written in the order of the message: first those that it was made with. A field
//     or key that came twice is written twice; readers take the last one.
//   - Unknown fields are kept when reading and written again, with any protocol. Simple JSON names
//     them by their ids. JSON must tell strings from binaries, which are base64 there; an unknown
//     value that is UTF-8 is written as a string. A binary thus becomes a string if a program that
//     does not know its field translates it from binary or compact to JSON.
//   - A field with another type than declared, or with elements of another type, is an unknown
//     field. If it is required, it is therefore missing. An empty container has its declared type,
//     even if the protocol names another.
//   - A bool on the wire that is neither 0 nor 1 is false for Apache's protocols, and true if
//     bytes are copied.
//   - A missing required field is an error, as in ParseX. If a union has several fields, the last
//     one counts.
//   - The protocol's own methods write numbers, strings and doubles. They may change values, as
//     with Apache's types: JSON has no strings that are not UTF-8. Maps whose keys are structs or
//     containers are written as Apache's library does, which is not JSON.
//   - In TJSONProtocol a key of a map<binary, …> is base64, as are all binaries. Apache's
//     generated code for Java, C++, C, Python and Node does the same. Its code for Go and PHP
//     writes such a key as a string, without base64; for all others that is another key, or an
//     error. Over binary, compact and header such maps are the same everywhere, and so are sets
//     and lists of binaries over JSON from Go.
//   - Simple JSON can be written only.
//
// # Limits
//
// No count or length is trusted. Memory grows as values arrive, up to Limits.MaxBytes of Thrift
// Binary; 0 means 100 MiB. Structs are nested up to Limits.MaxDepth. The limits in the protocol's
// TConfiguration apply in addition, except for a TBinaryProtocol over a TMemoryBuffer, which has
// all bytes already.
//
// # Lifetimes
//
// Reading makes a new message in its own memory, which does not refer to the protocol. It belongs
// to the caller, who may release it or leave it to the garbage collector. Writing keeps nothing of
// the message. Handlers' arguments and results belong to the library, see [NewProcessor].
//
// # Errors
//
// An error of reading is a *nocopy.Error with the path of the value, such as
// "Order.lines[3].price", and the offset in Thrift Binary. errors.Is finds io.ErrUnexpectedEOF,
// nocopy.ErrLimit and the other reasons of package nocopy in it. errors.As finds the
// TProtocolException or TTransportException that is the cause. Errors of writing are the
// protocol's, with the path before their text. A mistake in the program panics with a text that
// begins with "nocopy: ".
package apachethrift
