// TestModel's own decoder of the bytes on the wire.

package rpc_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/compact"
)

// This file reads the bytes on the wire by code of its own, not by the library's.

// message is a message that was read from the wire.
type message struct {
	typ   byte
	name  string
	seqid int32
	// Of its struct: []byte, int64, bool or a map[int16]any; other types are passed over
	fields map[int16]any
	start  int // of the message, or of its frame, in the written bytes
}

// errMore is the decoder's error for bytes that end too early.
var errMore = errors.New("more bytes are needed")

// decoder reads Thrift's binary protocol.
type decoder struct {
	b   []byte
	at  int
	err error
}

func (d *decoder) take(n int) []byte {
	if d.err == nil && (n < 0 || n > len(d.b)-d.at) {
		d.err = errMore
	}
	if d.err != nil {
		return make([]byte, 16)
	}
	d.at += n
	return d.b[d.at-n : d.at]
}

func (d *decoder) u32() int { return int(int32(binary.BigEndian.Uint32(d.take(4)))) }

func (d *decoder) text() []byte {
	n := d.u32()
	if n < 0 || d.err != nil {
		d.take(-1)
		return nil
	}
	return d.take(n)
}

func (d *decoder) value(typ byte) any {
	switch typ {
	case 2:
		return d.take(1)[0] != 0
	case 3:
		return int64(int8(d.take(1)[0]))
	case 6:
		return int64(int16(binary.BigEndian.Uint16(d.take(2))))
	case 8:
		return int64(d.u32())
	case 4, 10:
		return int64(binary.BigEndian.Uint64(d.take(8)))
	case 11:
		return d.text()
	case 12:
		return d.structure()
	case 13:
		k, v := d.take(1)[0], d.take(1)[0]
		for n := d.u32(); n > 0 && d.err == nil; n-- {
			d.value(k)
			d.value(v)
		}
		return nil
	case 14, 15:
		e := d.take(1)[0]
		for n := d.u32(); n > 0 && d.err == nil; n-- {
			d.value(e)
		}
		return nil
	}
	if d.err == nil {
		d.err = fmt.Errorf("type %d", typ)
	}
	return nil
}

func (d *decoder) structure() map[int16]any {
	fields := map[int16]any{}
	for d.err == nil {
		typ := d.take(1)[0]
		if typ == 0 {
			break
		}
		id := int16(binary.BigEndian.Uint16(d.take(2)))
		fields[id] = d.value(typ)
	}
	return fields
}

// message reads one message, whose header may be of either form.
func (d *decoder) message() (m message) {
	if d.isCompact() {
		return d.compactMessage()
	}
	m.start = d.at
	if first := d.u32(); first < 0 {
		if d.err == nil && uint32(first)>>16 != 0x8001 {
			d.err = fmt.Errorf("version %#x", uint32(first)>>16)
		}
		m.typ = byte(first)
		m.name = string(d.text())
	} else {
		m.name = string(d.take(first))
		m.typ = d.take(1)[0]
	}
	m.seqid = int32(d.u32())
	m.fields = d.structure()
	return m
}

// frame returns a frame, with a THeader if the model is of that.
func (w *world) frame(seqid int, parts ...[]byte) []byte {
	switch {
	case w.conf.theader && w.conf.compact:
		return headed(0, seqid, compactHead, parts...)
	case w.conf.theader:
		return headed(0, seqid, binaryHead, parts...)
	}
	return frame(parts...)
}

// message returns a message in the model's protocol. body is in Thrift Binary. If it is malformed,
// it is malformed in the compact protocol, too.
func (w *world) message(typ byte, name string, seqid int, body []byte) []byte {
	if !w.conf.compact {
		return strict(typ, name, seqid, body)
	}
	in := compact.TakeWriter(len(body))
	defer in.Free()
	b := []byte{0x18, 0xff, 0xff, 0xff, 0xff, 0x0f} // a text of negative length
	if in.Write(nil, body, -1, nil) == nil {
		b = in.Bytes()
	}
	return compactly(typ&7, name, seqid, b)
}

// compactMessage is message for one in the compact protocol.
func (d *decoder) compactMessage() (m message) {
	m.start = d.at
	d.compactHeader(&m)
	if d.err != nil {
		return m
	}
	in := compact.TakeReader(0)
	defer in.Free()
	in.Reset(nil, compact.Limits{Bytes: 1 << 30, Levels: 1000})
	end, status := in.Convert(d.b[d.at:], 0, true)
	if _, why := in.Fault(); status != compact.Done {
		if d.err = why; why == io.ErrUnexpectedEOF {
			d.err = errMore
		}
		return m
	}
	d.at += end
	made := &decoder{b: bytes.Clone(in.Bytes())}
	m.fields = made.structure()
	d.err = made.err
	return m
}

func (d *decoder) compactHeader(m *message) {
	m.typ = d.take(2)[1] >> 5
	m.seqid = int32(d.varint())
	m.name = string(d.take(int(d.varint())))
}

func (d *decoder) varint() uint64 {
	v, n := binary.Uvarint(d.b[min(d.at, len(d.b)):])
	if n <= 0 && d.err == nil {
		d.err = errMore
	}
	d.at += max(n, 0)
	return v
}

func (d *decoder) isCompact() bool { return d.err == nil && d.at < len(d.b) && d.b[d.at] == 0x82 }

// theader passes over a THeader, if there is one, without transforms.
func (d *decoder) theader() {
	const fixed = 10
	if d.err != nil || !bytes.HasPrefix(d.b[d.at:], []byte{0x0f, 0xff}) {
		return
	}
	if head := d.take(fixed); d.err == nil {
		rest := d.take(4 * int(binary.BigEndian.Uint16(head[8:])))
		if d.err == nil && !bytes.HasPrefix(rest, binaryHead) && !bytes.HasPrefix(rest, compactHead) {
			d.err = fmt.Errorf("a THeader of % x", rest)
		}
	}
}

// tail returns where the incomplete message at the end of b begins, and whether its header may
// have the sequence id.
func tail(b []byte, framed bool, list []message, seqid int32) (start int, may bool) {
	d := &decoder{b: b}
	for range list {
		if framed {
			d.text()
		} else {
			d.message()
		}
	}
	start = d.at
	if framed {
		d.take(4)
		d.theader()
	}
	if d.isCompact() {
		var m message
		d.compactHeader(&m)
		return start, d.err != nil || m.seqid == seqid
	}
	d.take(4) // our clients' headers
	d.text()
	id := int32(d.u32())
	return start, start < len(b) && (d.err != nil || id == seqid)
}

// messages reads all messages from b, which may end in the middle of one.
func messages(b []byte, framed bool) ([]message, error) {
	var list []message
	d := &decoder{b: b}
	for d.at < len(b) {
		start := d.at
		if !framed {
			m := d.message()
			if d.err == errMore {
				return list, nil
			} else if d.err != nil {
				return list, fmt.Errorf("at %d: %w", start, d.err)
			}
			list = append(list, m)
			continue
		}
		body := d.text()
		if d.err != nil {
			return list, nil
		}
		if len(body) == 0 {
			return list, fmt.Errorf("an empty frame at %d", start)
		}
		in := &decoder{b: body}
		if in.theader(); in.err != nil {
			return list, fmt.Errorf("the THeader at %d: %w", start, in.err)
		}
		for in.at < len(body) { // a frame may hold several
			m := in.message()
			if in.err != nil {
				return list, fmt.Errorf("in the frame at %d: %w", start, in.err)
			}
			m.start = start
			list = append(list, m)
		}
	}
	return list, nil
}

// textOf returns a text at a path of field ids.
func textOf(fields map[int16]any, path ...int16) string {
	for _, id := range path[:len(path)-1] {
		fields, _ = fields[id].(map[int16]any)
	}
	b, _ := fields[path[len(path)-1]].([]byte)
	return string(b)
}
