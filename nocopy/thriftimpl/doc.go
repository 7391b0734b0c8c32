// Package thriftimpl is for generated code: it has descriptors, constructors, accessors and
// codecs. Programs should call generated code.
//
// Every name here is frozen: generated code of any 1.x compiles, and behaves, with every
// later 1.y. So are the methods, fields and signatures that generated code uses of these
// types. Nothing here says how a message is indexed. A Field, which generated code has as a
// constant, holds a field's number in the order of the IDL, the number after the last one's,
// bits for unions and wide structs, the type on the wire, and the id.
//
// It gives names to internal functions of package nocopy, which has the implementation. There,
// getters can be inlined and handles can have unexported fields.
//
// Some functions on messages of calls are not for generated code, but for module kitex: Absent,
// AppendPieces, Detach, Disowned, End, EndHandles, NewForCall, ParseChunk, ParseEncoded,
// ParseForCall, Recycles and Scanner. JSONNames is for module cmd/nocopy. These modules have
// versions of their own, so that such names are frozen, too. What only the packages of this module
// need is in nocopy/internal/impl.
package thriftimpl
