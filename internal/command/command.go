// Package command has functions that the commands of this repository share.
package command

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/nocopythrift/nocopythrift/internal/nearest"
)

// ParseFlags parses the program's arguments, like flag.Parse, by calling Parse. It ends the
// program after an error and after help.
func ParseFlags() {
	flag.CommandLine.Init(filepath.Base(os.Args[0]), flag.ContinueOnError)
	switch err := Parse(flag.CommandLine, os.Args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(0)
	case err != nil:
		os.Exit(2)
	}
}

// Parse parses flags as flags.Parse does, but prints a single line about a wrong flag: the error,
// and how to get help. -h prints the usage. Commands exit with code 2 for errors other than
// flag.ErrHelp.
func Parse(flags *flag.FlagSet, args []string) error {
	out, usage := flags.Output(), flags.Usage
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	err := flags.Parse(args)
	flags.SetOutput(out)
	flags.Usage = usage
	switch {
	case errors.Is(err, flag.ErrHelp):
		usage()
	case err != nil:
		text := err.Error()
		if name, ok := strings.CutPrefix(text, "flag provided but not defined: -"); ok {
			known := []string{"help"}
			flags.VisitAll(func(f *flag.Flag) { known = append(known, f.Name) })
			text = UnknownFlag(name, known)
		}
		if name, ok := strings.CutPrefix(text, "flag needs an argument: "); ok {
			text = name + " needs a value"
		}
		WrongLine(out, flags.Name(), text)
	}
	return err
}

// ParseMixed parses flags before, between and after other arguments as Parse does, and returns the
// other arguments. "--" ends the flags.
func ParseMixed(flags *flag.FlagSet, args []string) ([]string, error) {
	var operands []string
	for {
		if err := Parse(flags, args); err != nil {
			return nil, err
		}
		rest := flags.Args()
		if parsed := len(args) - len(rest); parsed > 0 && args[parsed-1] == "--" {
			return append(operands, rest...), nil
		}
		if len(rest) == 0 {
			return operands, nil
		}
		operands, args = append(operands, rest[0]), rest[1:]
	}
}

// UnknownFlag says that there is no such flag, and which one was probably meant. Names have no
// dash.
func UnknownFlag(name string, known []string) string {
	text := "unknown flag -" + name
	if meant := nearest.Word(name, known); meant != "" {
		text += ", did you mean \"-" + meant + "\"?"
	}
	return text
}

// WrongLine says on one line what is wrong with the command line of a command, such as "nocopy
// audit".
func WrongLine(w io.Writer, name, mistake string) {
	tool, _, _ := strings.Cut(name, " ")
	fmt.Fprintf(w, "%s: %s; see %s -h\n", tool, mistake, name)
}

// ShellQuoted returns a text as a word of a shell's command line.
func ShellQuoted(text string) string {
	plain := func(r rune) bool {
		return strings.ContainsRune("/._-:=@,", r) || unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool { return !plain(r) }) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
