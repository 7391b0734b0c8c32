package nocopyc

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/idlfmt"
	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/internal/command"
)

const fmtUsage = `Usage: nocopyc fmt [flags] [FILE|FOLDER...]

Formats .thrift files: those given, and all below the folders given. Without any, it
formats standard input. The formatted text goes to standard output unless a flag says
otherwise; nothing but white space changes, and comments keep their places.

Exit codes: 0 done, FOUND -check has found files that are not formatted, FAILED files do
not parse or cannot be read or written, 2 wrong command line.

Examples:

	nocopyc fmt -w idl         formats all files below idl
	nocopyc fmt -check idl     for CI
`

// A formatter runs the command that formats, with its flags.
type formatter struct {
	Tool
	write, list, diff, check bool
	form                     string    // in which files are listed: text or github
	stdout, stderr           io.Writer // for names and messages
	text                     io.Writer // for texts of files
	unformatted, failed      bool
	listed                   []string // files whose formatting differs, for json
}

// flags returns the flags of a command.
func (f *formatter) flags(name string) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.BoolVar(&f.write, "w", false, "write the result to the file")
	flags.BoolVar(&f.list, "l", false, "list files whose formatting differs")
	flags.BoolVar(&f.diff, "d", false, "show diffs")
	flags.StringVar(&f.form, "format", "text", "`form` of the list of -check and -l: text, json, or github for annotations of a pull request")
	flags.BoolVar(&f.check, "check", false, "list files whose formatting differs, and fail if there are any")
	return flags
}

// Fmt is the command that formats files. It returns the exit code.
func (t Tool) Fmt(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	f := formatter{Tool: t, stdout: command.Printing(stdout), stderr: command.Printing(stderr), text: command.PrintingText(stdout)}
	flags := f.flags(t.Name + " fmt")
	flags.SetOutput(f.stderr)
	flags.Usage = func() {
		command.Help(f.stdout, t.text(fmtUsage), flags, "")
	}
	paths, err := command.ParseMixed(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case noFormat(f.form, "text", "json", "github") != "":
		command.WrongLine(f.stderr, flags.Name(), noFormat(f.form, "text", "json", "github"))
		return 2
	case len(paths) == 0 && f.write:
		command.WrongLine(f.stderr, flags.Name(), "-w needs files: standard input cannot be written to")
		return 2
	case len(paths) == 0:
		src, err := schema.ReadAll(stdin)
		if err != nil {
			fmt.Fprintf(f.stderr, "%s: standard input: %v\n", t.Name, err)
			return t.Failed
		}
		f.fail(f.format("<standard input>", src))
	}
	for _, path := range paths {
		f.path(path)
	}
	if f.form == "json" && (f.list || f.check) {
		f.fail(writeJSON(f.stdout, append([]string{}, f.listed...)))
	}
	switch {
	case f.failed:
		return t.Failed
	case f.check && f.unformatted:
		return t.Found
	}
	return 0
}

// fail reports an error, if there is one.
func (f *formatter) fail(err error) {
	if err != nil {
		f.failed = true
		f.report(err, f.form, f.stdout, f.stderr)
	}
}

// path formats a file, or the .thrift files below a folder.
func (f *formatter) path(name string) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		f.fail(err)
	case !info.IsDir():
		f.fail(f.file(name))
	default:
		f.fail(filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				f.fail(err)
			case d.IsDir() && path != name && strings.HasPrefix(d.Name(), "."):
				return fs.SkipDir
			case d.Type().IsRegular() && strings.HasSuffix(path, ".thrift"):
				f.fail(f.file(path))
			}
			return nil
		}))
	}
}

func (f *formatter) file(name string) error {
	src, err := schema.Disk.ReadFile(name)
	if errors.Is(err, schema.ErrTooLarge) {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err != nil {
		return err
	}
	return f.format(name, src)
}

// format formats the text of a file and writes, checks or compares the result, according to the
// flags.
func (f *formatter) format(name string, src []byte) error {
	out, err := idlfmt.Format(name, src)
	if err != nil {
		return err
	}
	differs := !bytes.Equal(src, out)
	f.unformatted = f.unformatted || differs
	switch {
	case !differs || !f.list && !f.check:
	case f.form == "json":
		f.listed = append(f.listed, name)
	case f.form == "github":
		at := idl.Position{Filename: name, Line: firstDifference(src, out), Column: 1}
		err = Annotate(f.stdout, "error", at, "format", fmt.Sprintf("not formatted: %s fmt -w %s", f.Name, command.ShellQuoted(filepath.ToSlash(name))))
	default:
		_, err = fmt.Fprintln(f.stdout, name)
	}
	if err != nil {
		return err
	}
	if differs && f.diff {
		fmt.Fprint(f.text, idlfmt.Diff(filepath.ToSlash(name), string(src), string(out)))
	}
	if differs && f.write {
		return replaceFile(name, out)
	}
	if !f.write && !f.list && !f.diff && !f.check {
		_, err = f.text.Write(out)
	}
	return err
}

// firstDifference returns the number of the first line that differs in two texts.
func firstDifference(a, b []byte) int {
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	return 1 + bytes.Count(a[:same], []byte("\n"))
}

// replaceFile replaces the text of a file atomically. It keeps the file's permissions, and
// symbolic links to it.
func replaceFile(name string, text []byte) error {
	final, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	info, err := os.Stat(final)
	if err != nil {
		return err
	}
	temp, err := writeTemp(final, text)
	if err == nil {
		err = os.Chmod(temp, info.Mode().Perm())
	}
	if err == nil {
		err = os.Rename(temp, final)
	}
	if err != nil && temp != "" {
		os.Remove(temp)
	}
	return err
}

// writeTemp writes src to a new file in the directory of final and returns its name. It returns
// the name even with an error if the file exists and must be removed.
func writeTemp(final string, src []byte) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(final), ".nocopyc-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(src)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return f.Name(), err
}
