package rpc

import (
	"maps"
	"slices"

	"github.com/nocopythrift/nocopythrift/internal/description"
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
// these paths. Package dynamic has a function Describe that makes the call. docs/reflection.md
// specifies the method for servers in other languages.
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
	var services []description.Service
	var files []description.File
	for _, prefix := range slices.Sorted(maps.Keys(p.described)) {
		s := p.described[prefix]
		name := prefix[:max(len(prefix)-1, 0)] // without the colon
		services = append(services, description.Service{Name: name, Service: s.service, File: s.files[0].Path})
		for _, f := range s.files {
			if f := description.File(f); !slices.Contains(files, f) {
				files = append(files, f)
			}
		}
	}
	return description.AppendResult(nil, services, files)
}
