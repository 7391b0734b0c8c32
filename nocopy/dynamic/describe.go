package dynamic

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// Description is a server's description of itself.
type Description struct {
	// Services are the services that the server has.
	Services []ServiceName
	// Files are the .thrift files that declare them, and those that these include, as LoadText takes
	// them.
	Files map[string]string
}

// ServiceName says how a service of a server is called.
type ServiceName struct {
	// Name is the name for an rpc.MultiplexedCaller; "" if calls have the method's name alone.
	Name string
	// Service is the name of the service in the IDL, with its file, as Schema.Service takes it.
	Service string
}

// ErrNotDescribed is wrapped by the error of Describe if the server answers, and does not return
// its IDL, or not in a form that can be read.
var ErrNotDescribed = errors.New("the server does not tell its IDL")

// Describe asks a server for its IDL and loads it. A Server of package rpc answers if its field
// Describe is set, and a server of fbthrift if it has a metadata handler. If it does not, the
// error wraps ErrNotDescribed; other errors are those of calls and of LoadText.
//
// The server is not trusted. Its files have at most 1 MiB together, and include no files of the
// operating system.
func Describe(ctx context.Context, c rpc.Caller) (*Schema, error) {
	d, err := ReadDescription(ctx, c)
	if err != nil {
		return nil, err
	}
	return LoadText(d.Files)
}

// ReadDescription asks a server for its IDL as Describe does, and does not load it.
func ReadDescription(ctx context.Context, c rpc.Caller) (*Description, error) {
	if c == nil {
		panic("nocopy: dynamic.ReadDescription with a nil Caller")
	}
	b, err := CallRaw(ctx, c, rpc.DescribeMethod, []byte{0})
	read := readDescription
	if isUnknown(err) {
		b, err = CallRaw(ctx, c, metadataMethod, []byte{0})
		read = readMetadata
	}
	if isUnknown(err) {
		return nil, fmt.Errorf("%w: %w", ErrNotDescribed, err)
	}
	if err != nil {
		return nil, err
	}
	d, err := read(b)
	if err != nil {
		return nil, fmt.Errorf("%w: what it sends is no description: %w", ErrNotDescribed, err)
	}
	return d, nil
}

// ParseDescription parses a description: the bytes of a file that "nocopy bundle" has written, as
// servers in other languages return it. It copies what it keeps. The limits are those of Describe,
// and errors say what is wrong with b. LoadText(d.Files) loads the IDL.
func ParseDescription(b []byte) (*Description, error) {
	return descriptionOf(descriptionType().Parse(b, descriptionLimits))
}

// isUnknown reports whether err is the answer of a server that does not know a method. Some give
// it other types than UnknownMethod.
func isUnknown(err error) bool {
	var e *rpc.ApplicationException
	return errors.As(err, &e) && !errors.Is(err, rpc.ErrBadReply) // which is no answer to the call
}

// descriptionIDL declares what rpc.DescribeMethod returns.
const descriptionIDL = `
struct Service { 1: string name, 2: string service, 3: string file }
struct File { 1: string path, 2: string text }
struct Description { 1: list<Service> services, 2: list<File> files }
struct Result { 0: optional Description success }`

// descriptionLimits bounds what a server sends besides its files, and then the index of it.
var descriptionLimits = nocopy.Limits{MaxBytes: 2 * defaultMaxBytes, MaxIndex: 1 << 20}

// typeOfIDL returns a function that returns a struct's type, which an IDL declares.
func typeOfIDL(name, idl string) func() Type {
	return sync.OnceValue(func() Type {
		s, err := LoadText(map[string]string{"description.thrift": idl})
		if err != nil {
			panic(err)
		}
		t, _ := s.Struct(name)
		return t
	})
}

// resultOf returns a function that parses the bytes of a Result, which an IDL declares, and
// returns its field success. The caller releases the message.
func resultOf(idl string, limits nocopy.Limits) func(b []byte) (Message, error) {
	typ := typeOfIDL("Result", idl)
	return func(b []byte) (Message, error) {
		m, err := typ().Parse(b, limits)
		if err != nil {
			return Message{}, err
		}
		success, _ := m.Get("success")
		if !success.IsSet() {
			m.Release()
			return Message{}, errors.New("it is empty")
		}
		return success.Message(), nil
	}
}

var (
	parseResult     = resultOf(descriptionIDL, descriptionLimits)
	descriptionType = typeOfIDL("Description", descriptionIDL)
)

// maxFiles bounds the files and services that a server may describe.
const maxFiles = 1000

func readDescription(b []byte) (*Description, error) {
	return descriptionOf(parseResult(b))
}

// descriptionOf returns what a struct Description says, and releases its message. err is the error
// of parsing it.
func descriptionOf(m Message, err error) (*Description, error) {
	if err != nil {
		return nil, err
	}
	defer m.Message().Release()
	d := &Description{Files: map[string]string{}}
	files, services := list(m, "files"), list(m, "services")
	if files.Len() > maxFiles || services.Len() > maxFiles {
		return nil, fmt.Errorf("it has more than %d files or services", maxFiles)
	}
	for _, f := range files.All() {
		name := text(f.Message(), "path")
		if _, twice := d.Files[name]; twice {
			return nil, fmt.Errorf("two of its files are called %q", name)
		}
		d.Files[name] = text(f.Message(), "text")
	}
	if len(d.Files) == 0 {
		return nil, errors.New("it has no files")
	}
	for _, s := range services.All() {
		name := text(s.Message(), "service")
		if file := text(s.Message(), "file"); file != "" {
			base := path.Base(file)
			name = strings.TrimSuffix(base, path.Ext(base)) + "." + name
		}
		d.Services = append(d.Services, ServiceName{text(s.Message(), "name"), name})
	}
	return d, nil
}

// list and text return copies of fields that package descriptions' IDL declares.
func list(m Message, name string) reflection.List {
	v, _ := m.Get(name)
	return v.List()
}

func text(m Message, name string) string {
	v, _ := m.Get(name)
	return string(v.Bytes())
}
