package project

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/idlfiles"
	"github.com/nocopythrift/nocopythrift/gen/audit"
	"github.com/nocopythrift/nocopythrift/internal/command"
	"github.com/nocopythrift/nocopythrift/internal/nocopyc"
)

// passed completes the arguments of a command that parses them itself.
func (u *Use) passed(node *kong.Node) error {
	if len(node.Positional) != 1 {
		return nil
	}
	target := node.Positional[0].Target
	args, err := u.complete(node.Name, target.Interface().([]string))
	if err == nil {
		target.Set(reflect.ValueOf(args))
	}
	return err
}

// complete returns the arguments of a command with those of the project before and after them.
func (u *Use) complete(name string, args []string) ([]string, error) {
	set, err := parsed(name, args)
	if err != nil {
		return args, nil // the command says what is wrong
	}
	var before []string
	add := func(name string, v Value, texts ...string) {
		if set.given[name] {
			return
		}
		u.from["-"+name] = v
		for _, text := range texts {
			before = append(before, "-"+name+"="+text)
		}
	}
	of := u.Project.sections[name]
	if name == "check" {
		of = u.Project.sections["gen"]
	}
	for _, flag := range slices.Sorted(maps.Keys(of)) {
		texts, err := u.Project.expandAll(of[flag])
		if err == nil && (flag == "o" || strings.HasPrefix(flag, "I")) {
			texts, err = u.Project.resolve(of[flag])
		}
		if err != nil {
			return nil, err
		}
		if name != "check" || flag != "o" {
			add(flag, of[flag][0], texts...)
		}
	}
	if len(u.Project.include) > 0 {
		dirs, err := u.Project.resolve(u.Project.include)
		if err != nil {
			return nil, err
		}
		add("I", u.Project.include[0], dirs...)
	}
	if name == "audit" {
		u.whole = u.isWhole(set)
	}
	operands, err := u.operands(name, set)
	if err != nil {
		return nil, err
	}
	if len(operands) > 0 && !slices.Contains(args, "--") {
		operands = append([]string{"--"}, operands...)
	}
	return slices.Concat(before, args, operands), nil
}

// arguments are those of a command, parsed.
type arguments struct {
	*flag.FlagSet
	given    map[string]bool // flags
	operands []string
}

// parsed parses the arguments of a command.
func parsed(name string, args []string) (arguments, error) {
	set := arguments{FlagSet: nocopyc.Flags(name), given: map[string]bool{}}
	set.SetOutput(io.Discard)
	set.Usage = func() {}
	var err error
	set.operands, err = command.ParseMixed(set.FlagSet, args)
	set.Visit(func(f *flag.Flag) { set.given[f.Name] = true })
	return set, err
}

// operands returns what a command reads, if its arguments do not say it.
func (u *Use) operands(name string, set arguments) ([]string, error) {
	p := u.Project
	if len(set.operands) > 0 || len(p.idl) == 0 || name == "audit" && set.Lookup("rules").Value.String() == "true" {
		return nil, nil
	}
	if name != "audit" {
		u.from["files"] = p.idl[0]
		return p.files(p.idl)
	}
	if p.baseline.Text == "" && !set.given["against"] {
		return nil, nil
	}
	roots, err := p.resolve(p.idl)
	if err != nil {
		return nil, err
	}
	u.from["files"] = p.idl[0]
	news := roots
	if len(roots) > 1 {
		if news, err = p.expandAll(p.idl); err != nil {
			return nil, err
		}
		news = append([]string{p.base}, news...)
	}
	if set.given["against"] {
		return news, nil
	}
	u.from["baseline"] = p.baseline
	old, err := p.expand(p.baseline)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(old, "-") {
		return nil, p.wrong(p.baseline, "%q is neither a revision of git nor a path", old)
	}
	if _, err := os.Stat(filepath.Join(p.dir, old)); err == nil && filepath.IsLocal(old) {
		old = filepath.Join(p.base, old)
	}
	return append([]string{old}, news...), nil
}

// isWhole reports whether an audit compares all .thrift files of the project, as far as its
// operands say it.
func (u *Use) isWhole(set arguments) bool {
	news := set.operands
	if !set.given["against"] && len(news) > 0 {
		news = news[1:] // without OLD
	}
	if len(news) == 0 || len(u.Project.idl) == 0 {
		return len(news) < 2
	}
	base := news[0]
	if _, err := os.Stat(base); err != nil {
		if strings.Contains(base, ":") {
			return false // a path in a revision
		}
		base = "."
	}
	scopes := news[1:]
	if len(scopes) == 0 {
		scopes = []string{"."}
	}
	roots, err := u.Project.resolve(u.Project.idl)
	return err == nil && !slices.ContainsFunc(roots, func(root string) bool {
		return !slices.ContainsFunc(scopes, func(scope string) bool {
			abs, _ := filepath.Abs(filepath.Join(base, scope))
			rootAbs, _ := filepath.Abs(root)
			rel, err := filepath.Rel(abs, rootAbs)
			return err == nil && filepath.IsLocal(rel)
		})
	})
}

// Auditing returns what nocopy audit takes from the project.
func (u *Use) Auditing(ctx context.Context) nocopyc.Auditing {
	with := nocopyc.Auditing{Ask: func(name string) (map[string]string, error) { return u.ask(ctx, name) }}
	if u == nil || u.Project == nil {
		return with
	}
	for _, g := range u.Project.ignores {
		with.Ignores = append(with.Ignores, &g)
	}
	with.Whole = u.whole
	with.Target = func(name string) string {
		if u.Project.Targets[name] == nil {
			return ""
		}
		return "a target of " + u.Project.Name
	}
	return with
}

// AuditSettings returns what the section audit says about findings: which are left out, and a
// function that leaves those that matter.
func (p *Project) AuditSettings() (audit.Options, func([]audit.Finding) []audit.Finding, error) {
	var args []string
	for name, values := range p.sections["audit"] {
		texts, err := p.expandAll(values)
		if err != nil {
			return audit.Options{}, nil, err
		}
		for _, text := range texts {
			args = append(args, "-"+name+"="+text)
		}
	}
	opt, matter, err := nocopyc.AuditSettings(args)
	for _, g := range p.ignores {
		opt.Ignores = append(opt.Ignores, &g)
	}
	return opt, matter, err
}

// LintFolders returns the folders for included files that the section lint names.
func (p *Project) LintFolders() ([]string, error) { return p.resolve(p.lintIncludes) }

// ask returns the files that a server tells, by the name of a target or an address, or those of a
// bundle.
func (u *Use) ask(ctx context.Context, name string) (map[string]string, error) {
	if idlfiles.IsBundle(name) {
		bundle, err := idlfiles.LoadBundle(name)
		if err != nil {
			return nil, err
		}
		return bundle.Files, nil
	}
	address, connection, err := u.Connection(name)
	if err != nil {
		return nil, err
	}
	server, err := connection.Connect(ctx, address, true)
	if err != nil {
		return nil, err
	}
	server.Close()
	if server.Description == nil {
		return nil, fmt.Errorf("%s does not tell its IDL: %w", name, server.NotDescribed)
	}
	if _, err := idlfiles.Of(server.Description); err != nil { // it may be too large
		return nil, err
	}
	return server.Description.Files, nil
}
