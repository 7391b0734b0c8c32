// Package rules is generated from an IDL with all rules for values. The tests call its Validate
// methods.
package rules

//go:generate go run ../../nocopyc -o .. -package-prefix github.com/nocopythrift/nocopythrift/gen/internal rules.thrift other.thrift
