package project

import (
	"flag"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

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
	operands, err := u.operands(name, set.operands)
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
func (u *Use) operands(name string, given []string) ([]string, error) {
	p := u.Project
	if len(given) > 0 || len(p.idl) == 0 {
		return nil, nil
	}
	if name != "audit" {
		u.from["files"] = p.idl[0]
		return p.files(p.idl)
	}
	if p.baseline.Text == "" {
		return nil, nil
	}
	roots, err := p.resolve(p.idl)
	if err != nil {
		return nil, err
	}
	u.from["baseline"], u.from["files"] = p.baseline, p.idl[0]
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
	if len(roots) == 1 {
		return []string{old, roots[0]}, nil
	}
	operands := []string{old, p.base}
	for _, v := range p.idl {
		text, err := p.expand(v)
		if err != nil {
			return nil, err
		}
		operands = append(operands, text)
	}
	return operands, nil
}
