package messages

import (
	"bytes"
	"math"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Merge adds the fields that are set in src to dst:
//
//   - Numbers, strings, binaries, enums and uuids replace those of dst.
//   - Structs are merged.
//   - Elements of lists are appended. Elements of sets are appended unless dst has one with the
//     same bytes.
//   - Pairs of maps are put. They replace values of the same key, including structs.
//   - In a union, the field that is set in src becomes the one that is set in dst. If it was set
//     in both and is a struct, list, set or map, it is merged.
//   - Unknown fields are added.
//
// dst gets copies, or refers to large values. src and dst may be parts of the same message. Merge
// first completes what is being built in src, which sets its required fields; src is otherwise
// unchanged. If src is absent, Merge does nothing. It panics if dst is absent, or if the types
// differ.
func Merge(dst, src nocopy.AnyStruct) {
	p := prepare("Merge", dst, src)
	defer p.made.Release()
	if p.from.Valid() {
		mergeStruct(p.d, p.to, p.from)
	}
}

// CopyInto makes dst a copy of src, in the same or another message. All previous contents of dst
// are removed, including unknown fields. CopyInto completes what is being built in src first. If
// src is absent, dst becomes like a new message that is sent. It panics as Merge does.
//
// Handles of values that were in dst behave as after SetX. The handle dst itself stays valid. If
// the struct is absent, use CopyInto(o.NewX(), src).
func CopyInto(dst, src nocopy.AnyStruct) {
	p := prepare("CopyInto", dst, src)
	if !p.from.Valid() {
		p.made = thriftimpl.New(p.d)
		p.made.Message().Finish()
		p.from = p.made
	}
	defer p.made.Release()
	copyStruct(p.d, p.to, p.from)
}

// pair is two structs of type d, in different messages.
type pair struct {
	d        *thriftimpl.Desc
	to, from thriftimpl.Struct
	made     thriftimpl.Struct // from, if it is in a message that was made for this; else absent
}

// prepare completes dst and src, and returns them as a pair. If they can't be read, it panics
// before anything is changed.
func prepare(what string, dst, src nocopy.AnyStruct) pair {
	d, to := impl.Parts(dst)
	e, from := impl.Parts(src)
	if !impl.SameDescs(d, e) {
		panic("nocopy: " + what + ": " + d.Name() + " and " + e.Name() + " are not the same type" + impl.Apart(thriftimpl.StructOf(e), thriftimpl.StructOf(d)))
	}
	if !to.Valid() {
		panic("nocopy: " + what + " into an absent struct")
	}
	to.CompleteToCopy()
	from.CompleteToCopy()
	p := pair{d: d, to: to, from: from}
	switch {
	case !from.Valid():
	case d != e:
		p.made = reparsed(d, from.AppendStruct(nil, e))
		p.from = p.made
	case from.Message() == to.Message() || deepInPieces(d, from):
		p.made = from.Clone(d)
		p.from = p.made
	}
	return p
}

// deepInPieces reports whether the bytes of s, of type d, are in several pieces and structs may be
// nested in it beyond the default limit. Looking for unknown fields copies the pieces of each
// nested struct together.
func deepInPieces(d *thriftimpl.Desc, s thriftimpl.Struct) bool {
	if d.Nesting() <= impl.DefaultMaxDepth {
		return false
	}
	_, one := s.WireIn(thriftimpl.StructOf(d))
	return !one
}

// reparsed returns the root of a message of type d with these wire bytes, which came from a
// message.
func reparsed(d *thriftimpl.Desc, wire []byte) thriftimpl.Struct {
	s := impl.Reparse(d, wire, impl.DefaultMaxDepth)
	if !s.Valid() { // nested deeper than the default limit
		s = impl.Reparse(d, wire, math.MaxInt32)
	}
	return s
}

// owned returns v. It copies a text that setters would refer to, because v's message may recycle
// its memory.
func owned(v impl.Value) impl.Value {
	const referSize = 4 << 10
	if v.Type().Wire() == nocopy.WireString && len(v.Bytes()) >= referSize {
		return impl.ValueOfBytes(v.Type(), bytes.Clone(v.Bytes()))
	}
	return v
}

// copyStruct makes to, of type d, a copy of from, which belongs to another message.
func copyStruct(d *thriftimpl.Desc, to, from thriftimpl.Struct) {
	to.Clear(d)
	mergeStruct(d, to, from)
}

// mergeStruct merges from into to. Both are of type d, and belong to different messages.
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

// mergeField merges field f, which is set in from, into to.
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
		for k, v := range s.LastPairs() {
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
