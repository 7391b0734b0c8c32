package project

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/idlfiles"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/lint"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/target"
	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/internal/nocopyc"
)

// A Use is what a command takes from a project. It is the Resolver of the flags that a command
// line does not have.
type Use struct {
	Project *Project // nil if there is none, or the command takes nothing
	Target  *Target  // nil if the command line names none

	idl, include []Value
	from         map[string]Value // what was taken, by names of flags and arguments
	asked        string           // the target, as the command line has it
	telling      bool             // the IDL that the server tells is meant, not the project's
	whole        bool             // all .thrift files of the project are audited
}

// The names of arguments and flags that a project fills, besides those of a target's connection.
var (
	addressName = "address"
	pathNames   = []string{"paths", "files"} // arguments: .thrift files
	idlFlags    = []string{"idl"}
	dirFlags    = []string{"I", "include"}
)

// Fill reads the project for a command line whose arguments have been applied, and adds what the
// project says to them. Flags follow when the command line resolves them: those that it has, and
// variables of the environment, go first. Finish has to be called after that. showing says that
// the command is not run: then variables that the file names need not be set.
func Fill(line *kong.Context, showing bool) (u *Use, err error) {
	u = &Use{from: map[string]Value{}}
	node := line.Selected()
	if node == nil || !takes(node) {
		return u, nil
	}
	if u.Project, err = Load(); err != nil {
		return u, err
	}
	if u.Project != nil {
		u.Project.showing = showing
		line.AddResolver(u)
	}
	return u, u.choose(node, argument(node, addressName))
}

// Finish sets the arguments that the command line leaves open, and adds headers to its own.
func (u *Use) Finish(line *kong.Context) error {
	node := line.Selected()
	switch {
	case u.Project == nil:
		return nil
	case node.Passthrough:
		if err := u.passed(node); err != nil {
			return err
		}
		if c, ok := node.Target.Addr().Interface().(Taker); ok {
			c.Take(u)
		}
		return nil
	}
	if err := u.arguments(node, argument(node, addressName)); err != nil {
		return err
	}
	if c, ok := node.Target.Addr().Interface().(Taker); ok {
		c.Take(u)
	}
	return u.headers(line)
}

// A Taker is a command that takes more from a project than flags and arguments.
type Taker interface{ Take(*Use) }

// Environments returns the names of the target and of its environments, in order; nil if the
// command line names no target.
func (u *Use) Environments() (all []string) {
	if u.Target == nil {
		return nil
	}
	name, _, _ := strings.Cut(u.Target.Name, "@")
	for _, other := range slices.Sorted(maps.Keys(u.Project.Targets)) {
		if of, _, _ := strings.Cut(other, "@"); of == name {
			all = append(all, other)
		}
	}
	return all
}

// Connection returns the address and the connection of a target, if what it sends is allowed, or
// of an address. Flags of the command line do not apply.
func (u *Use) Connection(name string) (string, *target.Connection, error) {
	var c struct {
		Address string `arg:""`
		target.Connection
	}
	parser, err := kong.New(&c)
	if err != nil {
		return "", nil, err
	}
	line, err := kong.Trace(parser, []string{name})
	if err == nil {
		err = line.Reset()
	}
	if err != nil {
		return "", nil, err
	}
	if !isTargetName(name) { // it is an address
		if err := line.Resolve(); err != nil {
			return "", nil, err
		}
		_, err := line.Apply()
		return name, &c.Connection, err
	}
	if u == nil || u.Project == nil {
		return "", nil, fmt.Errorf("%s is no address, and there is no %s here or above with targets", name, FileName)
	}
	t := u.Project.Targets[name]
	if t == nil {
		return "", nil, fmt.Errorf("%s has no target %s", u.Project.Name, name)
	}
	if err := u.Project.checkAllowed(t); err != nil {
		return "", nil, err
	}
	line.AddResolver(&Use{Project: u.Project, Target: t, from: map[string]Value{}})
	if err := line.Resolve(); err != nil {
		if file := (*Error)(nil); errors.As(err, &file) { // without the name of the flag
			err = file
		}
		return "", nil, err
	}
	if _, err := line.Apply(); err != nil {
		return "", nil, err
	}
	address, err := u.Project.expand(t.address)
	return address, &c.Connection, err
}

// takes reports whether a command takes anything from a project.
func takes(node *kong.Node) bool {
	if node.Passthrough {
		return nocopyc.Flags(node.Name) != nil && node.Name != "fmt"
	}
	for _, flag := range node.Flags {
		if slices.Contains(idlFlags, flag.Name) || slices.Contains(dirFlags, flag.Name) {
			return true
		}
	}
	return argument(node, addressName) != nil
}

// argument returns an argument of a command; nil if it has none of that name.
func argument(node *kong.Node, name string) *kong.Positional {
	for _, p := range node.Positional {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// choose finds the target that a command line names, and which IDL goes with it.
func (u *Use) choose(node *kong.Node, address *kong.Positional) error {
	if p := u.Project; p != nil {
		u.idl, u.include = p.idl, p.include
	}
	if address == nil {
		return nil
	}
	text := address.Target.String()
	switch {
	case text == "":
		return nil
	case !isTargetName(text):
		if node.Name == "describe" { // the server is asked
			u.idl, u.include = nil, nil
		}
		return nil
	case u.Project == nil && node.Name != "describe":
		return fmt.Errorf("%s is no address, which is HOST:PORT, a URL or a path with a slash, nor a target: there is no %s here or above", text, FileName)
	case u.Project == nil:
		return nil
	}
	t := u.Project.Targets[text]
	if t == nil {
		if node.Name == "describe" && len(u.idl) > 0 { // it is the name of a type
			return nil
		}
		known := slices.Sorted(maps.Keys(u.Project.Targets))
		return fmt.Errorf("%s is no address, which is HOST:PORT, a URL or a path with a slash, nor a target%s", text, idlfiles.Instead(text, "the file", "target", known))
	}
	u.Target, u.asked = t, text
	if len(t.idl) > 0 {
		u.idl = t.idl
	}
	if len(t.include) > 0 {
		u.include = t.include
	}
	u.telling = node.Name == "describe"
	return u.Project.checkAllowed(t)
}

// arguments sets the arguments that a command line leaves open.
func (u *Use) arguments(node *kong.Node, address *kong.Positional) error {
	if u.Target != nil {
		text, err := u.Project.expand(u.Target.address)
		if err != nil {
			return err
		}
		address.Target.SetString(text)
		u.from[addressName] = u.Target.address
	}
	for _, name := range pathNames {
		if arg := argument(node, name); arg != nil && arg.Target.Len() == 0 && len(u.idl) > 0 {
			paths, err := u.Project.files(u.idl)
			if err != nil {
				return err
			}
			arg.Target.Set(reflect.ValueOf(paths))
			u.from[name] = u.idl[0]
		}
	}
	if c, ok := node.Target.Addr().Interface().(*lint.Command); ok && u.Project.Lint != nil {
		c.Project = u.Project.Lint
		if len(c.Project.Includes) > 0 {
			dirs, err := u.Project.resolve(u.Project.lintIncludes)
			if err != nil {
				return err
			}
			c.Project.Includes, u.include = dirs, nil
		}
	}
	return nil
}

// Validate implements kong.Resolver.
func (u *Use) Validate(*kong.Application) error { return nil }

// Resolve implements kong.Resolver: it returns the project's value for a flag that the command
// line does not have.
func (u *Use) Resolve(line *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, name := range flag.Envs {
		if _, ok := os.LookupEnv(name); ok {
			return nil, nil
		}
	}
	var values []Value
	switch {
	case flag.Group != nil && flag.Group.Key == "Connection":
		if u.Target == nil {
			return nil, nil
		}
		values = u.Target.flags[flag.Name]
	case u.telling:
		return nil, nil
	case slices.Contains(idlFlags, flag.Name) && !isRaw(line):
		return u.take(flag.Name, u.idl, u.Project.files)
	case slices.Contains(dirFlags, flag.Name):
		return u.take(flag.Name, u.include, u.Project.resolve)
	}
	if len(values) == 0 {
		return nil, nil
	}
	u.from[flag.Name] = values[0]
	if flag.Target.Kind() == reflect.Slice {
		return u.take(flag.Name, values, u.Project.expandAll)
	}
	if u.Project.showing && unset(values[0].Text) != "" { // it is no value of the flag's type
		return nil, nil
	}
	if slices.Contains(pathKeys, flag.Name) {
		paths, err := u.Project.resolve(values)
		if err == nil {
			err = u.Project.checkFile(values[0], paths[0])
		}
		return append(paths, "")[0], err
	}
	text, err := u.Project.expand(values[0])
	if err == nil {
		if err = checkFlag(flag, text); err != nil {
			err = u.Project.wrong(values[0], "%w", err)
		}
	}
	return text, err
}

// take returns a list as kong takes it; nil if it is empty.
func (u *Use) take(name string, values []Value, texts func([]Value) ([]string, error)) (any, error) {
	if len(values) == 0 {
		return nil, nil
	}
	u.from[name] = values[0]
	all, err := texts(values)
	var list []any
	for _, text := range all {
		list = append(list, text)
	}
	return list, err
}

// isRaw reports whether a command line has -raw: then there is no IDL.
func isRaw(line *kong.Context) bool {
	return slices.ContainsFunc(line.Path, func(p *kong.Path) bool { return p.Flag != nil && p.Flag.Name == "raw" })
}

// headers adds the headers of the target that the command line does not have to those that it has:
// each is a setting of its own.
func (u *Use) headers(line *kong.Context) error {
	if u.Target == nil {
		return nil
	}
	for _, p := range line.Path {
		if p.Flag == nil || p.Flag.Name != "header" || p.Resolved {
			continue
		}
		given := p.Flag.Target.Interface().([]string)
		texts, err := u.Project.expandAll(u.Target.flags["header"])
		if err != nil {
			return err
		}
		for i, text := range texts {
			name, _, _ := strings.Cut(text, ":")
			if !slices.ContainsFunc(given, func(h string) bool {
				own, _, _ := strings.Cut(h, ":")
				return strings.EqualFold(strings.TrimSpace(own), strings.TrimSpace(name))
			}) {
				given = append(given, text)
				u.from["header"] = u.Target.flags["header"][i]
			}
		}
		p.Flag.Target.Set(reflect.ValueOf(given))
	}
	return nil
}

// expandAll is expand for all values.
func (p *Project) expandAll(values []Value) (all []string, err error) {
	for _, v := range values {
		text, err := p.expand(v)
		if err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, nil
}

// resolve returns paths as the working directory sees them.
func (p *Project) resolve(values []Value) (all []string, err error) {
	texts, err := p.expandAll(values)
	for i, text := range texts {
		name, _, own := variable(values[i].Text)
		text = filepath.FromSlash(text)
		switch {
		case p.showing && unset(text) != "":
		case own && os.Getenv(name) == "":
			return nil, p.wrong(values[i], "the variable %s is empty", name)
		case filepath.IsAbs(text):
		case own && !(filepath.IsLocal(text) && p.inside(text)): // not what the user meant, perhaps
			return nil, p.wrong(values[i], "%s is %s, which is neither absolute nor in the file's folder", values[i].Text, quoted(text))
		default:
			text = filepath.Join(p.base, text)
		}
		if strings.HasPrefix(text, "-") { // it is no flag
			text = "." + string(filepath.Separator) + text
		}
		all = append(all, text)
	}
	return all, err
}

// checkFile returns an error if a file that is read whole is a pipe, which would be waited for, or
// very large.
func (p *Project) checkFile(v Value, path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().IsRegular() && info.Size() <= maxBytes {
		return nil // what is wrong is said when it is read
	}
	return p.wrong(v, "%s is not a regular file of at most %d bytes", shell.OneLine(path), maxBytes)
}

// files returns the .thrift files at paths and below them.
func (p *Project) files(values []Value) (all []string, err error) {
	paths, err := p.resolve(values)
	for i := 0; err == nil && i < len(paths); i++ {
		if p.showing && unset(paths[i]) != "" {
			all = append(all, paths[i])
			continue
		}
		var found []string
		if found, err = nocopyc.Expand(schema.Disk, paths[i:i+1]); err != nil {
			return nil, p.wrong(values[i], "%w", err)
		}
		all = append(all, found...)
	}
	return all, err
}

// Files returns the IDL that goes with the command line: that of its target or of the project. It
// is empty if there is none.
func (u *Use) Files() (idlfiles.Files, error) {
	if u.Project == nil || len(u.idl) == 0 {
		return idlfiles.Files{}, nil
	}
	files, err := u.Project.files(u.idl)
	if err != nil {
		return idlfiles.Files{}, err
	}
	include, err := u.Project.resolve(u.include)
	return idlfiles.Files{IDL: files, Include: include}, err
}
