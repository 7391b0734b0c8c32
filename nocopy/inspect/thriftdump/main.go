// Thriftdump shows the contents of Thrift Binary bytes: offset, hex, field, type and value. Bytes
// in Thrift's compact protocol are first converted to Thrift Binary.
//
//	thriftdump [-idl FILE [-I DIR]... [-type NAME]] [-form FORM] [-json] [-max N] FILE|-
//
// The bytes are any number of bare structs, or of messages with a header, with or without frames.
// Thriftdump detects which, unless -form tells it. With an IDL, fields, enums and types have
// names. -type names the type of bare structs; the structs of messages are found by the services'
// methods. Malformed bytes are shown up to the fault.
//
// The exit code is 1 if something is wrong with the bytes or the files, and 2 for a wrong command
// line. On a terminal there are colours, unless the environment variable NO_COLOR is set.
package main

import (
	"os"

	"github.com/nocopythrift/nocopythrift/internal/thriftdump"
)

func main() { os.Exit(thriftdump.Run("thriftdump", os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
