// Package linkbuf is a chained buffer: the bytes of one message, in as many pieces of memory as
// they happen to lie in. Bytes are appended, or referred to where they are, shared with other
// messages, replaced, and written by writev, without being moved together before. It knows
// nothing of what the bytes mean, and is for those who have a protocol of their own: this
// module's messages are in package nocopy.
//
// # The memory
//
// A [Buffer] is a list of pieces. Each piece is contiguous in memory and of one of three kinds:
//
//	message:  0 ……………………… 180 ……………………… 2,500,180 ……………… 2,500,400
//	          in a block of    in the caller's       in a block of
//	          its own          slice, see Refer      another Buffer, see Share
//
// Appending fills the Buffer's last block, then gets another one, so that a message that was only
// appended to has a piece for each block. Offsets are always those of the message as it is now.
//
// # Ownership
//
//   - Write, WriteString, Extend, Put, Replace and ReadN copy into blocks of the Buffer's own.
//   - Refer keeps a reference to the caller's slice, which must not be changed while any Buffer
//     refers to it. The Buffer never stores into it.
//   - Share and [Receiver.Take] hold the memory that they refer to. It stays until the last Buffer
//     that holds it is freed. No Buffer stores into memory that another one holds: Put copies
//     then.
//   - Bytes, Slice, Pieces and Extend return slices that alias the message. Without recycling they
//     stay readable for as long as they are referred to, as any Go memory. With recycling, see
//     Reset, they end with the last Buffer that holds the memory.
//
// # Errors
//
// Arguments that cannot be, such as an offset outside of the message, are a panic whose text
// begins with "linkbuf: ". No argument makes a function read or store outside of what its Buffer
// holds. What may come from outside, such as the length of a frame, is an error.
//
// # Threads
//
// Any number of goroutines may read a Buffer, write it to connections and share from it while
// none changes it.
package linkbuf
