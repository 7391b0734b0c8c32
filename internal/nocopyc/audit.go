package nocopyc

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
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
	nocopyc audit idl -against v1.0          the same as "audit v1.0 idl"
	nocopyc audit idl -against v1.0 -policy WIRE_JSON
SERVERSFILEs are paths in OLD and NEW. They are paths in the current folder if both are
revisions without a path.

A policy says what matters: WIRE is what breaks peers that speak binary or compact,
WIRE_JSON also what breaks JSON with names, SOURCE also what breaks code that uses
generated code. FILE is everything, also definitions that move to another file and values
that change. It is the default. "nocopyc audit -rules" lists all rules.

If OLD is a revision, a new field must not take an id that another field had in it or in
the revisions before.

Exit codes: 0 nothing is broken, FOUND there are errors, FAILED files are missing or
have errors, 2 wrong command line.
`

// An auditor runs the command that compares files, with its flags.
type auditor struct {
	dirs, oldDirs, newDirs dirs
	opt                    audit.Options
	asJSON, rules          bool
	warnings, format       string
	policy                 string
	against                once
}

// Auditing is what a tool adds to the command.
type Auditing struct {
	// Ignores are findings that are left out. Whole says that all files are compared in which there
	// may be some: then one that matches nothing is reported.
	Ignores []*audit.Ignore
	Whole   bool
	// Target returns what is called by a name, such as "a target of nocopy.yaml"; "" if that is no
	// server. Ask returns the IDL of a server, by the name of a target or an address, or that of a
	// bundle, a file whose name ends with .bundle.
	Target func(name string) string
	Ask    func(name string) (map[string]string, error)
}

// wire is the value of the flag -wire, which sets the policy.
type wire struct{ policy *string }

func (wire) IsBoolFlag() bool { return true }
func (w wire) String() string {
	return strconv.FormatBool(w.policy != nil && *w.policy == string(audit.PolicyWire))
}

// Set implements flag.Value.
func (w wire) Set(text string) error {
	on, err := strconv.ParseBool(text)
	if on {
		*w.policy = string(audit.PolicyWire)
	}
	return err
}

// once is the value of a flag that may be given once, as a second one would replace the first.
type once string

func (o *once) String() string { return string(*o) }

// Set implements flag.Value.
func (o *once) Set(text string) error {
	if *o != "" {
		return fmt.Errorf("it was given before, as %q", *o)
	}
	*o = once(text)
	return nil
}

// NoPolicy returns what is wrong with the name of a policy.
func NoPolicy(text string) string {
	names := make([]string, len(audit.Policies))
	for i, p := range audit.Policies {
		names[i] = string(p)
	}
	wrong := fmt.Sprintf("policy is WIRE, WIRE_JSON, SOURCE or FILE, not %q", text)
	if near := idl.Nearest(strings.ToUpper(text), names); near != "" {
		wrong += ", did you mean " + near + "?"
	}
	return wrong
}

// flags returns the flags of a command.
func (a *auditor) flags(name string) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.Var(&a.dirs, "I", "`directory` in which to look for included files; may be repeated")
	flags.Var(&a.oldDirs, "Iold", "`directory` like -I, for OLD only")
	flags.Var(&a.newDirs, "Inew", "`directory` like -I, for NEW only")
	flags.StringVar(&a.format, "format", "text", "`form` of the findings: text, json, or github for annotations of a pull request")
	flags.BoolVar(&a.asJSON, "json", false, "the same as -format json")
	flags.StringVar(&a.policy, "policy", string(audit.PolicyFile), "`policy` that says what matters: WIRE, WIRE_JSON, SOURCE, or FILE")
	flags.Var(wire{&a.policy}, "wire", "the same as -policy WIRE")
	flags.Var(&a.against, "against", "`old` files, instead of the operand OLD")
	flags.BoolVar(&a.rules, "rules", false, "list all rules, with their policies, and exit")
	flags.StringVar(&a.warnings, "warnings", "on", "`what` to do with warnings: on, off, or error to make them errors")
	flags.BoolVar(&a.opt.OptionalRemoval, "audit-allow-optional-field-removal", false, "the removal of optional fields is a warning")
	flags.BoolVar(&a.opt.RequiredToDefault, "audit-allow-required-field-to-default", false, "required fields that get default requiredness are a warning")
	return flags
}

// Audit is the command that compares files. It returns the exit code.
func (t Tool) Audit(args []string, stdout, stderr io.Writer) int {
	return t.AuditWith(Auditing{}, args, stdout, stderr)
}

// AuditWith is Audit with what a tool adds.
func (t Tool) AuditWith(with Auditing, args []string, stdout, stderr io.Writer) int {
	var a auditor
	stdout, stderr = command.Printing(stdout), command.Printing(stderr)
	flags := a.flags(t.Name + " audit")
	flags.SetOutput(stderr)
	flags.Usage = func() {
		text := t.text(strings.Replace(auditUsage, "SERVERS", t.servers(flags), 1))
		if t == Nocopyc {
			text += "\"nocopyc -audit\" is the same command. The flag will go in the next version.\n"
		}
		command.Help(stdout, text, flags, "")
	}
	operands, err := command.ParseMixed(flags, args)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	if isGiven(flags, "against") {
		operands = append([]string{string(a.against)}, operands...)
	}
	if wrong := a.wrong(operands); wrong != "" {
		command.WrongLine(stderr, flags.Name(), wrong)
		return 2
	}
	if a.asJSON {
		a.format = "json"
	}
	if a.rules {
		return t.written(writeRules(stdout, a.format == "json"), stderr)
	}
	in := audit.Input{
		Old: operands[0], New: operands[1], Files: operands[2:],
		OldDirs: slices.Concat(a.oldDirs, a.dirs), NewDirs: slices.Concat(a.newDirs, a.dirs),
	}
	if isGiven(flags, "against") || with.Ask != nil && isBundle(in.Old) {
		if err := t.resolve(&in, with, stderr); err != nil {
			t.report(err, a.format, stdout, stderr)
			return t.Failed
		}
	}
	old, new, err := t.load(in, a.format, stdout, stderr)
	if old == nil {
		return t.Failed
	}
	a.opt.Ignores = with.Ignores
	findings := a.chosen(audit.Compare(old, new, a.opt))
	if code := t.written(a.write(stdout, in, with.Ignores, findings), stderr); code != 0 {
		return code
	}
	if err != nil {
		return t.Failed // files with errors were not compared
	}
	unused := with.Whole && a.unused(with.Ignores, stdout, stderr)
	if n, _ := audit.Count(findings); n > 0 || unused && a.warnings == "error" {
		return t.Found
	}
	return 0
}

// AuditSettings returns the options that flags of the command say, and a function that leaves the
// findings that they ask for.
func AuditSettings(args []string) (audit.Options, func([]audit.Finding) []audit.Finding, error) {
	var a auditor
	flags := a.flags("audit")
	flags.SetOutput(io.Discard)
	err := flags.Parse(args)
	return a.opt, a.chosen, err
}

// written returns the exit code after the output: err is what went wrong with it.
func (t Tool) written(err error, stderr io.Writer) int {
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", t.Name, err)
		return t.Failed
	}
	return 0
}

// chosen returns the findings that the flags ask for, with the severity that they say.
func (a *auditor) chosen(findings []audit.Finding) []audit.Finding {
	findings = slices.DeleteFunc(findings, func(f audit.Finding) bool {
		return !audit.Policy(a.policy).Has(f.Policy()) || a.warnings == "off" && f.Severity == audit.Warning
	})
	if a.warnings == "error" {
		for i := range findings {
			findings[i].Severity = audit.Error
		}
	}
	return findings
}

// write writes findings in the form that -format says.
func (a *auditor) write(w io.Writer, in audit.Input, ignores []*audit.Ignore, findings []audit.Finding) error {
	switch a.format {
	case "json":
		return audit.WriteJSON(w, in.Old, in.New, audit.Policy(a.policy), matched(ignores), findings)
	case "github":
		return annotate(w, in.New, findings)
	}
	return audit.WriteText(w, findings)
}

// wrong returns what is wrong with a command line, "" if nothing is.
func (a *auditor) wrong(operands []string) string {
	switch {
	case !slices.Contains([]string{"on", "off", "error"}, a.warnings):
		return fmt.Sprintf("-warnings is on, off or error, not %q", a.warnings)
	case noFormat(a.format, "text", "json", "github") != "":
		return noFormat(a.format, "text", "json", "github")
	case !slices.Contains(audit.Policies, audit.Policy(a.policy)):
		return "-" + NoPolicy(a.policy)
	case a.rules:
	case len(operands) == 0:
		return "OLD and NEW are needed"
	case len(operands) == 1:
		return fmt.Sprintf("NEW is missing: %q is OLD", operands[0])
	case len(operands) > 2 && isFile(operands[0]) && isFile(operands[1]):
		return fmt.Sprintf("%q is one operand too many: OLD and NEW are files, not folders or revisions with files", operands[2])
	}
	return ""
}

// isFile reports whether there is a file, which is no folder, of this name.
func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.IsDir()
}

// isGiven reports whether a flag is on the command line.
func isGiven(flags *flag.FlagSet, name string) (given bool) {
	flags.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	return given
}

// matched returns how many findings are left out.
func matched(ignores []*audit.Ignore) (n int) {
	for _, g := range ignores {
		n += g.Matched
	}
	return n
}

// unused reports the ignores that have matched nothing, and whether there are any.
func (a *auditor) unused(ignores []*audit.Ignore, stdout, stderr io.Writer) (found bool) {
	for _, g := range ignores {
		if g.Matched == 0 && a.warnings != "off" {
			warn(g.Unused(), a.format, stdout, stderr)
			found = true
		}
	}
	return found
}

// writeRules writes the table of rules.
func writeRules(w io.Writer, asJSON bool) error {
	if asJSON {
		return writeJSON(w, audit.Rules)
	}
	for _, r := range audit.Rules {
		if _, err := fmt.Fprintf(w, "%-20s  %-9s  %s\n", r.Kind, r.Policy, r.When); err != nil {
			return err
		}
	}
	return nil
}

// warn writes a warning of the compiler.
func warn(w *idl.Error, format string, stdout, stderr io.Writer) {
	if format == "github" {
		Annotate(stdout, "warning", w.Pos, "compile", w.Msg)
		return
	}
	fmt.Fprintf(stderr, "%s:%d:%d: warning: %s\n", w.Pos.Filename, w.Pos.Line, w.Pos.Column, w.Msg)
}

// load loads the files, and reports errors, and what the compiler warns of in the new ones. There
// may be Versions in spite of an error.
func (t Tool) load(in audit.Input, format string, stdout, stderr io.Writer) (old, new *audit.Version, err error) {
	if old, new, err = audit.Load(in); err != nil {
		t.report(err, format, stdout, stderr)
	}
	if new != nil {
		for _, w := range new.Warnings() {
			warn(w, format, stdout, stderr)
		}
	}
	return old, new, err
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
