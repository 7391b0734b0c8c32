package apachethrift

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"reflect"

	"github.com/apache/thrift/lib/go/thrift"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// Handle is the constraint of generated structs, unions and exceptions.
type Handle interface {
	nocopy.View
	nocopy.AnyStruct
}

// Write writes s and its unknown fields to p, and does not flush p. An absent struct is written as
// an empty one. Over a TBinaryProtocol the bytes go to its transport unchanged. Write keeps
// nothing of s. The error is that of the protocol.
func Write(ctx context.Context, p thrift.TProtocol, s nocopy.AnyStruct) error {
	if p == nil || s == nil {
		panic("nocopy: apachethrift.Write of nil, or to nil")
	}
	d, v := impl.Parts(s)
	return write(ctx, p, d, v)
}

// write writes s, which d describes, to p.
func write(ctx context.Context, p thrift.TProtocol, d *thriftimpl.Desc, s thriftimpl.Struct) error {
	if !s.Valid() || s.Message().Root() != thriftimpl.Struct(s) {
		return writeBytes(ctx, p, d, s.AppendStruct(nil, d))
	}
	m := s.Message()
	if err := m.Check(); err != nil {
		return err
	}
	if straight, ok := p.(*thrift.TBinaryProtocol); ok {
		_, err := m.WriteTo(straight.Transport())
		return located(d, nil, err)
	}
	return writeBytes(ctx, p, d, m.Bytes())
}

// Read reads an S from p into a new message, which the garbage collector frees unless it is
// released. Fields that S does not have, or has with another type, become unknown fields of the
// message, and are written again.
//
// The options are those of ParseX; [nocopy.Own] has no effect. Memory grows with the bytes that
// arrive, not with the counts and lengths that they claim, up to Limits.MaxBytes. The limit and
// the offsets of errors count bytes of Thrift Binary, in which the message is kept, even if p uses
// another protocol. The error is an *Error, in which errors.As also finds the protocol's error.
// After an error, the bytes that were read from p are lost.
func Read[S Handle](ctx context.Context, p thrift.TProtocol, opts ...nocopy.Option) (S, error) {
	if p == nil {
		panic("nocopy: apachethrift.Read from nil")
	}
	var s S
	v, err := read(ctx, p, s.ThriftDesc(), opts)
	return S(v), err
}

// ReadStruct reads a struct that d describes from p and returns the root of its message. Its type
// need not be generated. The options, errors and limits are those of Read.
func ReadStruct(ctx context.Context, p thrift.TProtocol, d *nocopy.Desc, opts ...nocopy.Option) (nocopy.Struct, error) {
	if p == nil || d == nil {
		panic("nocopy: apachethrift.ReadStruct from nil, or of no type")
	}
	s, err := read(ctx, p, d, opts)
	return nocopy.Struct(s), err
}

// read reads a struct that d describes from p.
func read(ctx context.Context, p thrift.TProtocol, d *thriftimpl.Desc, opts []nocopy.Option) (thriftimpl.Struct, error) {
	b, err := receive(ctx, p, d, limitsOf(opts))
	if err != nil {
		return thriftimpl.Struct{}, err
	}
	all := make([]nocopy.Option, 0, len(opts)+1)
	return thriftimpl.Parse(d, b, append(append(all, opts...), nocopy.Own)...)
}

// limitsOf returns the Limits among the options, the last if there are several.
func limitsOf(opts []nocopy.Option) (l nocopy.Limits) {
	for _, o := range opts {
		if given, ok := o.(nocopy.Limits); ok {
			l = given
		}
	}
	return l
}

// receive reads a struct that d describes from p and returns its wire bytes, in memory of their
// own.
func receive(ctx context.Context, p thrift.TProtocol, d *thriftimpl.Desc, l nocopy.Limits) ([]byte, error) {
	straight, ok := p.(*thrift.TBinaryProtocol)
	if !ok {
		return wireBytes(ctx, p, d, l)
	}
	memory, ok := straight.Transport().(*thrift.TMemoryBuffer)
	if !ok {
		return wireBytes(ctx, p, d, l)
	}
	// All bytes are there, in memory that belongs to the transport.
	var scan thriftimpl.Scanner
	scan.Reset(l.MaxDepth)
	b := memory.Bytes()
	end, need, err := scan.Scan(b)
	if need > 0 || err != nil {
		end = len(b) // Parse finds the place of the error
	}
	return bytes.Clone(memory.Next(end)), nil
}

// Struct returns *s as a TStruct of Apache's library, for serializers, clients and other functions
// that accept one. Its Write is [Write] of the current *s. Its Read is [Read]: it replaces *s
// without releasing the old one. If it fails, *s is unchanged, and the error is a
// TProtocolException in which errors.As finds the *nocopy.Error.
func Struct[S Handle](s *S, opts ...nocopy.Option) thrift.TStruct {
	if s == nil {
		panic("nocopy: apachethrift.Struct of a nil pointer")
	}
	return &structOf[S]{s, opts}
}

// structOf has exported fields only, since Apache's library looks at structs by reflection.
type structOf[S Handle] struct {
	Handle  *S
	Options []nocopy.Option
}

func (t *structOf[S]) Write(ctx context.Context, p thrift.TProtocol) error {
	return Write(ctx, p, *t.Handle)
}

func (t *structOf[S]) Read(ctx context.Context, p thrift.TProtocol) error {
	s, err := Read[S](ctx, p, t.Options...)
	if err == nil {
		*t.Handle = s
	}
	return protocolException(err)
}

// String returns the struct as text, as its own String does.
func (t *structOf[S]) String() string {
	return thriftimpl.String(*t.Handle)
}

// ToApache copies src to dst, a struct that Apache's compiler has generated from the same IDL,
// using dst's Read. Usually dst is new: fields that are not set in src stay as they are in dst.
// Unknown fields of src are dropped, as Apache's types drop them. The error is that of Read, for
// instance because dst has required fields that src's type lacks.
func ToApache(src nocopy.AnyStruct, dst thrift.TStruct) error {
	if src == nil || isNil(dst) {
		panic("nocopy: apachethrift.ToApache of nil, or to nil")
	}
	memory := thrift.NewTMemoryBuffer()
	p := thrift.NewTBinaryProtocolConf(memory, unlimited)
	if err := Write(context.Background(), p, src); err != nil {
		return err
	}
	if err := dst.Read(context.Background(), p); err != nil {
		return fmt.Errorf("apachethrift: %T does not take a %s: %w", dst, src.ThriftDesc().Name(), err)
	}
	return nil
}

// FromApache returns a new message S with a copy of src, a struct that Apache's compiler has
// generated from the same IDL. The options are those of ParseX; [nocopy.Own] has no effect. The
// error is that of src's Write or an *Error, for instance because S has required fields that src's
// type lacks.
func FromApache[S Handle](src thrift.TStruct, opts ...nocopy.Option) (S, error) {
	if isNil(src) {
		panic("nocopy: apachethrift.FromApache of nil")
	}
	memory := thrift.NewTMemoryBuffer()
	if err := src.Write(context.Background(), thrift.NewTBinaryProtocolConf(memory, unlimited)); err != nil {
		var none S
		return none, fmt.Errorf("apachethrift: %T can't be written: %w", src, err)
	}
	var s S
	all := append(append([]nocopy.Option{}, opts...), nocopy.Own)
	v, err := thriftimpl.Parse(s.ThriftDesc(), memory.Bytes(), all...)
	return S(v), err
}

// unlimited is for bytes that come from the program itself.
var unlimited = &thrift.TConfiguration{MaxMessageSize: math.MaxInt32}

// isNil reports whether s is nil or a nil pointer. The methods of Apache's types fail on these.
func isNil(s thrift.TStruct) bool {
	v := reflect.ValueOf(s)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}
