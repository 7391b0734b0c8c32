package plain

import (
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// Writing whole structs of messages, see [engine.Draft]. Positions begin at 0.

// New begins a message whose root is of type d.
func (w *Writer) New(d *schema.Struct, opts ...nocopy.Option) {
	w.b, w.refer = w.to.New(d, opts...), engine.ReferSize
}

// Root ends the message at at and returns its root.
func (w *Writer) Root(at int) engine.Struct { return w.to.Root(at) }

// Into begins to replace the fields of s, a struct that d describes.
func (w *Writer) Into(s engine.Struct, d *schema.Struct) {
	w.b, w.refer = w.to.Into(s, d), engine.ReferSize
}

// Done ends the struct of Into at at. Its fields that others names stay as they are.
func (w *Writer) Done(at int, others ...Field) { w.to.Done(at, others...) }

// BeginList begins field f of s, a list of n structs, and makes room after its header. d describes
// s.
func (w *Writer) BeginList(s engine.Struct, f Field, d *schema.Struct, n int) int {
	return w.beginList(w.to.List(s, f, d, n, false), f, n)
}

// BeginListAside is BeginList, but the message may be used before EndList.
func (w *Writer) BeginListAside(s engine.Struct, f Field, d *schema.Struct, n int) int {
	return w.beginList(w.to.List(s, f, d, n, true), f, n)
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

// EndList ends the list at at.
func (w *Writer) EndList(at int) { w.to.EndList(at) }

// Drop gives up the bytes that have not become part of a message.
func (w *Writer) Drop() { w.to.Drop() }
