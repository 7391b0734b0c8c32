// Package idl reads Thrift IDL text into a syntax tree that keeps the position
// and the comments of every declaration.
//
// Package schema looks names up, assigns ids and evaluates constants.
//
// lexer.go splits the text into tokens and collects comments, which comment.go and attach.go
// assign to declarations. parse.go builds the tree that ast.go declares; the tags of its structs
// are the grammar. cache.go keeps definitions for the next text of a file. explain.go writes the
// messages of syntax errors. Lexer and grammar follow Apache Thrift's compiler. Text that its
// version 0.17 or 0.25 accepts is accepted.
//
// It is a part of commands: its names may change in any version, see docs/upgrading.md.
package idl
