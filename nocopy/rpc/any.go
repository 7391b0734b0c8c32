package rpc

import (
	"fmt"
	"log/slog"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// ArgsOf returns c's arguments as their generated type S, and reports whether they have that type.
// Otherwise it returns the zero S. They are valid as long as c.Args.
func ArgsOf[S nocopy.StructView](c *Call) (S, bool) { return structOf[S](c.Args, c.Method.Args) }

// ResultOf returns c's result as its generated type S, and reports whether it has that type.
// Otherwise, and if c is oneway or has no result yet, it returns the zero S. It is valid as long
// as c.Result.
func ResultOf[S nocopy.StructView](c *Call) (S, bool) { return structOf[S](c.Result, c.Method.Result) }

// AnyArgs returns c's arguments for packages that accept messages of any type, such as reflection
// and messages. It is absent if they do not have the method's type. The arguments of a RawMethod
// have no known fields. Packages fmt and log/slog print the result like a generated type, with
// values redacted. It is valid as long as c.Args.
func AnyArgs(c *Call) nocopy.AnyStruct { return anyOf(c.Args, c.Method.Args) }

// AnyResult returns c's result with its descriptor, for packages that accept messages of any type.
// It is absent also if c is oneway or has no result yet. It is printed like AnyArgs. It is valid
// as long as c.Result.
func AnyResult(c *Call) nocopy.AnyStruct { return anyOf(c.Result, c.Method.Result) }

// typed is a struct with its type.
type typed struct {
	s nocopy.Struct
	d *thriftimpl.Desc
}

func (a typed) ThriftDesc() *nocopy.Desc        { return a.d }
func (a typed) ThriftStruct() thriftimpl.Struct { return thriftimpl.Struct(a.s) }
func (a typed) String() string                  { return impl.StringOf(a.ThriftStruct(), a.d) }
func (a typed) Format(f fmt.State, verb rune) {
	impl.FormatOf(a.ThriftStruct(), f, verb, a.d)
}
func (a typed) LogValue() slog.Value { return impl.LogValueOf(a.ThriftStruct(), a.d) }

// anyOf returns s as an AnyStruct of type d. The result is absent if s has another type.
func anyOf(s nocopy.Struct, d *thriftimpl.Desc) nocopy.AnyStruct {
	if d == nil {
		return typed{thriftimpl.Absent(), rawDesc}
	}
	if !thriftimpl.Struct(s).Is(d) {
		s = thriftimpl.Absent()
	}
	return typed{s, d}
}

// structOf returns s, of type d, as an S, if S is the type of d and s is not absent.
func structOf[S nocopy.StructView](s nocopy.Struct, d *thriftimpl.Desc) (S, bool) {
	var zero S
	if d == nil || zero.ThriftDesc() != d || !thriftimpl.Struct(s).Is(d) {
		return zero, false
	}
	return S(s), true
}
