// Package limit is Thrift Binary written by hand for each of the benchmark's messages: one pass,
// no index, no validation beyond Go's bounds checks. Only many edits of one message take two
// passes, with notes of where its items are. No library for messages of all kinds can be expected
// to be faster. It shows how far the others are from the limits of the machine.
package limit

import "encoding/binary"

var be = binary.BigEndian

// Wire types.
const (
	tStop   = 0
	tBool   = 2
	tDouble = 4
	tI16    = 6
	tI32    = 8
	tI64    = 10
	tString = 11
	tStruct = 12
	tMap    = 13
	tList   = 15
)

// The put functions write a field into b at n and return where it ends. They are functions of an
// offset, not methods of a writer: the offset stays in a register.

func putHeader(b []byte, n int, t, id byte) int {
	h := b[n : n+3]
	h[0], h[1], h[2] = t, 0, id
	return n + 3
}

func putI64(b []byte, n int, id byte, v int64) int {
	f := b[n : n+11]
	f[0], f[1], f[2] = tI64, 0, id
	be.PutUint64(f[3:], uint64(v))
	return n + 11
}

func putDouble(b []byte, n int, id byte, v uint64) int {
	f := b[n : n+11]
	f[0], f[1], f[2] = tDouble, 0, id
	be.PutUint64(f[3:], v)
	return n + 11
}

func putI32(b []byte, n int, id byte, v int32) int {
	f := b[n : n+7]
	f[0], f[1], f[2] = tI32, 0, id
	be.PutUint32(f[3:], uint32(v))
	return n + 7
}

func putBool(b []byte, n int, id byte, v bool) int {
	f := b[n : n+4]
	f[0], f[1], f[2], f[3] = tBool, 0, id, 0
	if v {
		f[3] = 1
	}
	return n + 4
}

func putString(b []byte, n int, id byte, s string) int {
	f := b[n : n+7]
	f[0], f[1], f[2] = tString, 0, id
	be.PutUint32(f[3:], uint32(len(s)))
	return n + 7 + copy(b[n+7:], s)
}

// putText stores a string without a field header at b[n:], for elements, and returns where it
// ends.
func putText(b []byte, n int, s string) int {
	be.PutUint32(b[n:n+4], uint32(len(s)))
	return n + 4 + copy(b[n+4:], s)
}

func putList(b []byte, n int, id, elem byte, count int) int {
	f := b[n : n+8]
	f[0], f[1], f[2], f[3] = tList, 0, id, elem
	be.PutUint32(f[4:], uint32(count))
	return n + 8
}

// room returns b with at least need bytes from n on, moved if it was too short.
func room(b []byte, n, need int) []byte {
	if len(b)-n >= need {
		return b
	}
	return grow(b, n, need)
}

func grow(b []byte, n, need int) []byte {
	bigger := make([]byte, max(2*len(b), n+need))
	copy(bigger, b[:n])
	return bigger
}
