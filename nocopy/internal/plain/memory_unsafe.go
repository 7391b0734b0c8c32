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

// Text writes a field and makes room after it.
func (w *Writer) Text(at int, f Field, v string) int {
	n := len(v)
	if len(w.b)-at-(fieldHeader+textHeader+Slack+beyond) < n {
		w.growText(at, n)
	}
	binary.BigEndian.PutUint64(w.room(at)[:], uint64(f)<<40|uint64(uint32(n))<<8)
	at += fieldHeader + textHeader
	// SAFETY: there are n bytes and more from at on, and n in v, from 4 to 32 where they are moved.
	switch to, from := unsafe.Pointer(w.room(at)), unsafe.Pointer(unsafe.StringData(v)); {
	case uint(n-4) > 32-4:
		copy(w.b[at:], v)
	case n > 16:
		move17to32(to, from, n)
	default:
		move4to16(to, from, n)
	}
	return at + n
}

// TextValue writes a text without a field header and makes room after it.
func (w *Writer) TextValue(at int, v string) int {
	n := len(v)
	if len(w.b)-at-(textHeader+Slack+beyond) < n {
		w.growText(at, n)
	}
	binary.BigEndian.PutUint32(w.room(at)[:], uint32(n))
	at += textHeader
	// SAFETY: there are n bytes and more from at on, and n in v, from 4 to 32 where they are moved.
	switch to, from := unsafe.Pointer(w.room(at)), unsafe.Pointer(unsafe.StringData(v)); {
	case uint(n-4) > 32-4:
		copy(w.b[at:], v)
	case n > 16:
		move17to32(to, from, n)
	default:
		move4to16(to, from, n)
	}
	return at + n
}

// The moves copy n bytes, as many as their names say, and some in the middle twice. Calling
// memmove takes longer than that.

func move17to32(to, from unsafe.Pointer, n int) {
	// SAFETY: the text at from has n bytes, and there is room for as many at to. Nothing is read
	// or stored before or after these.
	*(*[16]byte)(to) = *(*[16]byte)(from)
	*(*[16]byte)(unsafe.Add(to, n-16)) = *(*[16]byte)(unsafe.Add(from, n-16))
}

func move4to16(to, from unsafe.Pointer, n int) {
	// SAFETY: as in move17to32.
	if n >= 8 {
		*(*[8]byte)(to) = *(*[8]byte)(from)
		*(*[8]byte)(unsafe.Add(to, n-8)) = *(*[8]byte)(unsafe.Add(from, n-8))
		return
	}
	*(*[4]byte)(to) = *(*[4]byte)(from)
	*(*[4]byte)(unsafe.Add(to, n-4)) = *(*[4]byte)(unsafe.Add(from, n-4))
}

// sizeOf returns the size of a T in bytes. The compiler knows it, which reflect would look up.
func sizeOf[T any]() uintptr {
	var v T
	return unsafe.Sizeof(v) // SAFETY: nothing is loaded or stored
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
