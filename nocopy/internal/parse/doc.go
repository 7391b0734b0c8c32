// Package parse makes the index of a message from its bytes. It knows types, bytes and entries,
// but no message.
//
//	bytes in blocks ──→ Parser ──→ index.Index
//	                      │  ↑
//	                 loop ↓  │ bytes that no op foresees
//	                   programs of types (package program)
//
// Root indexes most messages by the loop alone. Its levels are on the stack, and it needs no
// Parser. Anything else takes a Parser: values that cross from one block into the next, options,
// limits, fields that are unknown or come twice, and errors. A message has one as long as it needs
// it. The Parser tells the message, its Host, of fields that have no place in the index.
//
// Scanner, Skip, Peek and PeekAll pass over bytes, and fill no index.
//
// Packages engine, nocopy and thriftimpl call this package.
package parse
