// Package shapes is generated from shapes.thrift, which has a field of every
// shape there is. It serves the tests of the generator and of the runtime.
package shapes

//go:generate go run ../../nocopyc -o .. -fields shapes.thrift
