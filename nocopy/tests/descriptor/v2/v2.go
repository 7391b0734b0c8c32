// Package v2 stands for code generated from version 2 of an IDL file, twice.thrift.
package v2

import "github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"

func init() {
	same := thriftimpl.NewDesc("Same")
	same.Define()
	only := thriftimpl.NewDesc("OnlyIn2")
	only.Define()
	thriftimpl.Register(&thriftimpl.File{Name: "twice.thrift", Structs: []*thriftimpl.Desc{same, only}})
}
