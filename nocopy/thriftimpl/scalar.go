package thriftimpl

import (
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// Generated code imports this package, but not the packages of Writer, Reader and Struct. The
// compiler inlines functions of those packages into it only if this package has inlined the same
// functions. These calls make it do that.

//lint:ignore U1000 see above
func inlineWriter(w *Writer, f Field) int {
	at := w.Fit(w.Append(nil))
	at = w.Struct(at, f)
	at = w.Binary(at, f, nil)
	at = w.BinaryValue(at, nil)
	w.Enter()
	w.Leave()
	return w.Stop(w.Element(at, len(w.Bytes(at))))
}

//lint:ignore U1000 see above
func inlineReader(r *Reader, f Field) int {
	at := r.Enter(0)
	r.Has(at, f, 1)
	at = r.Must(at, f)
	r.Leave()
	return r.Stop(at)
}

//lint:ignore U1000 see above
func inlineStruct(s Struct, w Wide, f Field, d *Desc) {
	s.Has(f)
	s.Valid()
	s.Message()
	s.Which()
	w.Has(f)
}

// The codecs of the keys and values of maps, by their Go types.
type (
	Codec[T any]          = engine.Codec[T]
	AsString              = engine.AsString
	AsBytes               = engine.AsBytes
	AsView[S nocopy.View] = engine.AsView[S]
)

// The types without parameters.
var (
	TypeString = schema.BaseType(nocopy.WireString)
	TypeBinary = schema.TypeBinary
)

// SetEnums sets field f of s, a list or set, to these elements. Duplicates in a set are left out.
func SetEnums[E ~int32](s Struct, f Field, d *Desc, v []E) { engine.Enums[E](v).SetIn(s, f, d) }

// SetUUIDs sets field f of s, a list or set, to these elements. Duplicates in a set are left out.
func SetUUIDs(s Struct, f Field, d *Desc, v []nocopy.UUID) {
	engine.UUIDs[nocopy.UUID](v).SetIn(s, f, d)
}
