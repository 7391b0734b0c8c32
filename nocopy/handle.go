package nocopy

import "log/slog"

// View is the constraint that every handle satisfies: those of generated structs and those of
// containers.
type View interface {
	~struct {
		m *Message
		k uint64
	}
}

// Struct is the handle of a struct of any type, and what the handles of all generated types are
// underneath: the message, its generation and an entry of its index. Handles are values; they may
// be copied freely and die with the message's Release. A Struct is converted to the generated type
// that it is of, as in Order(s), to read its fields; of another type's, what is read means
// nothing, and the program may panic or run out of memory, though no other memory is read or
// written.
//
// A setter refuses a handle that was converted to another type before it changes
// anything, if it can tell: of a root, and of a list, set or map. A struct inside a message does
// not know its type, since a word for that would make each index larger, and checking the bytes
// would take as long as copying them. Set as another type's, it may leave a part of itself, or
// what peers refuse, in the message: release that.
type Struct struct {
	m *Message
	k uint64 // generation<<32 | entry
}

// Message returns the message that the struct is in. It must not be used after Release. Of an
// absent struct, or the zero handle, that is an empty message which can't be changed.
func (s Struct) Message() *Message { return XStruct(s).Message() }

// Valid reports whether the struct is there: false for the handle of an absent sub-struct and for
// the zero handle.
func (s Struct) Valid() bool { return XStruct(s).Valid() }

// Release releases the message, of which s must be the root. It does nothing if s is absent, or if
// its message was released before. With the build tag nocopydebug a second Release panics.
func (s Struct) Release() { XStruct(s).Release() }

// Format returns the struct, which d describes, as text, as the String of its type does; of the
// zero handle also if d is nil, as a oneway call's result has it.
func (s Struct) Format(d *XDesc) string {
	s.checkDesc(d)
	return XStruct(s).Format(d)
}

// String returns the root of a message as text, as the String of its type does: arguments and
// results of package rpc, for instance. Of another struct in a message, whose type is not known,
// it returns no more than that; Format prints that.
func (s Struct) String() string {
	if d := s.rootDesc(); d != nil {
		return XStruct(s).Format(d)
	}
	return s.unknown()
}

// GoString returns the same as String, after the type's name, for %#v.
func (s Struct) GoString() string {
	if d := s.rootDesc(); d != nil {
		return d.name + XStruct(s).Format(d)
	}
	return s.unknown()
}

// LogValue returns what package slog prints of the root of a message, as the LogValue of its type
// does; of another struct the same as String.
func (s Struct) LogValue() slog.Value {
	if d := s.rootDesc(); d != nil {
		return XStruct(s).LogValue(d)
	}
	return slog.StringValue(s.unknown())
}

// rootDesc returns what describes s, if it is the root of a message; else nil. It panics if the
// message was released.
func (s Struct) rootDesc() *XDesc {
	if s.m == nil || s.m.absent {
		return nil
	}
	if XStruct(s).alive(); s.k != s.m.handle(s.m.root).k {
		return nil
	}
	return s.m.desc
}

// unknown returns the text for a struct of which rootDesc knows nothing.
func (s Struct) unknown() string {
	switch {
	case s.m == nil:
		return zeroHandleText
	case s.m.absent:
		return "{}"
	case s.m.desc != nil:
		return "<struct in " + s.m.desc.name + ">"
	}
	return "<struct>"
}

// Clone returns the root of a message of its own with a copy of the struct, which d describes.
func (s Struct) Clone(d *XDesc) Struct {
	s.checkDesc(d)
	return Struct(XStruct(s).Clone(d))
}

// checkDesc panics if d can't describe s.
func (s Struct) checkDesc(d *XDesc) {
	switch {
	case s.m == nil:
		return
	case d == nil:
		panic("nocopy: nil in the place of a descriptor")
	}
	if own := s.m.desc; own != nil && own != d && s.k == s.m.handle(s.m.root).k {
		panic("nocopy: descriptor of " + d.name + " for a handle of " + own.name)
	}
}

// For generated code. XStruct is a Struct with the accessors of fields. f names a field and d
// describes the struct, where it is asked for. Generated getters are one call of these methods,
// and inlined.
type XStruct Struct

// checkDesc panics unless d is the descriptor of S. Of a type that was not generated, such as
// Struct, it may be any.
func checkDesc[S View](d *XDesc) {
	if d == nil {
		panic("nocopy: nil in the place of a descriptor")
	}
	// What is asked of a nil pointer takes no memory; the answer is kept.
	handle := any((*S)(nil))
	if seen := d.handle.Load(); seen != nil && *seen == handle {
		return
	}
	switch handle.(type) {
	case describes:
		var s S
		if own := any(s).(describes).ThriftDesc(); own != d {
			panic("nocopy: descriptor of " + d.name + " for a handle of " + own.name)
		}
		seen := handle
		d.handle.Store(&seen)
	case interface{ Len() int }:
		panic("nocopy: descriptor of " + d.name + " for a handle of a list or map")
	}
}

// describes is what handles of generated types have.
type describes interface{ ThriftDesc() *XDesc }

// AnyStruct is a handle of any generated type, or of one that is known by its descriptor only. The
// packages that work on messages of all types take it.
type AnyStruct interface {
	ThriftDesc() *XDesc
	ThriftStruct() XStruct
}
