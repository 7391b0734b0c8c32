//go:build !nounsafe

package plain

import (
	"encoding/binary"
	"unsafe"
)

// Methods that do not check for room store through pointers. Comparing the position with the
// length of the slice again would take a third of the time of a small struct.

// room returns the bytes at at.
func (w *Writer) room(at int) *[beyond]byte {
	// SAFETY: Fit, or a method that documents it, has made room for Slack+beyond bytes. Generated
	// code writes at most Slack bytes before the next such call.
	return (*[beyond]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(w.b)), at))
}

// shortText is the longest text that a few loads and stores move in less time than a call of
// memmove.
const shortText = 64

// Text writes a field and makes room after it.
func (w *Writer) Text(at int, f Field, v string) int {
	n := len(v)
	if n > shortText || len(w.b)-at < fieldHeader+textHeader+shortText+Slack+beyond {
		return w.anyText(at, f, v)
	}
	to := w.room(at)
	binary.BigEndian.PutUint64(to[:], uint64(f)<<40|uint64(uint32(n))<<8)
	// SAFETY: there is room for n bytes, and n was compared for the moves.
	switch to, from := unsafe.Pointer(&to[fieldHeader+textHeader]), unsafe.Pointer(unsafe.StringData(v)); {
	case n > 32:
		move33to64(to, from, n)
	case n > 16:
		move17to32(to, from, n)
	case n >= 8:
		move8to16(to, from, n)
	case n > 0:
		move1to7(to, from, n)
	}
	return at + fieldHeader + textHeader + n
}

// TextValue writes a text without a field header and makes room after it.
func (w *Writer) TextValue(at int, v string) int {
	n := len(v)
	if n > shortText || len(w.b)-at < textHeader+shortText+Slack+beyond {
		return w.anyTextValue(at, v)
	}
	to := w.room(at)
	binary.BigEndian.PutUint32(to[:], uint32(n))
	// SAFETY: there is room for n bytes, and n was compared for the moves.
	switch to, from := unsafe.Pointer(&to[textHeader]), unsafe.Pointer(unsafe.StringData(v)); {
	case n > 32:
		move33to64(to, from, n)
	case n > 16:
		move17to32(to, from, n)
	case n >= 8:
		move8to16(to, from, n)
	case n > 0:
		move1to7(to, from, n)
	}
	return at + textHeader + n
}

// anyText does what Text does, also for texts that Text leaves to it: long ones, and those without
// room.
func (w *Writer) anyText(at int, f Field, v string) int {
	n := len(v)
	if n >= w.refer || len(w.b)-at-(fieldHeader+textHeader+Slack+beyond) < n {
		return w.longText(at, f, v)
	}
	to := w.room(at)
	binary.BigEndian.PutUint64(to[:], uint64(f)<<40|uint64(uint32(n))<<8)
	// SAFETY: there is room for n bytes.
	copy(unsafe.Slice(&to[fieldHeader+textHeader], n), v)
	return at + fieldHeader + textHeader + n
}

// anyTextValue is TextValue for any length.
func (w *Writer) anyTextValue(at int, v string) int {
	n := len(v)
	if n >= w.refer || len(w.b)-at-(textHeader+Slack+beyond) < n {
		return w.longTextValue(at, v)
	}
	to := w.room(at)
	binary.BigEndian.PutUint32(to[:], uint32(n))
	// SAFETY: there is room for n bytes.
	copy(unsafe.Slice(&to[textHeader], n), v)
	return at + textHeader + n
}

// Each of these functions copies a text whose length is in the range in its name. It may copy some
// bytes in the middle twice.

func move33to64(to, from unsafe.Pointer, n int) {
	// SAFETY: the text has n bytes, and to has room for n bytes. Nothing is read or stored before
	// or after these. The same holds for the other moves.
	move17to32(to, from, 32)
	move17to32(unsafe.Add(to, n-32), unsafe.Add(from, n-32), 32)
}

func move17to32(to, from unsafe.Pointer, n int) {
	// SAFETY: see move33to64.
	*(*[16]byte)(to) = *(*[16]byte)(from)
	*(*[16]byte)(unsafe.Add(to, n-16)) = *(*[16]byte)(unsafe.Add(from, n-16))
}

func move8to16(to, from unsafe.Pointer, n int) {
	// SAFETY: see move33to64.
	*(*[8]byte)(to) = *(*[8]byte)(from)
	*(*[8]byte)(unsafe.Add(to, n-8)) = *(*[8]byte)(unsafe.Add(from, n-8))
}

func move1to7(to, from unsafe.Pointer, n int) {
	// SAFETY: see move33to64.
	if n >= 4 {
		*(*[4]byte)(to) = *(*[4]byte)(from)
		*(*[4]byte)(unsafe.Add(to, n-4)) = *(*[4]byte)(unsafe.Add(from, n-4))
		return
	}
	*(*byte)(to) = *(*byte)(from)
	*(*byte)(unsafe.Add(to, n>>1)) = *(*byte)(unsafe.Add(from, n>>1))
	*(*byte)(unsafe.Add(to, n-1)) = *(*byte)(unsafe.Add(from, n-1))
}

// sizeOf returns the size of a T in bytes. The compiler knows it; reflect would look it up.
func sizeOf[T any]() uintptr {
	var v T
	return unsafe.Sizeof(v) // SAFETY: nothing is loaded or stored
}

// The callers of these methods have checked that the bytes that they load are in the message.

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
