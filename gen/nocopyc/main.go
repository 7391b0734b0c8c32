// Nocopyc generates Go accessors from .thrift files.
//
//	go get -tool github.com/nocopythrift/nocopythrift/gen/nocopyc@latest
//	go tool nocopyc -o DIR [flags] FILE|FOLDER...
//	go tool nocopyc audit [flags] OLD NEW [FILE...]
//	go tool nocopyc fmt [flags] [FILE|FOLDER...]
//
// The first line adds the command and its dependencies to a module. It is needed once. A folder
// stands for all .thrift files below it. Errors in the files go to standard error, one per line,
// in the form file:line:col: message. Then no file is written. The exit code is 1 for errors in
// files, and 2 for a wrong command line. With -check instead of -o the command only reports
// errors.
//
// The command audit reports what a change from OLD to NEW breaks. Each of them is a file, a folder
// or a git revision. The exit code is 1 if something is broken, and 2 if the comparison failed.
// The flag -audit of earlier versions does the same.
//
// The command fmt formats files. The exit code is 1 if -check finds files that are not formatted,
// and 2 for errors. docs/idl.md describes both commands.
package main

import (
	"os"

	"github.com/nocopythrift/nocopythrift/internal/nocopyc"
)

func main() { os.Exit(nocopyc.Nocopyc.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
