// Package names decides what everything in generated code is called, and in which Go package it
// is. Only the generator calls it.
//
// The noun is a Package, and what it has a name for:
//
//	.thrift files of one namespace ──► Package ── Names ─┬─ Struct  Order NewOrder orderID …
//	                                     Dir, Name       ├─ Enum    Color Color_RED ParseColor …
//	                                                     ├─ Service OrdersHandler NewOrdersClient …
//	                                                     └─ typedefs and constants
//
// identifier.go makes a Go name of an IDL name as Apache Thrift's generator does, and file and
// folder names that the go command does not pass over. scope.go keeps names apart that would be
// the same. package.go says which file's code goes into which package, and which packages it
// imports. Names are chosen in the order of the declarations: a file that is generated alone gets
// the same names as with those that include it.
package names
