// Package thriftimpl is for generated code: it has descriptors, constructors, accessors and
// codecs. Programs should call generated code.
//
// What generated code mentions is frozen: names, methods, fields and their types. Generated
// code of any 1.x compiles, and behaves, with every later 1.y. The files api/*.txt of the
// repository list what is mentioned, and TestAPI takes it from generated code. Everything else
// that can be seen here, such as other methods of Struct, is the engine's and may change. The
// page Compatibility of the documentation has the whole promise. Nothing that is frozen says
// how a message is indexed. A Field, which generated code has as a constant, holds a field's
// number in the order of the IDL, the number after the last one's, bits for unions and wide
// structs, the type on the wire, and the id.
//
// It gives names to internal functions of package nocopy, which has the implementation. There,
// getters can be inlined and handles can have unexported fields.
//
// Module kitex needs some functions on messages of calls, which generated code does not: Absent,
// AppendPieces, Detach, Disowned, End, EndHandles, NewForCall, ParseChunk, ParseEncoded,
// ParseForCall, Recycles and Scanner. They are frozen, too: a program may have kitex in another
// version than this module. Module cmd/nocopy needs JSONNames. It needs this module in its own
// version, so that JSONNames is not frozen. What only the packages of this module need is in
// nocopy/internal/impl.
package thriftimpl
