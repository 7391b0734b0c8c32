package nocopyc

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/golang"
	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/internal/command"
)

const usage = `Usage: nocopyc -o DIR [flags] FILE|FOLDER...

Generates one Go package per "namespace go a.b.c", in the directory a/b/c under
the output directory. A file without a namespace becomes a package named after
the file. Of a folder all .thrift files below it are taken. With -check instead
of -o it only reports errors in the files.

Exit codes: 0 done, 1 errors in files, 2 wrong command line.
`

// otherCommands follows in the help of nocopyc.
const otherCommands = `
       nocopyc audit [flags] OLD NEW [FILE...]

Reports what a change of .thrift files breaks; "nocopyc audit -h" says more.

       nocopyc fmt [flags] [FILE|FOLDER...]

Formats .thrift files; "nocopyc fmt -h" says more.
`

const example = `
Example, in a Go file, for "go generate":

	//go:generate go tool nocopyc -o . user.thrift
`

// dirs is a flag that may be repeated.
type dirs []string

func (d *dirs) String() string { return strings.Join(*d, " ") }

func (d *dirs) Set(dir string) error {
	*d = append(*d, dir)
	return nil
}

// compilers is a flag with a list of compilers.
type compilers []idl.Compiler

func (c *compilers) String() string { return idl.CompilerNames(*c) }

func (c *compilers) Set(text string) (err error) {
	*c, err = idl.Compilers(text)
	return err
}

// Run is nocopyc with these arguments. It returns the exit code.
func (t Tool) Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		switch args[0] {
		case "help":
			args = append(args[1:len(args):len(args)], "-h")
			return t.Run(args, stdin, stdout, stderr)
		case "audit":
			return t.Audit(args[1:], stdout, stderr)
		case "fmt":
			return t.Fmt(args[1:], stdin, stdout, stderr)
		}
	}
	// The flag of earlier versions may stand anywhere.
	if i := slices.IndexFunc(args, func(a string) bool { return a == "-audit" || a == "--audit" }); i >= 0 {
		return t.Audit(slices.Delete(slices.Clone(args), i, i+1), stdout, stderr)
	}
	return t.Generate(args, stdout, stderr)
}

// Generate is the command that generates Go. It returns the exit code.
func (t Tool) Generate(args []string, stdout, stderr io.Writer) int {
	text := usage
	if t == Nocopyc {
		text += otherCommands
	}
	return t.generator(t.Generator, text, example, false, args, stdout, stderr)
}

const checkUsage = `Usage: nocopyc check [flags] FILE|FOLDER...

Reports what is wrong in .thrift files, and warns of what Apache's compiler refuses, one a line:
file:line:col: message. Of a folder all .thrift files below it are checked. Flags of the generator
are accepted.

Exit codes: 0 no errors, 1 errors in files, 2 wrong command line.
`

const checkExample = `
Example: nocopyc check -I common idl/user.thrift
`

// Check is the command that generates nothing. It returns the exit code.
func (t Tool) Check(args []string, stdout, stderr io.Writer) int {
	return t.generator(t.Name+" check", checkUsage, checkExample, true, args, stdout, stderr)
}

// A generator runs the commands that generate and check, with their flags.
type generator struct {
	includes dirs
	opt      golang.Options
	out      string
	check    bool
	version  bool
	readers  compilers
	format   string // of errors and warnings of check
}

// flags returns the flags of a command.
func (g *generator) flags(name string) *flag.FlagSet {
	g.readers, g.format = compilers{idl.Apache, idl.Thriftgo}, "text"
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.StringVar(&g.out, "o", "", "output `directory` (required)")
	flags.Var(&g.includes, "I", "`directory` in which to look for included files, after that of the including file; may be repeated")
	flags.StringVar(&g.opt.PackagePrefix, "package-prefix", "", "import `path` of the output directory, for importing the packages of included files")
	flags.BoolVar(&g.opt.Recursive, "r", false, "also generate the included files")
	flags.BoolVar(&g.opt.Kitex, "kitex", false, "also generate clients and servers for Kitex, one package per service; see docs/kitex.md")
	flags.BoolVar(&g.opt.Fields, "fields", false, "also generate plain Go structs, to build whole messages, structs and lists from; see docs/idl.md")
	flags.BoolVar(&g.opt.Reflect, "reflect", false, "also generate the text of the files that declare services, which servers with Describe tell clients")
	flags.BoolVar(&g.opt.Golint, "golint", false, "write initialisms in names as golint demands: userId becomes UserID; see docs/generated-names.md")
	flags.BoolVar(&g.check, "check", g.check, "report errors in the files and write nothing; -o is not needed")
	flags.Var(&g.readers, "compilers", "`list` of the compilers that also read the files; warnings about others are left out")
	if g.check { // the command
		flags.StringVar(&g.format, "format", g.format, "`form` of errors and warnings: text, json, or github for annotations of a pull request")
	}
	flags.BoolVar(&g.version, "version", false, "print the version and exit")
	return flags
}

// generator is the command of that name.
func (t Tool) generator(name, usage, example string, check bool, args []string, stdout, stderr io.Writer) int {
	g := &generator{check: check}
	stdout, stderr = command.Printing(stdout), command.Printing(stderr)
	flags := g.flags(name)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		command.Help(stdout, t.text(usage), flags, t.text(example))
	}
	paths, err := command.ParseMixed(flags, args)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	if g.version {
		fmt.Fprintln(stdout, t.Name, golang.Version)
		return 0
	}
	mistake := mistakeIn(paths, g.out != "" || g.check)
	if mistake == "" {
		mistake = noFormat(g.format, "text", "json", "github")
	}
	if mistake != "" {
		command.WrongLine(stderr, name, mistake)
		return 2
	}
	if g.check {
		g.out = ""
	}
	report := &reporter{Tool: t, format: g.format, stdout: stdout, stderr: stderr}
	inputs, err := inputsOf(paths)
	if err != nil {
		err = t.plainly(err)
	} else {
		err = t.generate(g.out, inputs, g.includes, g.opt, g.readers, stderr, report.warn)
	}
	return report.end(err)
}

// inputsOf returns the files at paths. Load says what is wrong with one that can't be read.
func inputsOf(paths []string) (inputs []string, err error) {
	for _, path := range paths {
		files := []string{path}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			if files, err = Expand(schema.Disk, []string{path}); err != nil {
				return nil, err
			}
		}
		inputs = append(inputs, files...)
	}
	return inputs, nil
}

// mistakeIn returns the mistake in the files of a command line, or "". hasOutput says that the
// command line has -o or -check.
func mistakeIn(files []string, hasOutput bool) string {
	switch {
	case !hasOutput:
		return "-o DIR, or -check, is missing"
	case len(files) == 0:
		return "no .thrift file is given"
	}
	return ""
}

// generate writes the Go files for inputs into the folder out, calls warn for warnings about the
// inputs, those about readers included, and writes others to stderr. If out is "", it only reports
// errors.
func (t Tool) generate(out string, inputs, includes []string, opt golang.Options, readers compilers, stderr io.Writer, warn func(idl.ErrorList)) error {
	set, err := schema.Load(inputs, includes)
	warn(set.Warnings.For(readers))
	if err != nil {
		return err
	}
	if out == "" {
		opt.PackagePrefix = "any" // the packages' paths do not matter
		if err = golang.Check(set, opt); err == nil {
			warn(golang.Warnings(set, opt))
		}
		return err
	}
	if opt.ModulePath, err = golang.ImportPathOf(out); err != nil {
		return err
	}
	files, err := golang.Generate(set, opt)
	if err != nil {
		return err
	}
	warn(golang.Warnings(set, opt))
	warnOfOthers(out, files, stderr)
	if err := write(out, files, set); err != nil {
		return fmt.Errorf("%s: %w", t.Name, err)
	}
	t.warnOfOptional(out, golang.Optional(set, opt), stderr)
	t.warnOfNeeds(out, includes, opt, golang.Needs(set, opt), stderr)
	return nil
}
