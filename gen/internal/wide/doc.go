// Package wide is generated from wide.thrift, which has a wide struct and a wide union with fields
// of all types. TestAPI takes from it what generated code mentions for them.
package wide

//go:generate go run ../../nocopyc -o .. -fields wide.thrift
