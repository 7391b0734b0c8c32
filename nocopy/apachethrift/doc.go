// Package apachethrift puts the types and services that nocopyc generates to use with Apache
// Thrift's own Go library: its protocols and transports, its servers, clients and middlewares, and
// the types that its compiler generates.
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
// A message is always Thrift Binary in memory. Another protocol is translated to that, or from
// that, value by value as they come, with the descriptor for what the protocol does not say. Over
// a TBinaryProtocol nothing is translated when writing, nor when reading from a TMemoryBuffer: the
// bytes are copied.
//
//   - Fields are written in the order that they have in the message, those first that it was made
//     with. A field or key that has come twice is written twice; readers take the last one.
//   - Unknown fields are kept when reading and written again, whatever the protocol. Simple JSON
//     names them by their ids. Where JSON must tell a string from a binary, which is base64 there,
//     an unknown one that is UTF-8 is a string: a binary that goes from binary or compact to JSON
//     by way of a program that does not know its field arrives there as a string.
//   - A field with another type than declared, or with elements of another type, is an unknown
//     field, so that a required one is missing then. An empty container is of its declared type,
//     whatever types the protocol gives it.
//   - A bool on the wire that is neither 0 nor 1 is false to Apache's protocols, but true where
//     bytes are copied.
//   - A missing required field is an error, as in ParseS. Of a union, the arm that comes last
//     counts.
//   - Numbers, strings and doubles are written by the protocol's own methods, and may change there
//     as with Apache's types: JSON has no strings that are not UTF-8. Maps with keys that are
//     structs or containers are what Apache's library writes, which is not JSON.
//   - In TJSONProtocol a key of a map<binary, …> is base64, as are all binaries. What Apache's
//     compiler generates for Java, C++, C, Python and Node does the same. What it generates for Go
//     and PHP writes such a key as a string, without base64: that is another key for all others,
//     or an error. Over binary, compact and header such maps are the same everywhere, and so are
//     sets and lists of binaries over JSON from Go.
//   - Simple JSON can be written only.
//
// # Limits
//
// No count or length is trusted: memory is taken as values arrive, up to Limits.MaxBytes of Thrift
// Binary, 100 MiB if it is 0, and structs are nested up to Limits.MaxDepth. The limits of Apache's
// TConfiguration, which the protocol has, come on top of these, but for a TBinaryProtocol over a
// TMemoryBuffer, whose bytes are there already.
//
// # Lifetimes
//
// What is read is a new message in memory of its own, which refers to nothing of the protocol's.
// It belongs to the caller, who may release it or leave it to the garbage collector. Writing keeps
// nothing of the message. Handlers' arguments and results belong to the library, see
// [NewProcessor].
//
// # Errors
//
// Errors of reading are *nocopy.Errors with the path of what is wrong, such as
// "Order.lines[3].price", and the offset in Thrift Binary; errors.Is finds io.ErrUnexpectedEOF,
// nocopy.ErrLimit and the others of package nocopy in them, and errors.As the TProtocolException
// or TTransportException that is the cause. Errors of writing are the protocol's, with the path
// before their text. Bad programs panic with a text that begins with
// "nocopy: ".
package apachethrift
