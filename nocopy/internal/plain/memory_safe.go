//go:build nounsafe

package plain

import (
	"encoding/binary"
	"reflect"
)

func (w *Writer) room(at int) *[beyond]byte { return (*[beyond]byte)(w.b[at:]) }

// Text writes a field and makes room after it.
func (w *Writer) Text(at int, f Field, v string) int { return w.longText(at, f, v) }

// TextValue writes a text without a field header and makes room after it.
func (w *Writer) TextValue(at int, v string) int { return w.longTextValue(at, v) }

func (w *Writer) anyText(at int, f Field, v string) int { return w.longText(at, f, v) }

func (w *Writer) anyTextValue(at int, v string) int { return w.longTextValue(at, v) }

func sizeOf[T any]() uintptr { return reflect.TypeFor[T]().Size() }

func (r *Reader) load16(at int) uint16 { return binary.BigEndian.Uint16(r.b[at:]) }

func (r *Reader) load32(at int) uint32 { return binary.BigEndian.Uint32(r.b[at:]) }

func (r *Reader) load64(at int) uint64 { return binary.BigEndian.Uint64(r.b[at:]) }
