package plain

import (
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// Writing whole structs of messages: these methods begin what Root, Done and EndList of
// [engine.Draft] end, or Drop gives up. Positions begin at 0.

// New begins a message whose root is of type d.
func (w *Writer) New(d *schema.Struct, opts ...nocopy.Option) {
	w.b, w.refer = w.Draft.New(d, opts...), engine.ReferSize
}

// Into begins to replace the fields of s, a struct that d describes.
func (w *Writer) Into(s engine.Struct, d *schema.Struct) {
	w.b, w.refer = w.Draft.Into(s, d), engine.ReferSize
}

// BeginList begins field f of s, a list of n structs, and makes room after its header. d describes
// s.
func (w *Writer) BeginList(s engine.Struct, f Field, d *schema.Struct, n int) int {
	return w.beginList(w.Draft.List(s, f, d, n, false), f, n)
}

// BeginListAside is BeginList, but the message may be used before EndList.
func (w *Writer) BeginListAside(s engine.Struct, f Field, d *schema.Struct, n int) int {
	return w.beginList(w.Draft.List(s, f, d, n, true), f, n)
}

func (w *Writer) beginList(b []byte, f Field, n int) int {
	w.b, w.refer, w.elements = b, engine.ReferSize, n
	return w.List(0, f, nocopy.WireStruct, n)
}

// Element notes that element i of the list comes next.
func (w *Writer) Element(at, i int) int {
	w.element = i
	return at
}
