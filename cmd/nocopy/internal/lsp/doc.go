// Package lsp is a language server for .thrift files.
//
// A tree (tree.go) is what a text consists of. scan.go and parser.go make one of any text, however
// broken, in some milliseconds. All that an editor asks for is answered from trees, by the file
// that is named after it: completion.go, hover.go and so on. workspace.go has the files, those in
// the editor and those on disk, resolve.go and values.go find what names refer to.
//
// Checks use the compiler's own parser and model, lint and audit. mend.go makes a text that they
// accept, overlay.go gives it to them, analyze.go runs them beside the requests.
//
// server.go reads messages and calls the methods, session.go has those about the session itself.
// document.go converts positions.
package lsp
