package engine

import "github.com/nocopythrift/nocopythrift/nocopy/internal/schema"

// View is the constraint that every handle satisfies: handles of generated structs and of
// containers.
type View interface {
	~struct {
		m *Message
		k uint64
	}
}

// Struct is the handle of a struct, list, set or map of any type, with all accessors. The
// parameter f of an accessor identifies a field, and d describes the struct. A generated getter is
// one call of these methods, and is inlined.
//
// It consists of a message, the message's generation and an entry of its index. The handles of
// package nocopy and of generated code have Struct as their underlying type.
type Struct struct {
	m *Message
	k uint64 // generation<<32 | entry
}

// RootDesc returns the descriptor of s, if it is the root of a message; else nil. It panics if the
// message was released.
func (s Struct) RootDesc() *schema.Struct {
	if s.m == nil || s.m.absent {
		return nil
	}
	if s.alive(); s.k != s.m.handle(s.m.root).k {
		return nil
	}
	return s.m.desc
}

// ZeroText is the zero handle as text. Parse returns a zero handle with an error.
const ZeroText = "<none>"

// UnknownText returns the text for a struct for which RootDesc returns nil.
func (s Struct) UnknownText() string {
	switch {
	case s.m == nil:
		return ZeroText
	case s.m.absent:
		return "{}"
	case s.m.desc != nil:
		return "<struct in " + s.m.desc.Name() + ">"
	}
	return "<struct>"
}

// CheckDesc panics if d can't describe s.
func (s Struct) CheckDesc(d *schema.Struct) {
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

// CheckDesc panics unless d is the descriptor of S. Of a type that was not generated, such as
// Struct, it may be any.
func CheckDesc[S View](d *schema.Struct) {
	if d == nil {
		panic("nocopy: nil instead of a descriptor")
	}
	// Asking a nil pointer takes no memory; the answer is kept.
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

// describes is the method set of handles of generated types.
type describes interface{ ThriftDesc() *schema.Struct }

// The fixed texts of panics about wrong use.
const (
	panicStale   = "nocopy: handle used after Release"
	panicEmpty   = "nocopy: empty Message used: ParseInto or NewInto fills it"
	panicAbsent  = "nocopy" + setterOnAbsent + "NewX first"
	panicTwice   = "nocopy: message released twice"
	panicGone    = "nocopy: setter called on a struct or container that is no longer in its message"
	panicNotRoot = "nocopy: Release called on a handle that is not its message's root"

	panicNotKept = "nocopy: message of this library used as one of the program's own"
	panicCopied  = "nocopy: copy of a Message used"
	panicOption  = "nocopy: an Option is a pointer, or a struct around an option: pass Limits, Lazy and so on as they are"

	setterOnAbsent = ": setter called on an absent struct or container: use "
)

// GenerateThisCodeAgainWithNocopyc appears in the compiler's error for code that an older version
// generated: the constant that such code refers to is a variable of this type.
type GenerateThisCodeAgainWithNocopyc struct{}
