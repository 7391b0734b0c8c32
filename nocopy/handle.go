package nocopy

import "log/slog"

// View is the constraint that every handle satisfies: handles of generated structs and of
// containers.
type View interface {
	~struct {
		m *Message
		k uint64
	}
}

// Struct is the handle of a struct of any type. It consists of a message, the message's generation
// and an entry of its index. All generated types have Struct as their underlying type. Handles are
// values: they may be copied freely, and end with the message's Release.
//
// To read its fields, convert a Struct to its generated type, as in Order(s). After conversion to
// another type, the values that it reads mean nothing, and the program may panic or run out of
// memory. It never reads or writes memory outside the message.
//
// A setter refuses a handle that was converted to another type, before it changes anything, if it
// can tell the type. It can for a root, and for a list, set or map. A struct inside a message does
// not know its type: a word for that would make each index larger, and checking the bytes would
// take as long as copying them. If it is set as another type, the message may then contain a part
// of it, or bytes that peers refuse. Release that message.
type Struct struct {
	m *Message
	k uint64 // generation<<32 | entry
}

// Message returns the message of the struct. It must not be used after Release. For an absent
// struct, or the zero handle, it is an empty message that can't be changed.
func (s Struct) Message() *Message { return XStruct(s).Message() }

// Valid reports whether the struct is present. It is false for the handle of an absent struct and
// for the zero handle.
func (s Struct) Valid() bool { return XStruct(s).Valid() }

// Release releases the message. s must be its root. Release does nothing if s is absent, or if the
// message is already released. With the build tag nocopydebug a second Release panics.
func (s Struct) Release() { XStruct(s).Release() }

// Format returns the struct as text, as its type's String does. d describes it. For the zero
// handle, such as the result of a oneway call, d may be nil.
func (s Struct) Format(d *XDesc) string {
	s.checkDesc(d)
	return XStruct(s).Format(d)
}

// String returns the root of a message, such as arguments and results of package rpc, as text, as
// its type's String does. For another struct, whose type is unknown here, it returns only a
// placeholder; use Format.
func (s Struct) String() string {
	if d := s.rootDesc(); d != nil {
		return XStruct(s).Format(d)
	}
	return s.unknown()
}

// GoString returns the text of String after the type's name, for %#v.
func (s Struct) GoString() string {
	if d := s.rootDesc(); d != nil {
		return d.Name() + XStruct(s).Format(d)
	}
	return s.unknown()
}

// LogValue returns the root of a message for package slog, as its type's LogValue does. For
// another struct it returns the text of String.
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
		return "<struct in " + s.m.desc.Name() + ">"
	}
	return "<struct>"
}

// Clone returns the root of a new message with a copy of the struct, which d describes.
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
		panic("nocopy: nil instead of a descriptor")
	}
	if own := s.m.desc; own != nil && own != d && s.k == s.m.handle(s.m.root).k {
		panic("nocopy: descriptor of " + d.Name() + " for a handle of " + own.Name())
	}
}

// For generated code. XStruct is a Struct with accessors for fields. The parameter f identifies a
// field, and d describes the struct. A generated getter is one call of these methods, and is
// inlined.
type XStruct Struct

// checkDesc panics unless d is the descriptor of S. Of a type that was not generated, such as
// Struct, it may be any.
func checkDesc[S View](d *XDesc) {
	if d == nil {
		panic("nocopy: nil instead of a descriptor")
	}
	// What is asked of a nil pointer takes no memory; the answer is kept.
	handle := any((*S)(nil))
	if seen := d.HandleType().Load(); seen != nil && *seen == handle {
		return
	}
	switch handle.(type) {
	case describes:
		var s S
		if own := any(s).(describes).ThriftDesc(); own != d {
			panic("nocopy: descriptor of " + d.Name() + " for a handle of " + own.Name())
		}
		seen := handle
		d.HandleType().Store(&seen)
	case interface{ Len() int }:
		panic("nocopy: descriptor of " + d.Name() + " for a handle of a list or map")
	}
}

// describes is what handles of generated types have.
type describes interface{ ThriftDesc() *XDesc }

// AnyStruct is a handle of any generated type, or of a type known only by its descriptor. Packages
// that work on messages of all types accept it.
type AnyStruct interface {
	ThriftDesc() *XDesc
	ThriftStruct() XStruct
}
