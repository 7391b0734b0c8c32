package engine

import (
	"reflect"
	"runtime"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// absentOf returns what an unset struct or container field reads as: its IDL default or an empty
// value.
func absentOf(f *schema.Field) Struct {
	kept := f.Absent().Load()
	if kept == nil {
		f.Absent().CompareAndSwap(nil, makeAbsent(f))
		kept = f.Absent().Load()
	}
	return *(*kept).(*Struct)
}

func makeAbsent(f *schema.Field) *any {
	s := Struct{}
	if f.Default == "" {
		s.m = makeEmpty(f)
	} else {
		s = frozen(f.Type, f.Default)
		s.m.ownSeldom()
		s.m.absent, s.m.absentIn = true, f
	}
	kept := any(&s)
	return &kept
}

// notThere is the text of the panic of a setter that was called on a struct or container of m,
// which is frozen.
func (m *Message) notThere() string {
	f := m.absentIn
	if f == nil {
		return panicAbsent
	}
	var name strings.Builder // as nocopyc writes it, without its initialisms
	for part := range strings.SplitSeq(f.Name, "_") {
		if part != "" {
			name.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return "nocopy: " + f.Of().Name() + "." + f.Name + setterOnAbsent + "New" + name.String() + " first"
}

// setterOfZero returns the text of the panic of a setter that was called on the zero handle, which
// knows no type. The stack does: a setter of a generated type calls one of Struct.
//
//go:noinline
func setterOfZero() string {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	setter := ""
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		name, inside := strings.CutPrefix(frame.Function, packagePath)
		if inside {
			setter = name
			continue
		}
		if strings.HasPrefix(setter, "Struct.") {
			setter = frame.Function[strings.LastIndexByte(frame.Function, '/')+1:]
		}
		break
	}
	parts := strings.Split(setter, ".") // package, type, setter; or package, function, func1
	if len(parts) == 3 && isCapital(parts[1]) && isCapital(parts[2]) && !strings.ContainsAny(setter, "[(") {
		return "nocopy: " + setter + setterOnAbsent + "New" + parts[1] + " first"
	}
	return panicAbsent
}

// isCapital reports whether a name begins with a capital, as those of generated types and setters
// do.
func isCapital(name string) bool { return name != "" && name[0] >= 'A' && name[0] <= 'Z' }

// packagePath is what the names of this package's functions begin with.
var packagePath = reflect.TypeFor[Message]().PkgPath() + "."

// frozen returns the handle of a struct or container, given as its wire bytes, that can't be
// changed.
func frozen(t *schema.Type, wire string) Struct {
	t.MustBeDefined()
	m := newMessage(nil, 0, usualLimits)
	b := []byte(wire)
	p := m.buf.AddForeign(b, false)
	m.buf.AddRoot(p, p+uint32(len(b)))
	m.root = m.indexAt(t, p)
	m.buf.Seal()
	m.frozen, m.guarded = true, true
	m.untrack()
	return m.handle(m.root)
}

// Const is an IDL constant whose value is a struct or container.
type Const struct{ view Struct }

// NewConst returns the constant of type t with these wire bytes.
func NewConst(t *schema.Type, wire string) *Const { return &Const{frozen(t, wire)} }

// View returns the constant's handle, for conversion to its type. Any number of goroutines may
// read it; it can't be changed.
func (c *Const) View() Struct { return c.view }
