// Package idl reads Thrift IDL text into a syntax tree that keeps the position
// and the comments of every declaration.
//
// It knows what a file says, not what it means: names are looked up, ids
// assigned and constants evaluated by the next room, package schema.
//
// Text becomes tokens in lexer.go (comments are set aside there, comment.go
// finds out whose they are), tokens become the tree of ast.go, which is at the
// same time the grammar. Both follow the lexer and grammar of Apache Thrift's
// compiler; where its versions 0.17 and 0.25 differ, what either accepts is
// accepted.
package idl
