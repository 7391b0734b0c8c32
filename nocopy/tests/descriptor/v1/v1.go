// Package v1 stands for code generated from version 1 of an IDL file, twice.thrift.
package v1

import "github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"

func init() {
	same := thriftimpl.NewDesc("Same")
	same.Define()
	only := thriftimpl.NewDesc("OnlyIn1")
	only.Define()
	thriftimpl.Register(&thriftimpl.File{Name: "twice.thrift", Structs: []*thriftimpl.Desc{same, only}})
}
