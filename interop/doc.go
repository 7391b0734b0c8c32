// Package interop holds the cross-language test service of Apache Thrift.
//
// ThriftTest and SecondService are the services with which the libraries of all languages are
// tested against each other. The commands interop/server and interop/client are written with this
// library; this package is the code that they share. The tests run them against programs written
// with Apache's libraries, for Go in this folder and for Python in python/; make interop does so
// for Java, Node, Rust and C++, in the folders of these names. README.md has what came out.
package interop
