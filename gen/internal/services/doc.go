// Package services is generated from services.thrift, which has every kind of method. The tests of
// the generator and of the runtime use it.
package services

//go:generate go run ../../nocopyc -o .. -package-prefix github.com/nocopythrift/nocopythrift/gen/internal services.thrift parent.thrift
