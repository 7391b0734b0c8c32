package nocopyc

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/audit"
	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/internal/command"
)

const auditUsage = `Usage: nocopyc audit [flags] OLD NEW [FILE...]

Reports what the change from OLD to NEW breaks, one finding per line: its place in NEW,
error or warning, what has changed, which of wire, JSON and source code it breaks, and
its place in OLD. Both are files, folders, or git revisions. Examples:

	nocopyc audit old.thrift new.thrift
	nocopyc audit v1/idl v2/idl              all .thrift files in the folders
	nocopyc audit main idl                   idl on disk against idl in revision main
	nocopyc audit main idl a.thrift          only a.thrift in these folders
	nocopyc audit HEAD~1 HEAD idl/a.thrift   two revisions; without files: this folder
	nocopyc audit v1.0:idl HEAD:idl          paths in the repository, as in git show
	nocopyc audit HEAD :idl                  what is staged

FILEs are paths in OLD and NEW. They are paths in the current folder if both are
revisions without a path.

If OLD is a revision, a new field must not take an id that another field had in it or in
the revisions before.

Exit codes: 0 nothing is broken, FOUND there are errors, FAILED files are missing or
have errors, 2 wrong command line.
`

// An auditor runs the command that compares files, with its flags.
type auditor struct {
	dirs, oldDirs, newDirs dirs
	opt                    audit.Options
	asJSON, wire           bool
	warnings, format       string
}

// flags returns the flags of a command.
func (a *auditor) flags(name string) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.Var(&a.dirs, "I", "`directory` in which to look for included files; may be repeated")
	flags.Var(&a.oldDirs, "Iold", "`directory` like -I, for OLD only")
	flags.Var(&a.newDirs, "Inew", "`directory` like -I, for NEW only")
	flags.StringVar(&a.format, "format", "text", "`form` of the findings: text, json, or github for annotations of a pull request")
	flags.BoolVar(&a.asJSON, "json", false, "the same as -format json")
	flags.BoolVar(&a.wire, "wire", false, "report only what breaks the wire")
	flags.StringVar(&a.warnings, "warnings", "on", "`what` to do with warnings: on, off, or error to make them errors")
	flags.BoolVar(&a.opt.OptionalRemoval, "audit-allow-optional-field-removal", false, "the removal of optional fields is a warning")
	flags.BoolVar(&a.opt.RequiredToDefault, "audit-allow-required-field-to-default", false, "required fields that get default requiredness are a warning")
	return flags
}

// Audit is the command that compares files. It returns the exit code.
func (t Tool) Audit(args []string, stdout, stderr io.Writer) int {
	var a auditor
	stdout, stderr = command.Printing(stdout), command.Printing(stderr)
	flags := a.flags(t.Name + " audit")
	flags.SetOutput(stderr)
	flags.Usage = func() {
		text := t.text(auditUsage)
		if t == Nocopyc {
			text += "\"nocopyc -audit\" is the same command. The flag will go in the next version.\n"
		}
		command.Help(stdout, text, flags, "")
	}
	operands, err := command.ParseMixed(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case !slices.Contains([]string{"on", "off", "error"}, a.warnings):
		command.WrongLine(stderr, flags.Name(), fmt.Sprintf("-warnings is on, off or error, not %q", a.warnings))
		return 2
	case noFormat(a.format, "text", "json", "github") != "":
		command.WrongLine(stderr, flags.Name(), noFormat(a.format, "text", "json", "github"))
		return 2
	case len(operands) < 2:
		command.WrongLine(stderr, flags.Name(), "OLD and NEW are needed")
		return 2
	}
	findings, err := t.compare(audit.Input{
		Old: operands[0], New: operands[1], Files: operands[2:],
		OldDirs: slices.Concat(a.oldDirs, a.dirs), NewDirs: slices.Concat(a.newDirs, a.dirs),
	}, a.opt, func(w *idl.Error) { warn(w, a.format, stdout, stderr) })
	if err != nil {
		t.report(err, a.format, stdout, stderr)
		return t.Failed
	}
	findings = slices.DeleteFunc(findings, func(f audit.Finding) bool {
		return a.wire && f.Breaks&audit.Wire == 0 || a.warnings == "off" && f.Severity == audit.Warning
	})
	if a.warnings == "error" {
		for i := range findings {
			findings[i].Severity = audit.Error
		}
	}
	switch {
	case a.asJSON || a.format == "json":
		err = audit.WriteJSON(stdout, operands[0], operands[1], findings)
	case a.format == "github":
		err = annotate(stdout, operands[1], findings)
	default:
		err = audit.WriteText(stdout, findings)
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", t.Name, err)
		return t.Failed
	}
	if n, _ := audit.Count(findings); n > 0 {
		return t.Found
	}
	return 0
}

// warn writes a warning of the compiler.
func warn(w *idl.Error, format string, stdout, stderr io.Writer) {
	if format == "github" {
		Annotate(stdout, "warning", w.Pos, "compile", w.Msg)
		return
	}
	fmt.Fprintf(stderr, "%s:%d:%d: warning: %s\n", w.Pos.Filename, w.Pos.Line, w.Pos.Column, w.Msg)
}

// compare loads and compares the old and the new Version, and calls warn for what the compiler
// warns of in the new one.
func (t Tool) compare(in audit.Input, opt audit.Options, warn func(*idl.Error)) ([]audit.Finding, error) {
	old, new, err := audit.Load(in)
	if err != nil {
		return nil, err
	}
	for _, w := range new.Warnings() {
		warn(w)
	}
	return audit.Compare(old, new, opt), nil
}

// annotate writes findings as annotations. In a revision, files have names such as
// HEAD:idl/user.thrift; GitHub knows them by their paths.
func annotate(w io.Writer, new string, findings []audit.Finding) error {
	revision, _, _ := strings.Cut(new, ":")
	for _, f := range findings {
		at := f.New
		at.Filename = strings.TrimPrefix(at.Filename, revision+":")
		message := fmt.Sprintf("%s (%s; old: %s)", f.Message, f.Breaks, f.Old)
		if err := Annotate(w, string(f.Severity), at, f.Kind, message); err != nil {
			return err
		}
	}
	return nil
}
