// Package idl reads Thrift IDL text into a syntax tree that keeps the position
// and the comments of every declaration.
//
// It does not look names up, assign ids or evaluate constants: package schema does.
//
// lexer.go makes tokens of the text and collects comments, which comment.go and attach.go
// assign to declarations. parse.go makes of the tokens the tree that ast.go declares; the
// tags of its structs are the grammar. explain.go words syntax errors. Lexer and grammar
// are those of Apache Thrift's compiler; where its versions 0.17 and 0.25 differ, text that
// either accepts is accepted.
package idl
