package lint

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/internal/nocopyc"
)

// Severity says how bad a Finding is.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Finding is something that a rule objects to.
type Finding struct {
	Pos      idl.Position
	Rule     string
	Severity Severity
	Message  string

	fix *edit // nil if the rule can't mend it
}

// Fixable reports whether Fix mends the finding.
func (f Finding) Fixable() bool { return f.fix != nil }

// Input tells Lint which files to check, and how.
type Input struct {
	Paths    []string // files and folders; in these all .thrift files count
	Includes []string // folders in which included files are looked for; if nil, the configuration's
	Config   Config
	Files    schema.Files // nil is the disk
	Step     func()       // called when a file has been read, and when it has been linted; or nil
}

// Result is the outcome of Lint.
type Result struct {
	Findings []Finding // by file, in the order of the paths, and position
	Sources  map[string][]byte
}

// Count returns how many findings are errors and how many are warnings.
func (r *Result) Count() (errors, warnings int) {
	for _, f := range r.Findings {
		if f.Severity == Error {
			errors++
		} else {
			warnings++
		}
	}
	return errors, warnings
}

// Lint applies the rules that the configuration chooses. The error says that a path can't be read
// or that the configuration is wrong; errors in files are findings.
func Lint(in Input) (*Result, error) {
	rules, err := in.Config.rules()
	if err != nil {
		return nil, err
	}
	if in.Files == nil {
		in.Files = schema.Disk
	}
	names, err := nocopyc.Expand(in.Files, in.Paths)
	if err != nil {
		return nil, err
	}
	dirs := in.Includes
	if dirs == nil {
		dirs = in.Config.Includes
	}
	if in.Step == nil {
		in.Step = func() {}
	}
	reader := &recorder{Files: in.Files, sources: map[string][]byte{}, step: in.Step}
	set, err := schema.LoadFrom(reader, names, dirs)
	var broken idl.ErrorList
	errors.As(err, &broken)
	for _, e := range broken {
		if strings.HasPrefix(e.Msg, "cannot read "+e.Pos.Filename) && slices.Contains(names, e.Pos.Filename) {
			return nil, errors.New(e.Msg)
		}
	}
	l := &linter{
		cfg: in.Config, rules: rules, dirs: dirs, files: reader, set: set, linted: map[*schema.Program]*file{},
		definitions: map[*schema.Program]map[string]idl.Definition{}, enumValues: map[*idl.Enum]map[string]bool{},
	}
	for _, p := range set.Roots {
		l.lint(p, reader.sources[p.Path])
		in.Step()
	}
	l.compile(broken)
	l.sort()
	return &Result{Findings: l.findings, Sources: reader.sources}, nil
}

// linter is the state that all files share.
type linter struct {
	cfg      Config
	rules    []*Rule
	dirs     []string
	files    schema.Files
	set      *schema.Set
	findings []Finding
	linted   map[*schema.Program]*file

	definitions map[*schema.Program]map[string]idl.Definition
	enumValues  map[*idl.Enum]map[string]bool
}

// lint applies the rules to one file. A file that does not parse has errors alone.
func (l *linter) lint(p *schema.Program, src []byte) {
	f := newFile(l, p, src)
	l.linted[p] = f
	if !p.AST.Complete {
		return
	}
	for _, r := range l.rules {
		if r.check != nil {
			f.rule = r
			r.check(f)
		}
	}
	l.findings = append(l.findings, f.keep(f.findings)...)
}

// compile adds what the front end of nocopyc reports, except for what a rule has found at the same
// place.
func (l *linter) compile(broken idl.ErrorList) {
	r := byName("compile")
	if !slices.Contains(l.rules, r) {
		return
	}
	found := map[idl.Position]bool{}
	for _, f := range l.findings {
		found[f.Pos] = found[f.Pos] || f.Severity == Error
	}
	byFile := map[string][]Finding{}
	add := func(list idl.ErrorList, s Severity) {
		for _, e := range list {
			if !found[e.Pos] {
				byFile[e.Pos.Filename] = append(byFile[e.Pos.Filename], Finding{Pos: e.Pos, Rule: r.Name, Severity: s, Message: e.Msg})
			}
		}
	}
	add(broken, Error)
	readers, _ := idl.Compilers(strings.Join(l.cfg.Compilers, ","))
	add(l.set.Warnings.For(readers), Warning)
	for p, f := range l.linted {
		l.findings = append(l.findings, f.keep(byFile[p.Path])...)
		delete(byFile, p.Path)
	}
	for _, findings := range byFile { // of included files, and of those that can't be read
		l.findings = append(l.findings, findings...)
	}
}

// sort sorts the findings by file and position. Files have the order in which they were given.
func (l *linter) sort() {
	rank := map[string]int{}
	for i, p := range l.set.Roots {
		rank[p.Path] = i - len(l.set.Roots)
	}
	slices.SortStableFunc(l.findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(rank[a.Pos.Filename], rank[b.Pos.Filename]), strings.Compare(a.Pos.Filename, b.Pos.Filename),
			cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column),
			strings.Compare(a.Rule, b.Rule), strings.Compare(a.Message, b.Message),
		)
	})
}

// recorder keeps what is read.
type recorder struct {
	schema.Files
	sources map[string][]byte
	step    func()
}

func (r *recorder) ReadFile(path string) ([]byte, error) {
	src, err := r.Files.ReadFile(path)
	if err == nil {
		r.sources[path] = src
		r.step()
	}
	return src, err
}

// Parse implements schema.Parser.
func (r *recorder) Parse(path string, src []byte) (*idl.File, error) {
	return schema.Parse(r.Files, path, src)
}
