// Package command has functions that the commands of this repository share.
package command

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
// and how to get help. -help prints the usage. Commands exit with code 2 for errors other than
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
		fmt.Fprintf(out, "%s: %v; see %s -help\n", flags.Name(), err, flags.Name())
	}
	return err
}
