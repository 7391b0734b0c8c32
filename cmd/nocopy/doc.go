// Nocopy is one tool for Thrift services in any language: it calls, mocks, records, replays and
// measures them, says what they speak, and checks and documents their IDL.
//
//	go install github.com/nocopythrift/nocopythrift/cmd/nocopy@latest
//	nocopy call HOST:PORT Service.method -idl FILE key=value
//	nocopy -h
//
// It is a module of its own, which keeps its requirements out of programs that use the library.
// docs/tool.md has a transcript. Each command is a package in internal; main.go puts them
// together.
package main
