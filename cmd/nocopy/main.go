package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/bench"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/call"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/console"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/describe"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/doc"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/lint"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/migrate"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/mock"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/openapi"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/passed"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/record"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/replay"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/gen/golang"
)

// commands are the subcommands. Each is a struct with flags, a method Run that gets the Shell, and
// a method Help with an example.
type commands struct {
	Call     call.Command     `cmd:"" help:"Call a method."`
	Describe describe.Command `cmd:"" help:"Tell services, methods and types of a server or of IDL."`
	Mock     mock.Command     `cmd:"" help:"Serve IDL with made-up or written answers."`
	Record   record.Command   `cmd:"" help:"Pass calls on to a server and write them to a file."`
	Replay   replay.Command   `cmd:"" help:"Make recorded calls again and compare the answers."`
	Bench    bench.Command    `cmd:"" help:"Measure how a server takes load."`
	Console  console.Command  `cmd:"" help:"Serve a page for calling methods and watching traffic."`

	Lint lint.Command `cmd:"" help:"Find what is wrong in .thrift files."`

	Doc     doc.Command     `cmd:"" help:"Write documentation from comments, as HTML or Markdown."`
	Openapi openapi.Command `cmd:"" help:"Describe services over HTTP in OpenAPI 3.1."`

	Migrate migrate.Command `cmd:"" help:"Rewrite Go packages from Apache's or Kitex's structs to accessors."`

	Gen   passed.Gen   `cmd:"" passthrough:"" help:"Generate Go accessors, as nocopyc does."`
	Check passed.Check `cmd:"" passthrough:"" help:"Report errors in .thrift files."`
	Audit passed.Audit `cmd:"" passthrough:"" help:"Report what a change of .thrift files breaks."`
	Fmt   passed.Fmt   `cmd:"" passthrough:"" help:"Format .thrift files."`
	Dump  passed.Dump  `cmd:"" passthrough:"" help:"Show what the bytes of messages consist of, as thriftdump does."`

	Version bool `help:"Print the version and exit."`
}

const description = `Calls, mocks, measures, describes, checks and documents Thrift services in any language.

Flags may have one dash or two. Exit codes: 0 done, 1 failed, 2 wrong command line, 3 the server
answered with a declared exception, 64+n it answered with a TApplicationException of type n, 100
something was found, such as by lint or replay.`

func main() {
	ctx, interrupt := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ended := make(chan int, 1)
	go func() { ended <- run(os.Args[1:], shell.Of(ctx, os.Stdin, os.Stdout, os.Stderr)) }()
	select {
	case code := <-ended:
		os.Exit(code)
	case s := <-signals:
		signal.Stop(signals) // another one ends the process at once
		interrupt(shell.Interrupted(s))
	}
	select {
	case code := <-ended:
		os.Exit(code)
	case <-time.After(lastWords): // it reads a file that does not end, perhaps
		fmt.Fprintln(os.Stderr, "nocopy: interrupted")
		os.Exit(shell.CodeOf(context.Cause(ctx)))
	}
}

// lastWords is how long a command may take to end after a signal.
const lastWords = 3 * time.Second

// command is what commands implement.
type command interface {
	Run(*shell.Shell) error
}

// run runs the command with these arguments and returns the exit code.
func run(args []string, sh *shell.Shell) (code int) {
	parser, err := kong.New(&commands{}, kong.Name("nocopy"), kong.Description(description), kong.Writers(sh.Out, sh.Err),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}))
	if err != nil {
		panic(err) // a command's tags are wrong
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	// Kong's Parse and Run would do the same, and look for methods such as BeforeApply by their
	// names. The linker would then keep the exported methods of all types: 3 MB.
	line, err := kong.Trace(parser, longFlags(parser.Model, args))
	if err == nil {
		err = line.Error
	}
	if err == nil {
		for _, p := range line.Path {
			switch {
			case p.Flag == nil:
			case p.Flag == parser.Model.HelpFlag:
				return shell.CodeOf(line.PrintUsage(false))
			case p.Flag.Name == "version":
				fmt.Fprintln(sh.Out, "nocopy", golang.Version)
				return 0
			}
		}
		err = parse(line)
	}
	if err != nil {
		fmt.Fprintf(sh.Err, "nocopy: %s; see nocopy %s-h\n", shell.Message(err), commandIn(parser.Model, args))
		return shell.Usage
	}
	err = shell.Ended(sh.Ctx, line.Selected().Target.Addr().Interface().(command).Run(sh))
	if err != nil && !errors.Is(err, shell.ErrSilent) {
		fmt.Fprintln(sh.Err, "nocopy:", shell.Message(err))
	}
	return shell.CodeOf(err)
}

// parse sets the fields of the command that a command line chooses.
func parse(line *kong.Context) error {
	if err := line.Reset(); err != nil {
		return err
	}
	if err := line.Resolve(); err != nil {
		return err
	}
	if _, err := line.Apply(); err != nil {
		return err
	}
	return line.Validate()
}

// commandIn returns the name of the command that the arguments begin with, and a space; "" if
// there is none.
func commandIn(model *kong.Application, args []string) string {
	if node := find(model, args); node != nil {
		return node.Name + " "
	}
	return ""
}

func find(model *kong.Application, args []string) *kong.Node {
	for _, arg := range args {
		for _, node := range model.Children {
			if node.Name == arg {
				return node
			}
		}
		if !strings.HasPrefix(arg, "-") {
			break
		}
	}
	return nil
}

// longFlags returns the arguments with a second dash for long flags that have one, as in Go's own
// commands. Further .thrift files after -idl FILE, as shells make them of *.thrift, get a flag of
// their own. Commands that parse their arguments themselves get them unchanged.
func longFlags(model *kong.Application, args []string) []string {
	node := find(model, args)
	switch {
	case node == nil:
		node = model.Node
	case node.Passthrough:
		return args
	}
	known := map[string]*kong.Flag{}
	for _, group := range node.AllFlags(false) {
		for _, flag := range group {
			known["-"+flag.Name] = flag
		}
	}
	var out []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			return append(out, args[i:]...)
		}
		name, _, hasValue := strings.Cut(arg, "=")
		flag := known[strings.TrimPrefix(name, "-")]
		if strings.HasPrefix(name, "-") && !strings.HasPrefix(name, "--") {
			if flag = known[name]; flag != nil {
				arg = "-" + arg
			}
		}
		out = append(out, arg)
		if flag == nil || flag.IsBool() || !strings.HasPrefix(name, "-") {
			continue
		}
		if !hasValue && i+1 < len(args) {
			i++
			out[len(out)-1] += "=" + args[i] // a value that begins with a dash is one, too
		}
		for flag.Name == "idl" && i+1 < len(args) && strings.HasSuffix(args[i+1], ".thrift") {
			i++
			out = append(out, "--idl="+args[i])
		}
	}
	return out
}
