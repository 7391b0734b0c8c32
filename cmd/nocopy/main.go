package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/alecthomas/kong"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/bench"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/bundle"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/call"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/compare"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/complete"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/console"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/describe"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/doc"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/dump"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/lint"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/lsp"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/migrate"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/mock"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/openapi"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/passed"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/project"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/record"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/replay"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/gen/golang"
	"github.com/nocopythrift/nocopythrift/internal/command"
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
	Compare  compare.Command  `cmd:"" help:"Compare two reports of bench, with a verdict."`
	Console  console.Command  `cmd:"" help:"Serve a page for calling methods and watching traffic."`

	Lint lint.Command `cmd:"" help:"Find what is wrong in .thrift files."`

	Lsp lsp.Command `cmd:"" help:"Serve an editor: the Language Server Protocol for .thrift files."`

	Bundle  bundle.Command  `cmd:"" help:"Write .thrift files to one, which servers return."`
	Doc     doc.Command     `cmd:"" help:"Write documentation from comments, as HTML or Markdown."`
	Openapi openapi.Command `cmd:"" help:"Describe services over HTTP in OpenAPI 3.1."`

	Migrate migrate.Command `cmd:"" help:"Rewrite Go packages from Apache's or Kitex's structs to accessors."`

	Gen   passed.Gen   `cmd:"" passthrough:"" help:"Generate Go accessors, as nocopyc does."`
	Check passed.Check `cmd:"" passthrough:"" help:"Report errors in .thrift files."`
	Audit passed.Audit `cmd:"" passthrough:"" help:"Report what a change of .thrift files breaks."`
	Fmt   passed.Fmt   `cmd:"" passthrough:"" help:"Format .thrift files."`

	Dump dump.Command `cmd:"" help:"Show what the bytes of messages consist of, or the calls in a capture of packets."`

	Config     project.Command  `cmd:"" passthrough:"" help:"Show what nocopy.yaml says, and what holds for a command."`
	Completion complete.Scripts `cmd:"" help:"Print the script that completes command lines in bash, zsh or fish."`
	Complete   complete.Command `cmd:"" hidden:"" passthrough:"" help:"Tell a shell how a command line may go on."`

	Help    help    `cmd:"" help:"Show help for a command."`
	Version version `cmd:"" help:"Print the version, and the commit or module that the tool is built of."`

	VersionFlag bool `name:"version" help:"Print the version and exit."`
}

// help is a command that run turns into the flag -h of another.
type help struct {
	Command string `arg:"" optional:"" help:"The command; all commands without."`
}

// Help is the end of the command's help text.
func (help) Help() string { return "Example:\n  nocopy help call" }

// Run is called by the parser.
func (help) Run(*shell.Shell) error { panic("unreachable") }

// version is the command that prints the version.
type version struct{ shell.Format }

// Help is the end of the command's help text.
func (version) Help() string {
	return "Examples:\n  nocopy version\n  nocopy version -format json"
}

// built is what a binary knows of itself.
type built struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Changed bool   `json:"changed,omitempty"` // the commit's files were, before the build
	Module  string `json:"module,omitempty"`  // its version and checksum
	Go      string `json:"go"`
}

// Run is called by the parser.
func (v version) Run(sh *shell.Shell) error {
	b := built{Version: golang.Version}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.source(info)
	}
	if v.JSON() {
		return sh.WriteJSON(b)
	}
	_, err := fmt.Fprintln(sh.Out, b)
	return err
}

// source says of what a binary was built: of a commit or, by go install, of a module's version,
// which has the checksum that the go command has compared. It says nothing if the binary does not
// know.
func (b *built) source(info *debug.BuildInfo) {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	b.Go, b.Commit, b.Changed = info.GoVersion, settings["vcs.revision"], settings["vcs.modified"] == "true"
	if b.Commit == "" && info.Main.Sum != "" {
		b.Module = info.Main.Version + " " + info.Main.Sum
	}
}

// String returns the line that the command prints.
func (b built) String() string {
	text := "nocopy " + b.Version
	switch {
	case b.Commit != "" && b.Changed:
		return text + ", commit " + b.Commit + " with changes"
	case b.Commit != "":
		return text + ", commit " + b.Commit
	case b.Module != "":
		return text + ", module " + b.Module
	}
	return text
}

const description = `Calls, mocks, measures, describes, checks and documents Thrift services in any language.

Flags may have one dash or two. Exit codes: 0 done, 1 failed, 2 wrong command line, 3 the server
answered with a declared exception, 64+n it answered with a TApplicationException of type n (64 if
n is not in 0 to 35), 100 something was found, such as by lint, replay or record -fail.`

func main() {
	ctx, interrupt := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup does
		signal.Notify(signals, syscall.SIGHUP)
	}
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

// runner is what commands implement.
type runner interface {
	Run(*shell.Shell) error
}

// newParser returns the parser of command lines.
func newParser(sh *shell.Shell) *kong.Kong {
	all := &commands{}
	reads := func(showing bool) func(args []string) (*kong.Context, *project.Use, error) {
		return func(args []string) (*kong.Context, *project.Use, error) {
			parser := newParser(sh)
			line, err := trace(parser, args)
			var use *project.Use
			if err == nil {
				use, err = parse(line, showing)
			}
			if file := (*project.Error)(nil); err != nil && !errors.As(err, &file) {
				err = errors.New(wrongLine(parser.Model, args, err))
			}
			return line, use, err
		}
	}
	all.Config.Parse, all.Complete.Parse = reads(true), reads(false)
	parser, err := kong.New(all, kong.Name("nocopy"), kong.Description(description), kong.Writers(oneDash{sh.Out}, sh.Err),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}))
	if err != nil {
		panic(err) // a command's tags are wrong
	}
	all.Complete.Model = parser.Model
	return parser
}

// trace finds the command, flags and arguments in a command line.
// Kong's Parse and Run would do the same, and look for methods such as BeforeApply by their
// names. The linker would then keep the exported methods of all types: 3 MB.
func trace(parser *kong.Kong, args []string) (*kong.Context, error) {
	long, err := longFlags(parser.Model, args)
	if err != nil {
		return nil, err
	}
	line, err := kong.Trace(parser, long)
	if err != nil {
		return nil, err
	}
	return line, line.Error
}

// run runs the command with these arguments and returns the exit code.
func run(args []string, sh *shell.Shell) (code int) {
	parser := newParser(sh)
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case args[0] == "help" && !(len(args) > 1 && strings.HasPrefix(args[1], "-")):
		args = append(args[1:len(args):len(args)], "-h")
	}
	line, err := trace(parser, args)
	if err == nil {
		for _, p := range line.Path {
			switch {
			case p.Flag == nil:
			case p.Flag == parser.Model.HelpFlag:
				return shell.CodeOf(line.PrintUsage(false))
			case p.Flag.Name == "version":
				return shell.CodeOf(version{}.Run(sh))
			}
		}
		var use *project.Use
		if use, err = parse(line, false); use != nil && use.Project != nil {
			sh.Project = use.Project.Name
		}
	}
	var file *project.Error
	if errors.As(err, &file) {
		fmt.Fprintln(sh.Err, "nocopy:", shell.Message(file))
		return shell.Usage
	}
	if err != nil {
		fmt.Fprintln(sh.Err, "nocopy:", wrongLine(parser.Model, args, err))
		return shell.Usage
	}
	err = shell.Ended(sh.Ctx, line.Selected().Target.Addr().Interface().(runner).Run(sh))
	if err != nil && !errors.Is(err, shell.ErrSilent) {
		fmt.Fprintln(sh.Err, "nocopy:", shell.Message(err))
	}
	return shell.CodeOf(err)
}

// The flags in kong's texts have two dashes, and "=" before their values. Ours have one, and a
// space, as in Go's own commands.
var (
	longFlag = regexp.MustCompile(`(^|[\s"(])--(\w)`)
	flagLine = regexp.MustCompile(`(?m)^(  (?:-\w, |    )?)--([\w-]+)(?:=(\S+))?( *)`)
)

// wrongLine returns what is wrong with a command line, and which help to read.
func wrongLine(model *kong.Application, args []string, err error) string {
	text := oneDashed(err)
	if m := unknownFlag.FindStringSubmatch(text); m != nil {
		node := find(model, args)
		if node == nil {
			node = model.Node
		}
		var known []string
		for name := range flagsOf(node) {
			known = append(known, name[1:])
		}
		slices.Sort(known)
		text = command.UnknownFlag(m[1], known)
		if m[1] == "json" && slices.Contains(known, "format") {
			text = "unknown flag -json: write -format json"
		}
	}
	return text + "; see nocopy " + commandIn(model, args) + "-h"
}

// unknownFlag matches kong's error, which may go on with any flags that are like it.
var unknownFlag = regexp.MustCompile(`^unknown flag -([^\s,]+)`)

// oneDashed returns the text of an error about a command line.
func oneDashed(err error) string {
	return longFlag.ReplaceAllString(shell.Message(err), "$1-$2")
}

// oneDash is the Writer of help texts.
type oneDash struct{ io.Writer }

// Write writes a text whose flags have one dash and keep their column.
func (w oneDash) Write(text []byte) (int, error) {
	out := flagLine.ReplaceAllFunc(text, func(line []byte) []byte {
		part := flagLine.FindSubmatch(line)
		left, name, value, gap := string(part[1]), string(part[2]), string(part[3]), string(part[4])
		if left == "  -"+name+", " { // -I is short and long
			left = "  -"
		} else {
			left += "-"
		}
		left += name
		if value != "" {
			left += " " + value
		}
		if gap != "" {
			left += strings.Repeat(" ", max(len(line)-len(left), 1))
		}
		return []byte(left)
	})
	if _, err := w.Writer.Write(longFlag.ReplaceAll(out, []byte("$1-$2"))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// parse sets the fields of the command that a command line chooses, and fills what the project
// file says. showing says that the command is not run.
func parse(line *kong.Context, showing bool) (*project.Use, error) {
	if err := reset(line); err != nil {
		return nil, err
	}
	if _, err := line.Apply(); err != nil { // for project.Fill
		return nil, err
	}
	use, err := project.Fill(line, showing)
	if err != nil {
		return use, err
	}
	if err := line.Resolve(); err != nil {
		return use, err
	}
	if _, err := line.Apply(); err != nil {
		return use, err
	}
	if err := use.Finish(line); err != nil {
		return use, err
	}
	return use, line.Validate()
}

// reset gives flags and arguments the values of the environment, or their defaults. The variables
// of other commands do not matter: one that is wrong is no mistake of this command line.
func reset(line *kong.Context) error {
	own := line.Flags()
	for _, node := range line.Model.Children {
		for _, flag := range node.Flags {
			if !slices.Contains(own, flag) {
				flag.Tag.Envs = nil
			}
		}
	}
	return line.Reset()
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
func longFlags(model *kong.Application, args []string) ([]string, error) {
	node := find(model, args)
	switch {
	case node == nil:
		node = model.Node
	case node.Passthrough:
		return args, nil
	}
	known := flagsOf(node)
	var out []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			return append(out, args[i:]...), nil
		}
		name, value, hasValue := strings.Cut(arg, "=")
		flag := known[strings.TrimPrefix(name, "-")]
		if strings.HasPrefix(name, "-") && !strings.HasPrefix(name, "--") {
			if flag = known[name]; len(name) > 2 && (flag != nil || !hasShort(known, name)) {
				arg = "-" + arg
			}
		}
		out = append(out, arg)
		if flag == nil || flag.IsBool() || !strings.HasPrefix(name, "-") {
			continue
		}
		if !hasValue && i+1 == len(args) {
			return nil, fmt.Errorf("%s needs a value", strings.Replace(name, "--", "-", 1))
		}
		if !hasValue {
			i++
			value = args[i] // also if it begins with a dash
		}
		out[len(out)-1] = "--" + flag.Name + "=" + value
		for flag.Name == "idl" && i+1 < len(args) && strings.HasSuffix(args[i+1], ".thrift") {
			i++
			out = append(out, "--idl="+args[i])
		}
	}
	return out, nil
}

// flagsOf returns the flags of a command by their names with one dash, also the short ones.
func flagsOf(node *kong.Node) map[string]*kong.Flag {
	known := map[string]*kong.Flag{}
	for _, group := range node.AllFlags(false) {
		for _, flag := range group {
			known["-"+flag.Name] = flag
			if flag.Short != 0 {
				known["-"+string(flag.Short)] = flag
			}
		}
	}
	return known
}

// hasShort reports whether an argument is a short flag and its value, as -Iidl and -n100 are. A
// misspelt long flag, such as -dta, is not.
func hasShort(known map[string]*kong.Flag, arg string) bool {
	flag := known[arg[:2]]
	return flag != nil && !flag.IsBool() && (unicode.IsUpper(rune(arg[1])) || unicode.IsDigit(rune(arg[2])) || arg[2] == '=')
}
