package descriptor_test

import (
	"fmt"

	_ "github.com/nocopythrift/nocopythrift/examples/kv" // a program's own package
	"github.com/nocopythrift/nocopythrift/examples/quickstart/order"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
)

func ExampleStructOf() {
	for f := range descriptor.StructOf(order.Line{}).Fields() {
		fmt.Println(f.ID(), f.Name(), f.Type(), f.Requiredness())
	}
	// Output:
	// 1 article string required
	// 2 count i32 default
	// 3 price double default
}

func ExampleFindStruct() {
	s, err := descriptor.FindStruct("order.Order")
	if err != nil {
		fmt.Println(err)
		return
	}
	f, _ := s.ByName("document")
	fmt.Println(f.Type(), f.Doc())
	_, err = descriptor.FindStruct("order.Invoice")
	fmt.Println(err)
	// Output:
	// binary A scan of the signed form: some kilobytes, which are sent from where they are.
	// order.Invoice: not found in the generated packages of the program
}

func ExampleFindService() {
	s, err := descriptor.FindService("kvstore.KeyValue")
	if err != nil {
		fmt.Println(err)
		return
	}
	for m := range s.Methods() {
		fmt.Print(m.Name(), "(")
		for f := range m.Args().Fields() {
			fmt.Print(" ", f.Type(), " ", f.Name())
		}
		fmt.Print(" )")
		for f := range m.Throws() {
			fmt.Print(" throws ", f.Type())
		}
		fmt.Println()
	}
	// Output:
	// create( binary key binary value ) throws AlreadyExists
	// retrieve( binary key ) throws NotFound
	// update( binary key binary value ) throws NotFound
	// delete( binary key ) throws NotFound
}
