// Package description writes what a server answers to nocopy.describe: its services, and the
// .thrift files that declare them. docs/reflection.md specifies the bytes.
package description

import "encoding/binary"

// Service is a service of a server.
type Service struct {
	Name    string // what multiplexing clients put before the method's name; may be empty
	Service string // its name in the IDL
	File    string // the path of the file that declares it
}

// File is a .thrift file. Files include each other by their paths.
type File struct{ Path, Text string }

// The wire types of fields.
const (
	stop   = 0
	text   = 11
	object = 12 // a struct
	list   = 15
)

// Append appends the bytes of a struct Description in Thrift Binary.
func Append(b []byte, services []Service, files []File) []byte {
	b = appendList(b, 1, len(services))
	for _, s := range services {
		b = appendTexts(b, s.Name, s.Service, s.File)
	}
	b = appendList(b, 2, len(files))
	for _, f := range files {
		b = appendTexts(b, f.Path, f.Text)
	}
	return append(b, stop)
}

// AppendResult appends the result of the call, which has a description as its field success.
func AppendResult(b []byte, services []Service, files []File) []byte {
	b = append(b, object, 0, 0)
	return append(Append(b, services, files), stop)
}

// appendList appends the beginning of a field that is a list of n structs.
func appendList(b []byte, id byte, n int) []byte {
	return binary.BigEndian.AppendUint32(append(b, list, 0, id, object), uint32(n))
}

// appendTexts appends a struct whose fields are strings, with the ids 1, 2 and so on.
func appendTexts(b []byte, texts ...string) []byte {
	for i, s := range texts {
		b = append(b, text, 0, byte(i+1))
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
	}
	return append(b, stop)
}
