// Package thriftdump has the command that shows what messages consist of: thriftdump, which the
// tool nocopy has as "nocopy dump".
package thriftdump

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/nocopythrift/nocopythrift/internal/command"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/inspect"
)

const usage = `usage: %[1]s [-idl FILE [-I DIR]... [-type NAME]] [-form FORM] [-json] [-max N] FILE|-

Shows what the Thrift Binary bytes of a file, or of standard input (-), consist of.
The exit code is 1 if something is wrong with the bytes or the files, and 2 for a wrong command line.

Example: %[1]s -idl user.thrift -type User user.bin

`

// dirs is a flag that may be repeated.
type dirs []string

func (d *dirs) String() string { return strings.Join(*d, " ") }

func (d *dirs) Set(dir string) error {
	*d = append(*d, dir)
	return nil
}

// Run runs the command, under a name, with these arguments and returns the exit code.
func Run(name string, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var (
		opt      inspect.Options
		includes dirs
		idl      string
	)
	stderr = command.Printing(stderr)
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), usage, name)
		flags.PrintDefaults()
	}
	flags.StringVar(&idl, "idl", "", ".thrift `file` that gives fields, enums and types their names")
	flags.Var(&includes, "I", "`directory` in which to look for included files, after that of the including file; may be repeated")
	flags.StringVar(&opt.Type, "type", "", "`name` in the IDL: the struct that bare structs are, or the service whose methods are called")
	flags.TextVar(&opt.Form, "form", inspect.Auto, "`form` of the bytes: struct, framed-struct, message, framed-message, one of these after compact-, or auto: found out")
	flags.BoolVar(&opt.JSON, "json", false, "one JSON object a line, for each value")
	flags.IntVar(&opt.MaxText, "max", 64, "how many `bytes` of a string or binary are shown; 0 for all")
	switch err := command.Parse(flags, args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() != 1:
		flags.Usage()
		return 2
	case opt.Type != "" && idl == "":
		fmt.Fprintf(stderr, "%s: -type needs -idl\n", name)
		return 2
	}
	if opt.MaxText <= 0 {
		opt.MaxText = -1
	}
	opt.Color = !opt.JSON && colors(stdout)
	if err := dump(name, flags.Arg(0), idl, includes, opt, stdin, stdout); err != nil {
		var fault *nocopy.Error
		if errors.As(err, &fault) { // the dump shows the rest
			fmt.Fprintf(stderr, "%s: %s: malformed at offset %d\n", name, flags.Arg(0), fault.Offset)
		} else {
			fmt.Fprintln(stderr, err)
		}
		return 1
	}
	return 0
}

// dump dumps a file, or stdin if its name is "-".
func dump(name, file, idl string, includes []string, opt inspect.Options, stdin io.Reader, stdout io.Writer) error {
	if idl != "" {
		var err error
		if opt.IDL, err = inspect.LoadIDL(idl, includes...); err != nil {
			return err
		}
	}
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		defer f.Close()
		stdin = f
	}
	return inspect.Dump(stdout, stdin, opt)
}

// colors reports whether text for w should have colours: w is a terminal that supports them, and
// NO_COLOR is not set.
func colors(w io.Writer) bool {
	return command.IsTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
