package inspect

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// stream detects the form of the stream and dumps all of it.
func (w *walker) stream() error {
	if more, err := w.in.more(); !more {
		return err
	}
	form, note, err := w.form, "", error(nil)
	if form == Auto {
		if form, note, err = detect(w.in.r); err != nil {
			return err
		}
	}
	if w.form = form; form != form.binary() {
		note = compactNote
		if err := w.turn(); err != nil {
			return err
		}
	}
	if err := w.put(&row{Kind: kindInput, Form: form.String(), Note: note}); err != nil {
		return err
	}
	for {
		more, err := w.in.more()
		if err != nil {
			return w.faultAt(w.in.off, 0, &readError{err})
		}
		if !more {
			return w.missing
		}
		if err := w.unit(); err != nil {
			return err
		}
	}
}

// unit dumps a frame, or a message or struct without a frame.
func (w *walker) unit() error {
	w.path, w.seen = w.path[:0], w.seen[:0]
	if !w.form.framed() {
		return w.message(0)
	}
	w.in.begin()
	b, err := w.in.next(4)
	if err != nil {
		return w.broken(&row{Kind: kindFrame}, err)
	}
	n := int64(int32(binary.BigEndian.Uint32(b)))
	r := row{Kind: kindFrame, Length: &n}
	switch {
	case n < 0:
		return w.brokenAt(&r, w.in.row, nocopy.ErrNegative)
	case n > 1<<30 && w.out == nil:
		return w.brokenAt(&r, w.in.row, errors.New("too large to be a frame"))
	}
	if err := w.put(&r); err != nil {
		return err
	}
	w.in.end = w.in.off + n
	for first := true; first || w.in.off < w.in.end; first = false {
		w.path = w.path[:0]
		if !first && !w.form.messages() {
			if w.in.begin(); w.names != nil && w.names.root != nil {
				w.path = append(w.path, w.names.root.Name...)
			}
			return w.faultAt(w.in.off, 1, fmt.Errorf("%d %w", w.in.end-w.in.off, nocopy.ErrTrailing))
		}
		if err := w.message(1); err != nil {
			return err
		}
	}
	w.in.end = -1
	return nil
}

// message dumps a message or, if the form has none, a bare struct.
func (w *walker) message(depth int) error {
	w.in.begin()
	if w.form.messages() {
		return w.header(depth)
	}
	var s *schema.Struct
	r := row{Kind: kindStruct, Depth: depth, Type: "struct"}
	if w.names != nil {
		if s = w.names.root; s != nil {
			r.Type = s.Name
		}
	}
	if err := w.put(&r); err != nil {
		return err
	}
	return w.root(s, depth+1)
}

// root dumps the struct of a message.
func (w *walker) root(s *schema.Struct, depth int) error {
	if s != nil {
		w.path = append(w.path, s.Name...)
	}
	return w.structure(s, depth)
}

// messageTypes has the types of messages by their numbers in headers.
var messageTypes = [...]string{1: "call", 2: "reply", 3: "exception", 4: "oneway"}

const (
	typeReply     = 2
	typeException = 3
)

const (
	maxName      = 1 << 16 // the longest name of a method, as in package rpc
	maxShownName = 256     // the number of its bytes that are shown
)

// plausibleName reports whether name may be a method's name, for detecting the form of a stream.
func plausibleName(name []byte) bool {
	for _, c := range name {
		if c < ' ' || c == 0x7f {
			return false
		}
	}
	return true
}

// header dumps a message with a header.
func (w *walker) header(depth int) error {
	r := row{Kind: kindMessage, Depth: depth}
	b, err := w.in.next(4)
	if err != nil {
		return w.broken(&r, err)
	}
	first := binary.BigEndian.Uint32(b)
	strict := int32(first) < 0
	r.Strict = &strict
	if strict {
		err = w.strictNames(&r, first)
	} else {
		err = w.oldNames(&r, first)
	}
	if err != nil {
		return err
	}
	if b, err = w.in.next(4); err != nil {
		return w.broken(&r, err)
	}
	seqid := int32(binary.BigEndian.Uint32(b))
	r.SeqID = &seqid
	s := applicationException
	if typ := slices.Index(messageTypes[:], r.Message); typ != typeException {
		s = nil
		if w.names != nil {
			s, r.Note = w.names.messageStruct(r.Name, byte(typ), r.Note)
		}
	}
	if err := w.put(&r); err != nil {
		return err
	}
	return w.root(s, depth+1)
}

// strictNames reads the type and the name of a header that begins with a version and the type:
// first has both.
func (w *walker) strictNames(r *row, first uint32) error {
	if first>>16 != 0x8001 {
		return w.brokenAt(r, w.in.row, fmt.Errorf("not a Thrift binary message: version %#x", first>>16))
	}
	if err := w.messageType(r, byte(first), w.in.row+3); err != nil {
		return err
	}
	at := w.in.off
	b, err := w.in.next(4)
	if err != nil {
		return w.broken(r, err)
	}
	return w.messageName(r, binary.BigEndian.Uint32(b), at)
}

// oldNames reads the name and the type of a header that begins with the name, whose length is n.
func (w *walker) oldNames(r *row, n uint32) error {
	if err := w.messageName(r, n, w.in.row); err != nil {
		return err
	}
	b, err := w.in.next(1)
	if err != nil {
		return w.broken(r, err)
	}
	return w.messageType(r, b[0], w.in.off-1)
}

// messageType notes the type of a message, which is at an offset.
func (w *walker) messageType(r *row, typ byte, at int64) error {
	if !validMessageType(typ) {
		return w.brokenAt(r, at, fmt.Errorf("no such message type: %d", typ))
	}
	r.Message = messageTypes[typ]
	return nil
}

// messageName reads the name of a message. Its length is length, which is at an offset.
func (w *walker) messageName(r *row, length uint32, at int64) error {
	switch n := int64(int32(length)); {
	case n < 0:
		return w.brokenAt(r, at, nocopy.ErrNegative)
	case n > maxName:
		return w.brokenAt(r, at, fmt.Errorf("%w: method name of %d bytes", nocopy.ErrLimit, n))
	}
	name, valid, err := w.in.text(int64(length), maxShownName)
	r.Name = string(name)
	switch {
	case w.out == nil && !plausibleName(name):
		return w.brokenAt(r, at, errors.New("the method's name is not text"))
	case !valid:
		r.Note = "the name is not UTF-8"
	case len(name) < int(length):
		r.Note = fmt.Sprintf("the name has %d bytes", length)
	}
	if err != nil {
		return w.broken(r, err)
	}
	return nil
}

func validMessageType(t byte) bool { return t >= 1 && int(t) < len(messageTypes) }
