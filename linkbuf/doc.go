// Package linkbuf is a chained buffer: it holds the bytes of one message in any number of pieces
// of memory. Bytes can be appended, referred to in place, shared with other messages, replaced,
// and written by writev, without being copied together first. The bytes may have any meaning. Use
// this package for a protocol of your own; for Thrift messages use package nocopy.
//
// # The memory
//
// A [Buffer] is a list of pieces. Each piece is contiguous in memory and of one of three kinds:
//
//	message:  0 ……………………… 180 ……………………… 2,500,180 ……………… 2,500,400
//	          in a block of    in the caller's       in a block of
//	          its own          slice, see Refer      another Buffer, see Share
//
// Appending fills the Buffer's last block, then takes another one. A message that was only
// appended to has one piece per block. Offsets always refer to the current message.
//
// # Ownership
//
//   - Write, WriteString, Extend, Put, Replace and ReadN copy into blocks of the Buffer's own.
//   - Refer keeps a reference to the caller's slice, which must not be changed while any Buffer
//     refers to it. The Buffer never stores into it.
//   - Share and [Receiver.Take] hold the memory that they refer to, until the last Buffer that
//     holds it is freed. No Buffer stores into memory that another one holds; Put makes a copy
//     instead.
//   - Bytes, Slice, Pieces and Extend return slices that alias the message. Without recycling they
//     stay readable like any Go memory. With recycling (see Reset) they end with the last Buffer
//     that holds the memory.
//
// # Errors
//
// An impossible argument, such as an offset outside the message, panics with a text that begins
// with "linkbuf: ". No argument makes a function read or store outside its Buffer's memory. Values
// that may come from outside, such as the length of a frame, give errors.
//
// # Threads
//
// Any number of goroutines may read a Buffer, write it to connections and share from it, while
// none changes it.
package linkbuf
