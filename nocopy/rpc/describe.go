package rpc

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// DescribeMethod is the name of the method by which a Server with Describe returns its IDL. No
// method of an IDL can have this name. Its arguments are empty. It returns:
//
//	struct Description { 1: list<Service> services, 2: list<File> files }
//	struct Service { 1: string name, 2: string service, 3: string file }
//	struct File { 1: string path, 2: string text }
//
// A Service's name is the one that multiplexing clients put before the method's name, or empty.
// service is its name in the IDL, in the file with the path file. The files include each other by
// these paths. Package dynamic has a function Describe that makes the call.
const DescribeMethod = "nocopy.describe"

// WithIDL returns a Processor that knows the IDL of its service, for Server.Describe. The first of
// the files declares the service, the others are those that it includes. files must not change.
// Code that nocopyc generates with -reflect calls WithIDL. It panics without files.
func (p *Processor) WithIDL(service string, files ...IDLFile) *Processor {
	if len(files) == 0 {
		panic("nocopy: rpc.Processor.WithIDL without files")
	}
	c := *p
	c.described = map[string]describedService{"": {service, files}}
	return &c
}

// description returns the result of DescribeMethod. Files of the same path and text come once.
func (p *Processor) description() []byte {
	var services []byte
	var files []IDLFile
	for _, prefix := range slices.Sorted(maps.Keys(p.described)) {
		s := p.described[prefix]
		services = appendText(services, 1, prefix[:max(len(prefix)-1, 0)]) // without the colon
		services = appendText(services, 2, s.service)
		services = append(appendText(services, 3, s.files[0].Path), byte(nocopy.WireStop))
		for _, f := range s.files {
			if !slices.Contains(files, f) {
				files = append(files, f)
			}
		}
	}
	b := []byte{byte(nocopy.WireStruct), 0, 0}
	b = append(appendStructs(b, 1, len(p.described)), services...)
	b = appendStructs(b, 2, len(files))
	for _, f := range files {
		b = append(appendText(appendText(b, 1, f.Path), 2, f.Text), byte(nocopy.WireStop))
	}
	return append(b, byte(nocopy.WireStop), byte(nocopy.WireStop))
}

// appendText appends a field that is a string.
func appendText(b []byte, id byte, text string) []byte {
	b = append(b, byte(nocopy.WireString), 0, id)
	return append(binary.BigEndian.AppendUint32(b, uint32(len(text))), text...)
}

// appendStructs appends the beginning of a field that is a list of n structs.
func appendStructs(b []byte, id byte, n int) []byte {
	return binary.BigEndian.AppendUint32(append(b, byte(nocopy.WireList), 0, id, byte(nocopy.WireStruct)), uint32(n))
}
