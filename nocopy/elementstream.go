package nocopy

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/formats"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// elementStream is a stream of structs that an ElementDecoder reads. It copies all bytes of a
// struct except the elements to rest. The elements are parsed where they arrive, as many at a time
// as are whole.
type elementStream struct {
	desc     *schema.Struct
	path     []*schema.Field // from desc to the list
	flags    engine.Flags
	limits   Limits
	maxTotal int64

	src     io.Reader // of Thrift Binary
	frames  *frameReader
	compact *engine.CompactStream // of the compact protocol, else nil
	in      memory.Receiver
	scan    parse.Scanner
	group   engine.Group
	partial bool // Bytes of in end inside the next element
	most    int  // elements of the next group
	given   int  // bytes of Bytes that are elements which next has returned
	room    int  // bytes of Bytes that maxTotal allows

	phase  phase
	header uint32 // of the field that is next, 0 if it is not known; in phase elements, of the list
	level  int    // how many structs of path are open besides the root
	rest   []byte // the struct, without elements
	listAt int    // index in rest after the header of the list, 0 if it has not come
	size   int64  // bytes of all elements so far
	base   int64  // offset in the struct of the Bytes of in
	count  int    // elements of the list
	left   int    // of these, next has not returned
	offset int64  // of the struct in the stream
	number int    // of the struct in the stream, from 1
	err    error
}

// phase is where an elementStream is.
type phase uint8

const (
	between  phase = iota // no struct was begun
	fields                // fields come next
	elements              // elements, or the end of the list
	ended                 // the struct has ended
)

// newElementStream returns a stream of structs that d describes, and their lists of elem.
func newElementStream(d, elem *schema.Struct, list string, r io.Reader, framed bool, opts []Option) *elementStream {
	if r == nil {
		panic("nocopy: ElementDecoder of a nil Reader")
	}
	in := &elementStream{desc: d, path: listPath("NewElementDecoder", d, elem, list), src: r, most: 1}
	in.flags, in.limits = engine.ConfigOf(opts)
	if framed {
		in.frames = &frameReader{r: r}
		in.src = in.frames
	}
	if in.flags&Compact != 0 {
		in.compact = engine.NewCompactStream(d, in.src, readAhead, in.limits)
		in.src = in.compact
	}
	in.flags = in.flags&^(Compact|ByIndex|RequireIndex|WithIndex) | Own
	in.in.Reset(in.flags&Recycle != 0)
	return in
}

// listPath returns the fields that lead from d to a list or set of structs that elem describes.
// names has their names, joined by dots. listPath panics if there is no such list.
func listPath(what string, d, elem *schema.Struct, names string) (path []*schema.Field) {
	if d == nil || elem == nil {
		panic("nocopy: " + what + ": a type that has no descriptor")
	}
	d.Type().MustBeDefined()
	in := d
	for name := range strings.SplitSeq(names, ".") {
		k := -1
		if in != nil {
			k = in.NumberByName(name)
		}
		if k < 0 {
			panic("nocopy: " + what + ": " + d.Name() + " has no field " + strconv.Quote(names))
		}
		f := &in.Fields()[k]
		path, in = append(path, f), f.Type.Struct()
	}
	t := path[len(path)-1].Type
	switch {
	case t.Kind() != schema.List || t.Elem().Struct() == nil:
		panic("nocopy: " + what + ": " + d.Name() + "." + names + " is a " + t.String() + ", not a list or set of structs")
	case t.Elem().Struct() != elem && !schema.SameLayout(t.Elem().Struct(), elem):
		panic("nocopy: " + what + ": the elements of " + d.Name() + "." + names + " are " + t.Elem().String() + ", not " + elem.Name())
	}
	return path
}

// head is ElementDecoder.Head.
func (d *elementStream) head() (engine.Struct, error) {
	err := d.err
	if err == nil && d.phase != between {
		err = d.end()
	}
	if err == nil {
		err = d.begin()
	}
	if err != nil {
		return engine.Struct{}, err
	}
	b := append(make([]byte, 0, len(d.rest)+d.level+1), d.rest...)
	if d.phase == elements {
		b = b[:len(d.rest)+d.level+1] // with STOPs
	}
	s, err := engine.ParseBegun(d.desc, b, d.flags, d.limits)
	return s, d.fail(err)
}

// next is ElementDecoder.Next.
func (d *elementStream) next() (engine.Struct, error) {
	for {
		if s, size := d.group.Next(); size > 0 {
			if d.given += size; size > d.limits.MaxBytes || d.given > d.room {
				return engine.Struct{}, d.fail(d.tooLarge(size))
			}
			d.left--
			return s, nil
		}
		if err := d.begun(); err != nil {
			return engine.Struct{}, err
		}
		d.endGroup()
		if d.left == 0 {
			return engine.Struct{}, io.EOF
		}
		if err := d.readGroup(); err != nil {
			return engine.Struct{}, d.fail(err)
		}
	}
}

// restOf is ElementDecoder.Rest.
func (d *elementStream) restOf() (engine.Struct, error) {
	if err := d.begun(); err != nil {
		return engine.Struct{}, err
	}
	if err := d.end(); err != nil {
		return engine.Struct{}, err
	}
	s, err := engine.ParseOwn(d.desc, memory.Chunk{Mem: d.rest}, d.flags, d.limits)
	if bad, ok := err.(*Error); ok && d.listAt > 0 && bad.Offset >= d.listAt {
		bad.Offset = toInt(int64(bad.Offset) + d.size)
	}
	d.rest = nil
	return s, d.fail(err)
}

// fail notes err, which is returned from now on, if it is not nil. It returns err.
func (d *elementStream) fail(err error) error {
	if err != nil {
		d.err = err
		d.group.End()
		d.in.Free()
		if d.compact != nil {
			d.compact.Free()
		}
		d.scan, d.rest = parse.Scanner{}, nil
	}
	return err
}

// begun begins the next struct, unless one was begun.
func (d *elementStream) begun() error {
	switch {
	case d.err != nil:
		return d.err
	case d.phase == between:
		return d.begin()
	case d.phase == fields: // the Reader has panicked after the elements
		return d.fail(d.fields())
	}
	return nil
}

// begin begins the next struct, and reads it up to the list's elements, or to its end.
func (d *elementStream) begin() error {
	d.number++
	d.err = errPanicked // until the Reader has returned
	d.rest, d.level, d.listAt, d.base, d.size, d.count, d.left = nil, 0, 0, 0, 0, 0, 0
	if d.frames != nil {
		if err := d.frames.begin(); err != nil {
			if err == ErrNegative || err == io.ErrUnexpectedEOF {
				err = &Error{Path: d.desc.Name(), Err: err}
			}
			return d.fail(err)
		}
	}
	var err error
	if d.compact != nil {
		err = d.compact.Begin()
	} else {
		err = d.in.FillTo(d.src, 1, readAhead)
	}
	switch {
	case err == nil:
		d.phase = fields
		err = d.fields()
	case err == io.EOF && d.frames != nil: // it is in a frame that has no bytes
		err = &Error{Path: d.desc.Name(), Err: io.ErrUnexpectedEOF}
	}
	d.err = nil
	return d.fail(err)
}

// errPanicked is the error after a panic in which bytes were lost.
var errPanicked = errors.New("nocopy: the Reader has panicked before")

// end reads the struct that was begun to its end.
func (d *elementStream) end() error {
	var err error
	for d.phase != ended && err == nil {
		if d.phase == fields {
			err = d.fail(d.fields())
		} else if _, err = d.next(); err == io.EOF {
			d.phase, err = fields, nil
		}
	}
	if err != nil {
		return err
	}
	size := d.base
	if d.compact != nil {
		size = d.compact.Offset()
	}
	if d.frames != nil {
		if d.frames.left > 0 || len(d.in.Bytes()) > 0 || d.compact != nil && d.compact.More() {
			return d.fail(&Error{Offset: toInt(size), Path: d.desc.Name(), Err: ErrTrailing})
		}
		size += frameLength
	}
	d.offset += size
	d.phase = between
	return nil
}

// fields reads fields until the list begins or the struct ends.
func (d *elementStream) fields() error {
	for d.phase == fields {
		if err := d.field(); err != nil {
			return err
		}
	}
	return nil
}

// field reads the next field, or the header of one in which the list may be, or a STOP.
func (d *elementStream) field() error {
	d.header = 0
	if err := d.need(1); err != nil {
		return err
	}
	if d.in.Bytes()[0] == byte(wire.Stop) {
		if d.level == 0 {
			d.phase = ended
		}
		d.level = max(0, d.level-1)
		return d.keep(1)
	}
	if err := d.need(wire.FieldHeader); err != nil {
		return err
	}
	d.header = wire.HeaderAt(d.in.Bytes(), 0)
	switch f := d.path[d.level]; {
	case d.header != f.Header():
		return d.value()
	case f.Kind() == schema.List:
		return d.list()
	case d.listAt > 0:
		return d.fault(0, errTwice)
	}
	d.level++
	return d.keep(wire.FieldHeader)
}

// value reads a field, which is kept. A wire index would not fit what is kept.
func (d *elementStream) value() error {
	t := wire.Type(d.in.Bytes()[0])
	if wire.MinSize[t] == 0 {
		return d.fault(0, wire.TypeError(t))
	}
	d.scan.ResetValue(t, d.limits.MaxDepth-d.level-1)
	end, err := d.scanned(wire.FieldHeader, &d.scan)
	switch {
	case err != nil:
		return err
	case d.header == wireindex.Header && d.level == 0:
		d.skip(end)
		return nil
	}
	return d.keep(end)
}

// scanned receives bytes until scan finds the end of the value that is at index at of Bytes. It
// returns the index after the value.
func (d *elementStream) scanned(at int, scan *parse.Scanner) (end int, err error) {
	end, bad, err := scan.Receive(&d.in, at, false, func(n int, size int64) error {
		if size += int64(at); size > int64(d.limits.MaxBytes) { // n may be too large for an int
			return d.fault(0, engine.TooLong(d.desc, size, d.limits.MaxBytes).Err)
		}
		return d.need(n)
	})
	if bad != nil {
		err = d.fault(at+bad.Offset, bad.Err)
	}
	return end, err
}

// list reads the header of the list. If the elements are not structs, it is an unknown field.
func (d *elementStream) list() error {
	const size = wire.FieldHeader + wire.ListHeader
	if err := d.need(size); err != nil {
		return err
	}
	b := d.in.Bytes()[:size]
	t, n := wire.Type(b[wire.FieldHeader]), int32(binary.BigEndian.Uint32(b[size-4:]))
	switch {
	case n < 0:
		return d.fault(size-4, ErrNegative)
	case n > 0 && t != wire.Struct:
		return d.value()
	case d.listAt > 0:
		return d.fault(0, errTwice)
	}
	if err := d.keep(size); err != nil {
		return err
	}
	d.listAt = len(d.rest)
	clear(d.rest[d.listAt-4:])
	d.count, d.left, d.partial, d.phase = int(n), int(n), false, elements
	return nil
}

// errTwice is the reason for refusing a struct.
var errTwice = errors.New("the list, or a struct that it is in, comes again after the elements were given")

// need receives bytes until there are n.
func (d *elementStream) need(n int) error {
	if d.maxTotal > 0 && d.base+int64(n) > d.maxTotal {
		return d.tooMuch()
	}
	err := d.in.FillTo(d.src, n, readAhead)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return d.fault(len(d.in.Bytes()), io.ErrUnexpectedEOF)
	}
	return err
}

// keep passes n bytes, which become part of rest.
func (d *elementStream) keep(n int) error {
	if size := len(d.rest) + n; size > d.limits.MaxBytes {
		return d.fault(0, engine.TooLong(d.desc, int64(size), d.limits.MaxBytes).Err)
	}
	d.rest = append(d.rest, d.in.Bytes()[:n]...)
	d.skip(n)
	return nil
}

// skip passes n bytes.
func (d *elementStream) skip(n int) {
	d.in.Skip(n)
	d.base += int64(n)
}

// readGroup parses the elements that have arrived. If none is whole, it receives one.
func (d *elementStream) readGroup() error {
	n := min(d.left, d.most)
	if d.limits.MaxIndex > 0 { // it is for each
		n = 1
	}
	received := d.partial || len(d.in.Bytes()) == 0
	if received {
		if err := d.receiveElement(); err != nil {
			return err
		}
	}
	for {
		whole, err := d.parse(n)
		d.partial = whole < n && errors.Is(err, io.ErrUnexpectedEOF)
		switch {
		case whole > 0:
			d.most = min(2*whole+1, max(1, groupWords/d.elem().Words()))
			if d.room = math.MaxInt; d.maxTotal > 0 {
				d.room = toInt(d.maxTotal - d.base)
			}
			return nil
		case received || !d.partial:
			return d.inElement(err)
		}
		if err := d.receiveElement(); err != nil {
			return err
		}
		received = true
	}
}

// groupWords bounds the words that a group reserves for its elements.
const groupWords = 4 << 10

// parse parses up to n elements.
func (d *elementStream) parse(n int) (whole int, err error) {
	return d.group.Parse(d.elem(), &d.in, n, len(d.path), d.flags, d.limits)
}

// receiveElement receives bytes until there is a whole element.
func (d *elementStream) receiveElement() error {
	d.scan.Reset(max(1, d.limits.MaxDepth-len(d.path)) + 1) // one more: the parser judges the depth
	_, err := d.scanned(0, &d.scan)
	if bad := (*Error)(nil); errors.As(err, &bad) && len(d.in.Bytes()) > 0 && d.compact == nil {
		// A parser knows the path, unless it has come to the end of too few bytes
		whole, better := d.parse(1)
		if short := errors.Is(better, io.ErrUnexpectedEOF); whole == 0 && (!short || errors.Is(err, io.ErrUnexpectedEOF)) {
			return d.inElement(better)
		}
	}
	return err
}

// endGroup passes the elements that next has returned. Their handles end.
func (d *elementStream) endGroup() {
	if d.group.Left() {
		d.most = 1 // the program changes elements, or releases them, and the others are parsed again
	}
	d.group.End()
	if d.given > 0 {
		d.in.Take(d.given).Release()
		d.base += int64(d.given)
		d.size += int64(d.given)
		d.given = 0
	}
}

// elem describes the elements.
func (d *elementStream) elem() *schema.Struct { return d.path[len(d.path)-1].Type.Elem().Struct() }

// inElement returns err, which is in the element that Bytes begin with, as an error in the struct.
func (d *elementStream) inElement(err error) error {
	bad, ok := err.(*Error)
	if !ok {
		return err
	}
	path := strings.TrimPrefix(bad.Path, d.elem().Name())
	return &Error{Offset: toInt(d.base + int64(bad.Offset)), Path: d.pathHere() + path, Err: bad.Err}
}

// tooLarge returns the error of the element of this size, which ends after given bytes of Bytes.
func (d *elementStream) tooLarge(size int) error {
	if d.given > d.room {
		return d.tooMuch()
	}
	return d.fault(d.given-size, engine.TooLong(d.desc, int64(size), d.limits.MaxBytes).Err)
}

// tooMuch returns the error of a struct that is too large.
func (d *elementStream) tooMuch() error {
	return d.fault(0, wire.LimitError("more than MaxTotal = "+strconv.FormatInt(d.maxTotal, 10)+" bytes"))
}

// fault returns the error at byte at of Bytes.
func (d *elementStream) fault(at int, err error) error {
	bad := &Error{Offset: toInt(d.base + int64(at)), Path: d.pathHere(), Err: err}
	if b := d.in.Bytes(); d.base == 0 && d.offset == 0 && d.compact == nil {
		formats.Explain(bad, b, len(b), d.desc)
	}
	return bad
}

// pathHere returns the path of the field or element that is next.
func (d *elementStream) pathHere() string {
	path, in := d.desc.Name(), d.desc
	for _, f := range d.path[:d.level] {
		path, in = path+"."+f.Name, f.Type.Struct()
	}
	switch f := in.Find(d.header); {
	case d.header == 0:
	case f == nil:
		path += "." + strconv.Itoa(int(int16(d.header)))
	default:
		path += "." + f.Name
	}
	if d.phase == elements {
		path += "[" + strconv.Itoa(d.count-d.left) + "]"
	}
	return path
}

// toInt returns an offset as an int. On 32 bits the last one stands for those after it.
func toInt(offset int64) int { return int(min(offset, math.MaxInt)) }

// frameReader reads the bytes of one frame after the other.
type frameReader struct {
	r    io.Reader
	left int64 // of the frame, or its length
	late error // of the last Read that returned bytes, too
}

// frameLength is the size of a frame's length.
const frameLength = 4

// begin reads the length of the next frame.
func (f *frameReader) begin() error {
	var b [frameLength]byte
	f.left = frameLength
	if _, err := memory.ReadFull(f, b[:]); err != nil {
		return err
	}
	n := int32(binary.BigEndian.Uint32(b[:]))
	if n < 0 {
		return ErrNegative
	}
	f.left = int64(n)
	return nil
}

// Read reads bytes of the frame. At its end the error is io.EOF.
func (f *frameReader) Read(b []byte) (n int, err error) {
	switch {
	case f.left == 0:
		return 0, io.EOF
	case f.late != nil:
		return 0, f.late
	}
	n, err = memory.Read(f.r, b[:min(int64(len(b)), f.left)])
	if f.left -= int64(n); n > 0 {
		f.late, err = err, nil // a Reader may not return it again
	}
	return n, err
}
