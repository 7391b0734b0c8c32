// Nocopyc generates Go accessors from .thrift files.
//
//	go get -tool github.com/nocopythrift/nocopythrift/gen/nocopyc@latest
//	go tool nocopyc -o DIR [flags] FILE.thrift...
//	go tool nocopyc audit [flags] OLD NEW [FILE...]
//	go tool nocopyc fmt [flags] [FILE|FOLDER...]
//
// The first line adds the command and its dependencies to a module. It is needed once. Flags come
// before the files. Errors in the files go to standard error, one per line, in the form
// file:line:col: message. Then no file is written. The exit code is 1 for errors in files, and 2
// for a wrong command line. With -check instead of -o the command only reports errors.
//
// The command audit reports what a change from OLD to NEW breaks. Each of them is a file, a folder
// or a git revision. The exit code is 1 if something is broken, and 2 if the comparison failed.
// The flag -audit of earlier versions does the same.
//
// The command fmt formats files. The exit code is 1 if -check finds files that are not formatted,
// and 2 for errors. docs/idl.md describes both commands.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/golang"
	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/internal/command"
)

const usage = `usage: nocopyc -o DIR [-I DIR]... [-package-prefix PATH] [-r] FILE.thrift...

Generates one Go package per "namespace go a.b.c", in the directory a/b/c under
the output directory. A file without a namespace becomes a package named after
the file. With -check instead of -o it only reports errors in the files.

       nocopyc audit [flags] OLD NEW [FILE...]

Reports what a change of .thrift files breaks; "nocopyc audit -help" says more.

       nocopyc fmt [flags] [FILE|FOLDER...]

Formats .thrift files; "nocopyc fmt -help" says more.

`

const example = `
In a Go file, for "go generate":

	//go:generate go tool nocopyc -o . user.thrift
`

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// dirs is a flag that may be repeated.
type dirs []string

func (d *dirs) String() string { return strings.Join(*d, " ") }

func (d *dirs) Set(dir string) error {
	*d = append(*d, dir)
	return nil
}

// run runs the command with these arguments and returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		switch args[0] {
		case "audit":
			return runAudit(args[1:], stdout, stderr)
		case "fmt":
			return runFmt(args[1:], os.Stdin, stdout, stderr)
		}
	}
	// The flag of earlier versions may stand anywhere.
	if i := slices.IndexFunc(args, func(a string) bool { return a == "-audit" || a == "--audit" }); i >= 0 {
		return runAudit(slices.Delete(slices.Clone(args), i, i+1), stdout, stderr)
	}
	return runGenerate(args, stdout, stderr)
}

// runGenerate generates Go code and returns the exit code.
func runGenerate(args []string, stdout, stderr io.Writer) int {
	var (
		includes dirs
		opt      golang.Options
		out      string
		version  bool
		check    bool
	)
	flags := flag.NewFlagSet("nocopyc", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
		fmt.Fprint(flags.Output(), example)
	}
	flags.StringVar(&out, "o", "", "output `directory` (required)")
	flags.Var(&includes, "I", "`directory` in which to look for included files, after that of the including file; may be repeated")
	flags.StringVar(&opt.PackagePrefix, "package-prefix", "", "import `path` of the output directory, for importing the packages of included files")
	flags.BoolVar(&opt.Recursive, "r", false, "also generate the included files")
	flags.BoolVar(&opt.Kitex, "kitex", false, "also generate clients and servers for Kitex, one package per service; see docs/kitex.md")
	flags.BoolVar(&opt.Fields, "fields", false, "also generate plain Go structs, to build whole messages, structs and lists from; see docs/idl.md")
	flags.BoolVar(&opt.Golint, "golint", false, "write initialisms in names as golint demands: userId becomes UserID; see docs/idl.md")
	flags.BoolVar(&check, "check", false, "report errors in the files and write nothing; -o is not needed")
	flags.BoolVar(&version, "version", false, "print the version and exit")
	if err := command.Parse(flags, args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	if version {
		fmt.Fprintln(stdout, "nocopyc", golang.Version)
		return 0
	}
	if mistake := mistakeIn(flags.Args(), out != "" || check); mistake != "" {
		fmt.Fprintf(stderr, "nocopyc: %s; see nocopyc -help\n", mistake)
		return 2
	}
	if check {
		out = ""
	}
	if err := generate(out, flags.Args(), includes, opt, stderr); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// mistakeIn returns the mistake in the files of a command line, or "". hasOutput tells that the
// command line has -o or -check.
func mistakeIn(files []string, hasOutput bool) string {
	isFlag := func(f string) bool { return strings.HasPrefix(f, "-") && !strings.HasSuffix(f, ".thrift") }
	late := slices.IndexFunc(files, isFlag)
	switch {
	case late >= 0:
		return files[late] + " comes after a file; flags come before the files"
	case !hasOutput:
		return "-o DIR, or -check, is missing"
	case len(files) == 0:
		return "no .thrift file is given"
	}
	return ""
}

// generate writes the Go files for inputs into the folder out, and warnings to stderr. If out is
// "", it only reports errors.
func generate(out string, inputs, includes []string, opt golang.Options, stderr io.Writer) error {
	set, err := schema.Load(inputs, includes)
	for _, w := range set.Warnings {
		fmt.Fprintf(stderr, "%s:%d:%d: warning: %s\n", w.Pos.Filename, w.Pos.Line, w.Pos.Column, w.Msg)
	}
	if err != nil {
		return err
	}
	if out == "" {
		opt.PackagePrefix = "any" // the packages' paths do not matter
		_, err = golang.Generate(set, opt)
		return err
	}
	if opt.ModulePath, err = golang.ImportPathOf(out); err != nil {
		return err
	}
	files, err := golang.Generate(set, opt)
	if err != nil {
		return err
	}
	warnOfOthers(out, files, stderr)
	if err := write(out, files); err != nil {
		return fmt.Errorf("nocopyc: %w", err)
	}
	warnOfNeeds(out, includes, opt, golang.Needs(set, opt), stderr)
	return nil
}
