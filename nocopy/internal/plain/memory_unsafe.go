//go:build !nounsafe

package plain

import (
	"encoding/binary"
	"unsafe"
)

// Methods that do not check store by pointers: comparing the position with the length of the slice
// again would take a third of the time of a small struct.

// room returns the bytes at at.
func (w *Writer) room(at int) *[beyond]byte {
	// SAFETY: Fit, or a method that says so, has made room for Slack+beyond bytes since. Generated
	// code writes at most Slack bytes before the next of these.
	return (*[beyond]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(w.b)), at))
}

// move copies v to at, where there is room for it.
func (w *Writer) move(at int, v string) {
	n := len(v)
	if uint(n-4) > 32-4 {
		copy(w.b[at:], v)
		return
	}
	// SAFETY: v has 4 to 32 bytes, and there is room for as many. Nothing is read or stored before
	// or after these; bytes in the middle perhaps twice.
	to := unsafe.Add(unsafe.Pointer(unsafe.SliceData(w.b)), at)
	from := unsafe.Pointer(unsafe.StringData(v))
	switch {
	case n > 16:
		*(*[16]byte)(to) = *(*[16]byte)(from)
		*(*[16]byte)(unsafe.Add(to, n-16)) = *(*[16]byte)(unsafe.Add(from, n-16))
	case n >= 8:
		*(*[8]byte)(to) = *(*[8]byte)(from)
		*(*[8]byte)(unsafe.Add(to, n-8)) = *(*[8]byte)(unsafe.Add(from, n-8))
	default:
		*(*[4]byte)(to) = *(*[4]byte)(from)
		*(*[4]byte)(unsafe.Add(to, n-4)) = *(*[4]byte)(unsafe.Add(from, n-4))
	}
}

// The callers of these have compared the end of what they load with that of the message.

func (r *Reader) load16(at int) uint16 {
	// SAFETY: see above.
	return binary.BigEndian.Uint16((*[2]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(r.b)), at))[:])
}

func (r *Reader) load32(at int) uint32 {
	// SAFETY: see above.
	return binary.BigEndian.Uint32((*[4]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(r.b)), at))[:])
}

func (r *Reader) load64(at int) uint64 {
	// SAFETY: see above.
	return binary.BigEndian.Uint64((*[8]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(r.b)), at))[:])
}
