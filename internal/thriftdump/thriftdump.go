// Package thriftdump has the command that shows what messages consist of. The tool nocopy has a
// command of its own for that, "nocopy dump".
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

const usage = `Usage: %[1]s [flags] FILE|-

Shows what the Thrift Binary bytes of a file, or of standard input (-), consist of.

Exit codes: 0 done, 1 something is wrong with the bytes or the files, 2 wrong command line.

Example: %[1]s -idl user.thrift -type User user.bin
`

// dirs is a flag that may be repeated.
type dirs []string

func (d *dirs) String() string { return strings.Join(*d, " ") }

func (d *dirs) Set(dir string) error {
	*d = append(*d, dir)
	return nil
}

// settings are the flags of the command.
type settings struct {
	opt      inspect.Options
	includes dirs
	idl      string
	format   string
}

// flags returns the flags of the command, under a name.
func (s *settings) flags(name string) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.StringVar(&s.idl, "idl", "", ".thrift `file` that gives fields, enums and types their names")
	flags.Var(&s.includes, "I", "`directory` in which to look for included files, after that of the including file; may be repeated")
	flags.StringVar(&s.opt.Type, "type", "", "`name` in the IDL: the struct that bare structs are, or the service whose methods are called")
	flags.TextVar(&s.opt.Form, "form", inspect.Auto, "`form` of the bytes: struct, framed-struct, message, framed-message, one of these after compact-, or auto: found out")
	flags.StringVar(&s.format, "format", "text", "`form` of the output: text or json, one JSON object a line for each value")
	flags.BoolVar(&s.opt.JSON, "json", false, "the same as -format json")
	flags.IntVar(&s.opt.MaxText, "max", 64, "how many `bytes` of a string or binary are shown; 0 for all")
	return flags
}

// Run runs the command, under a name, with these arguments and returns the exit code.
func Run(name string, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var s settings
	stderr = command.Printing(stderr)
	flags := s.flags(name)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		command.Help(command.Printing(stdout), fmt.Sprintf(usage, name), flags, "")
	}
	files, err := command.ParseMixed(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case len(files) != 1:
		command.WrongLine(stderr, name, "one file is needed, or - for standard input")
		return 2
	case s.opt.Type != "" && s.idl == "":
		command.WrongLine(stderr, name, "-type needs -idl")
		return 2
	case s.format != "text" && s.format != "json":
		command.WrongLine(stderr, name, fmt.Sprintf("-format must be one of \"text\",\"json\" but got %q", s.format))
		return 2
	}
	tool, _, _ := strings.Cut(name, " ")
	s.opt.JSON = s.opt.JSON || s.format == "json"
	if s.opt.MaxText <= 0 {
		s.opt.MaxText = -1
	}
	s.opt.Color = !s.opt.JSON && colors(stdout)
	if err := dump(tool, files[0], s.idl, s.includes, s.opt, stdin, stdout); err != nil {
		var fault *nocopy.Error
		if errors.As(err, &fault) { // the dump shows the rest
			fmt.Fprintf(stderr, "%s: %s: malformed at offset %d\n", tool, files[0], fault.Offset)
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
