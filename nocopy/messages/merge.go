package messages

import (
	"bytes"
	"math"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Merge adds what is set in src to dst. Numbers, texts, enums and uuids of src replace those of
// dst. Structs are merged. The elements of a list are appended; those of a set are, too, unless
// there is an element with the same bytes. The pairs of a map are put, replacing the values of the
// same keys, also where values are structs. A union's arm that is set in src becomes that of dst:
// merged with it if it is the same and a struct, list, set or map. Fields that the IDL does not
// know are added.
//
// src stays as it is, except that what is being built in it is completed first: its required
// fields count as set. dst has copies, or refers to what is large. They may be parts of the same
// message. If src is absent nothing is changed. Merge panics if dst is absent, or if the types are
// not the same.
func Merge(dst, src nocopy.AnyStruct) {
	d, to, from := prepare("Merge", dst, src)
	if from.Valid() {
		mergeStruct(d, to, from)
	}
}

// CopyInto makes dst a copy of src, wherever both are: what dst had is gone, also fields that the
// IDL does not know. What is being built in src is completed first. If src is absent dst becomes
// as a new message is when it is sent. It panics as Merge does.
//
// Handles of what was in dst are as after SetX; the handle dst itself stays good. To put a struct
// where there is none, CopyInto(o.NewX(), src) does.
func CopyInto(dst, src nocopy.AnyStruct) {
	d, to, from := prepare("CopyInto", dst, src)
	if !from.Valid() {
		from = thriftimpl.New(d)
		from.Message().Finish()
	}
	copyStruct(d, to, from)
}

// prepare returns the type of dst and both structs, which are complete, src as a struct of that
// type that shares nothing with dst. It panics before anything is changed if they can't be read.
func prepare(what string, dst, src nocopy.AnyStruct) (d *thriftimpl.Desc, to, from thriftimpl.Struct) {
	d, to = thriftimpl.Parts(dst)
	e, from := thriftimpl.Parts(src)
	if !thriftimpl.SameDescs(d, e) {
		panic("nocopy: " + what + ": " + d.Name() + " and " + e.Name() + " are not the same type")
	}
	if !to.Valid() {
		panic("nocopy: " + what + " into an absent struct")
	}
	to.CompleteToCopy()
	from.CompleteToCopy()
	switch {
	case !from.Valid():
	case d != e:
		from = reparsed(d, from.AppendStruct(nil, e))
	case from.Message() == to.Message():
		from = from.Clone(d)
	}
	return d, to, from
}

// reparsed returns the root of the message of type d that has these wire bytes, which were those
// of a message before.
func reparsed(d *thriftimpl.Desc, wire []byte) thriftimpl.Struct {
	const usualDepth = 64
	s := thriftimpl.Reparse(d, wire, usualDepth)
	if !s.Valid() { // it is deeper than messages are by default
		s = thriftimpl.Reparse(d, wire, math.MaxInt32)
	}
	return s
}

// owned returns v, a text that setters would refer to as a copy: its message may recycle memory.
func owned(v thriftimpl.Value) thriftimpl.Value {
	const referSize = 4 << 10
	if v.Type().Wire() == nocopy.WireString && len(v.Bytes()) >= referSize {
		return thriftimpl.ValueOfBytes(v.Type(), bytes.Clone(v.Bytes()))
	}
	return v
}

// copyStruct makes to, of type d, a copy of from, which is of another message.
func copyStruct(d *thriftimpl.Desc, to, from thriftimpl.Struct) {
	to.Clear(d)
	mergeStruct(d, to, from)
}

// mergeStruct merges from into to. They are of type d, and of different messages.
func mergeStruct(d *thriftimpl.Desc, to, from thriftimpl.Struct) {
	if d.IsUnion() {
		if arm := from.Which(); arm != 0 {
			mergeField(d, d.Field(d.NumberByID(d.ArmID(arm))), to, from)
		}
	} else {
		for i := from.NextField(d, 0); i < d.NumFields(); i = from.NextField(d, i+1) {
			if f := d.Field(i); from.HasField(f) {
				mergeField(d, f, to, from)
			}
		}
	}
	for id, v := range from.Unknown(d) {
		to.AppendUnknown(d, id, v)
	}
}

// mergeField merges the field f, which is set in from.
func mergeField(d *thriftimpl.Desc, f thriftimpl.Field, to, from thriftimpl.Struct) {
	v := from.Value(f, d)
	t := v.Type()
	if !to.HasField(f) || d.IsUnion() && to.Which() != from.Which() || !isHandle(t) {
		to.SetValue(f, d, owned(v))
		return
	}
	c, s := to.Value(f, d).Struct(), v.Struct()
	switch t.Wire() {
	case nocopy.WireStruct:
		mergeStruct(t.Struct(), c, s)
	case nocopy.WireList:
		for i := range s.Count() {
			c.AppendElement(owned(s.Element(i)))
		}
	case nocopy.WireSet:
		for i := range s.Count() {
			if v := s.Element(i); !c.HasElement(v) {
				c.AppendElement(owned(v))
			}
		}
	default:
		for k, v := range s.Pairs() {
			c.PutPair(owned(k), owned(v))
		}
	}
}

// isHandle reports whether t is a struct, list, set or map.
func isHandle(t *thriftimpl.Type) bool {
	switch t.Wire() {
	case nocopy.WireStruct, nocopy.WireList, nocopy.WireSet, nocopy.WireMap:
		return true
	}
	return false
}
