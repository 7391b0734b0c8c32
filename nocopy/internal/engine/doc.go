// Package engine makes messages work: it indexes, reads, builds, changes and sends them. Package
// nocopy has the names that people call, package thriftimpl the names that generated code calls.
//
// Its two nouns are the Message, which is wire bytes and an index of words over them, and the
// Struct, which is a handle: a message, its generation and an entry of its index.
//
//	handle  Struct{m, generation<<32 | entry} ──┐
//	                                            ↓
//	index   entry of a struct:   start, STOP, a word for each field
//	        entry of a list:     start, end, count, elements, room, type
//	                  │ positions, or numbers of entries
//	                  ↓
//	bytes   chain.Buffer: blocks, and nodes instead of what was changed
//
// A handle of any type can be converted to Struct, whose methods are all accessors. Those that
// end with At are for lists, those with Pair for maps. Only packages render, nocopy, thriftimpl,
// nocopyjson, plain and tests import this package. Its exported names promise nothing to
// programs.
//
// docs/internals.md explains the terms of comments, and where to begin to read.
package engine
