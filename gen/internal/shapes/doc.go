// Package shapes is generated from shapes.thrift, which has a field of every shape. The tests of
// the generator and of the runtime use it.
package shapes

//go:generate go run ../../nocopyc -o .. -fields shapes.thrift
