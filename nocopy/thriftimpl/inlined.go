package thriftimpl

// Generated code imports this package, but not the packages of Writer, Reader and Struct. The
// compiler inlines functions of those packages into it only if this package has inlined the same
// functions. These calls make it do that.

//lint:ignore U1000 see above
func inlineWriter(w *Writer, f Field, u [16]byte) int {
	at := w.Fit(w.Append(nil))
	at = w.Bool(at, f, true)
	at = w.Int8(at, f, 0)
	at = w.Int16(at, f, 0)
	at = w.Int32(at, f, 0)
	at = w.Int64(at, f, 0)
	at = w.Float64(at, f, 0)
	at = w.UUID(at, f, u)
	at = w.Struct(at, f)
	at = w.Binary(at, f, nil)
	at = w.BinaryValue(at, nil)
	at = w.BoolValue(at, true)
	at = w.Int8Value(at, 0)
	at = w.Int16Value(at, 0)
	at = w.Int32Value(at, 0)
	at = w.Int64Value(at, 0)
	at = w.Float64Value(at, 0)
	at = w.UUIDValue(at, u)
	w.Enter()
	w.Leave()
	return w.Stop(w.Element(at, len(w.Bytes(at))))
}

//lint:ignore U1000 see above
func inlineReader(r *Reader, f Field) int {
	at := r.Enter(0)
	r.Has(at, f, 1)
	at = r.Must(at, f)
	_, at = r.Bool(at, f, false)
	_, at = r.Int8(at, f, 0)
	_, at = r.Int16(at, f, 0)
	_, at = r.Int32(at, f, 0)
	_, at = r.Int64(at, f, 0)
	_, at = r.Float64(at, f, 0)
	_, at = r.UUID(at, f, [16]byte{})
	r.Leave()
	return r.Stop(at)
}

//lint:ignore U1000 see above
func inlineStruct(s Struct, w Wide, f Field, d *Desc) {
	s.Has(f)
	s.Bool(f)
	s.Int8(f)
	s.Int16(f)
	s.Int32(f)
	s.Int64(f)
	s.Float64(f)
	u := s.UUID(f)
	s.SetBool(f, true)
	s.SetFloat64(f, 0)
	s.SetUUID(f, u)
	s.Valid()
	s.Message()
	s.Which()
	w.Bool(f)
	w.Float64(f)
	w.HasFlat(f)
}
