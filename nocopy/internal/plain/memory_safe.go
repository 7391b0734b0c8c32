//go:build nounsafe

package plain

import "encoding/binary"

func (w *Writer) room(at int) *[beyond]byte { return (*[beyond]byte)(w.b[at:]) }

func (w *Writer) move(at int, v string) { copy(w.b[at:], v) }

func (r *Reader) load16(at int) uint16 { return binary.BigEndian.Uint16(r.b[at:]) }

func (r *Reader) load32(at int) uint32 { return binary.BigEndian.Uint32(r.b[at:]) }

func (r *Reader) load64(at int) uint64 { return binary.BigEndian.Uint64(r.b[at:]) }
