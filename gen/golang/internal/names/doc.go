// Package names chooses the names of all declarations in generated code, and their Go packages.
// Only the generator calls it.
//
// The central type is Package. It has names for:
//
//	.thrift files of one namespace ──► Package ── Names ─┬─ Struct  Order NewOrder orderID …
//	                                     Dir, Name       ├─ Enum    Color Color_RED ParseColor …
//	                                                     ├─ Service OrdersHandler NewOrdersClient …
//	                                                     └─ typedefs and constants
//
// identifier.go converts IDL names to Go names as Apache Thrift's generator does, and makes file
// and folder names that the go command does not ignore. scope.go makes equal names differ.
// package.go maps files to packages, and lists the packages that a file's code imports. Names are
// chosen in the order of the declarations: a file that is generated alone gets the same names as
// together with files that include it.
package names
