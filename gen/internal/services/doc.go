// Package services is generated from services.thrift, which has every kind of method there is. It
// serves the tests of the generator and of the runtime.
package services

//go:generate go run ../../nocopyc -o .. -package-prefix github.com/nocopythrift/nocopythrift/gen/internal services.thrift parent.thrift
