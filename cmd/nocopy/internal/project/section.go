package project

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v4"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/lint"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/target"
	"github.com/nocopythrift/nocopythrift/gen/audit"
	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/internal/nocopyc"
)

// Project is what a project file says.
type Project struct {
	Name string // of the file, in messages
	dir  string // its folder, absolute
	base string // its folder, as the working directory sees it

	idl, include []Value // paths
	Targets      map[string]*Target
	Lint         *lint.Config // nil if there is no such section
	lintIncludes []Value
	baseline     Value // of audit
	ignores      []audit.Ignore
	sections     map[string]section
	rows         []Row // all that is in the file
	showing      bool  // nothing is run: variables need not be set, and stay in texts then
}

// A section has the values of flags, by their names without a dash.
type section map[string][]Value

// Target is a server, or the same server in another environment.
type Target struct {
	Name         string
	address      Value
	idl, include []Value
	flags        section // of target.Connection; header has "name: value"
	Calls        []Call
}

// Address returns the target's address as the file has it.
func (t *Target) Address() string { return t.address.Text }

// Call is a call that the file keeps.
type Call struct {
	Name   string          `json:"name"`
	Method string          `json:"method"`
	Args   json.RawMessage `json:"args"`
}

// Row is a value of the file.
type Row struct {
	Key, Text    string
	Line, Column int
}

// Load returns the project that applies in the working directory; nil if there is none.
func Load() (*Project, error) {
	s, err := find()
	if s == nil || err != nil {
		return nil, err
	}
	return parse(s)
}

var topKeys = []string{"idl", "include", "targets", "lint", "audit", "gen"}

// parse reads a file.
func parse(s *source) (*Project, error) {
	p := &parser{name: s.shown, left: maxNodes}
	f := &Project{Name: s.shown, dir: s.dir, base: s.base, Targets: map[string]*Target{}, sections: map[string]section{}}
	if root := p.document(s.text); root != nil {
		p.mapping(root, "the file", topKeys, func(kv pair) { f.section(p, kv) })
		if len(p.errs) == 0 {
			p.left = maxNodes
			f.flatten(p, "", root)
		}
	}
	if len(p.errs) > 0 {
		return nil, &Error{p.errs}
	}
	return f, nil
}

// Error is what is wrong in a project file.
type Error struct{ errs []error }

func (e *Error) Error() string {
	var lines []string
	for _, err := range e.errs {
		lines = append(lines, err.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the mistakes, one for each line of Error.
func (e *Error) Unwrap() []error { return e.errs }

// wrong returns an error about a value.
func (f *Project) wrong(v Value, format string, args ...any) error {
	return &Error{[]error{fmt.Errorf("%s:%d:%d: "+format, append([]any{f.Name, v.Line, v.Column}, args...)...)}}
}

// section reads a key of the file.
func (f *Project) section(p *parser, kv pair) {
	switch kv.name {
	case "idl":
		f.idl = f.paths(p, kv)
	case "include":
		f.include = f.paths(p, kv)
	case "targets":
		p.mapping(kv.value, "targets", nil, func(t pair) { f.target(p, t) })
	case "lint":
		f.Lint = new(lint.Config)
		p.decode(kv.value, "lint", reflect.ValueOf(f.Lint).Elem())
		for _, dir := range f.Lint.Includes {
			v := Value{dir, kv.value.Line, kv.value.Column}
			f.checkPath(p, kv, v)
			f.lintIncludes = append(f.lintIncludes, v)
		}
		if _, err := f.Lint.Applies(); err != nil && len(p.errs) == 0 {
			p.fail(kv.key, "lint: %w", err)
		}
	default:
		f.passed(p, kv)
	}
}

// paths returns paths, which are relative to the file's folder and in it.
func (f *Project) paths(p *parser, kv pair) []Value {
	all := p.scalars(kv.value, kv.name)
	for _, v := range all {
		f.checkPath(p, kv, v)
	}
	return all
}

// checkPath reports a path that leaves the file's folder. One that begins with a variable is the
// user's own, and may be anywhere: what follows is below it.
func (f *Project) checkPath(p *parser, kv pair, v Value) {
	at := &yaml.Node{Line: v.Line, Column: v.Column}
	local := filepath.FromSlash(v.Text)
	name, below, own := variable(v.Text)
	own = own && strings.HasPrefix(v.Text, "${"+name+"}")
	switch err := checkVariables(v.Text); {
	case v.Text == "":
		p.fail(at, "%s has no value", kv.name)
	case len(v.Text) > maxPath:
		p.fail(at, "%s: %s is no path", kv.name, quoted(v.Text))
	case err != nil:
		p.fail(at, "%s: %w", kv.name, err)
	case strings.Contains(v.Text, "${") && !(own && (below == "" || isBelow(below))):
		p.fail(at, "%s: %s has a variable, which is the beginning of a path: ${%sDIR}/…, without ..", kv.name, quoted(v.Text), prefix)
	case own:
	case !filepath.IsLocal(local) || !f.inside(local):
		p.fail(at, "%s: %s is outside of the file's folder: write a variable, such as ${%sDIR}/…, which the user sets, or give the flag", kv.name, quoted(v.Text), prefix)
	}
}

// isBelow reports whether a path that follows another one with a slash is below it.
func isBelow(path string) bool {
	path, ok := strings.CutPrefix(path, "/")
	return ok && filepath.IsLocal(filepath.FromSlash(path)) && !strings.Contains(path, "${")
}

// maxPath bounds paths, in bytes: systems have no longer ones, and links are looked for in each
// part.
const maxPath = 4096

// inside reports whether a path is in the file's folder, also when its symbolic links are
// followed. What does not exist is where it would be made.
func (f *Project) inside(local string) bool {
	top, err := filepath.EvalSymlinks(f.dir)
	if err != nil {
		return false
	}
	for path := filepath.Join(f.dir, local); ; path = filepath.Dir(path) {
		real, err := filepath.EvalSymlinks(path)
		if err != nil && len(path) > len(f.dir) {
			if isLink(path) { // it leads nowhere, and a file could be made there
				return false
			}
			continue
		}
		rel, err := filepath.Rel(top, real)
		return err == nil && filepath.IsLocal(rel)
	}
}

// The keys of a target that are no flags, and the flags that are no keys: headers are a mapping.
var (
	targetKeys = []string{"address", "idl", "include", "headers", "calls", "environments"}
	notKeys    = []string{"header", "help"}
	pathKeys   = []string{"ca", "cert", "key"}
)

// connection returns the flags of target.Connection, by their names.
var connection = sync.OnceValue(func() map[string]*kong.Flag {
	app, err := kong.New(&struct{ target.Connection }{})
	if err != nil {
		panic(err) // a tag is wrong
	}
	all := map[string]*kong.Flag{}
	for _, flag := range app.Model.Flags {
		if !slices.Contains(notKeys, flag.Name) {
			all[flag.Name] = flag
		}
	}
	return all
})

// target reads a target and its environments.
func (f *Project) target(p *parser, kv pair) {
	if !isName(kv.name) {
		p.fail(kv.key, "the name of a target has letters, digits, - and _, not %s", quoted(kv.name))
		return
	}
	t := f.readTarget(p, kv, &Target{Name: kv.name}, true)
	if t.address.Text == "" && len(p.errs) == 0 {
		p.fail(kv.key, "target %s has no address", kv.name)
	}
}

// readTarget reads a target's keys. What it lacks is that of base.
func (f *Project) readTarget(p *parser, kv pair, base *Target, environments bool) *Target {
	t := *base
	t.flags = section{}
	maps.Copy(t.flags, base.flags)
	f.Targets[t.Name] = &t
	flags := connection()
	known := slices.Concat(targetKeys, slices.Sorted(maps.Keys(flags)))
	if !environments {
		known = slices.DeleteFunc(known, func(name string) bool { return name == "environments" })
	}
	var later []pair
	p.mapping(kv.value, "target "+t.Name, known, func(key pair) {
		switch key.name {
		case "address":
			t.address, _ = p.scalar(key.value, "address")
			err := checkVariables(t.address.Text)
			if err == nil {
				err = checkAddress(t.address.Text)
			}
			if err != nil {
				p.fail(key.value, "address: %w", err)
			}
		case "idl":
			t.idl = f.paths(p, key)
		case "include":
			t.include = f.paths(p, key)
		case "headers":
			t.headers(p, key)
		case "calls":
			t.Calls = nil
			p.mapping(key.value, "calls", nil, func(c pair) { t.call(p, c) })
		case "environments":
			later = append(later, key)
		default:
			f.flag(p, key, flags[key.name], t.flags)
		}
	})
	for _, key := range later {
		p.mapping(key.value, "environments", nil, func(e pair) {
			if !isName(e.name) {
				p.fail(e.key, "the name of an environment has letters, digits, - and _, not %s", quoted(e.name))
				return
			}
			own := t
			own.Name = t.Name + "@" + e.name
			f.readTarget(p, e, &own, false)
		})
	}
	return &t
}

// flag reads the value of a flag.
func (f *Project) flag(p *parser, key pair, flag *kong.Flag, to section) {
	v, ok := p.scalar(key.value, key.name)
	if !ok {
		return
	}
	if slices.Contains(pathKeys, key.name) {
		f.checkPath(p, key, v)
		to[key.name] = []Value{v}
		return
	}
	name, rest, isVariable := variable(v.Text)
	switch err := checkVariables(v.Text); {
	case err != nil:
		p.fail(key.value, "%s: %w", key.name, err)
		return
	case key.name == "password" && (!isVariable || rest != ""):
		p.fail(key.value, "a password in the file can be read by all who have the file: write a variable, such as ${%sPASSWORD}", prefix)
		return
	case isVariable && name != "":
		// It is checked when it is used
	default:
		if err := checkFlag(flag, v.Text); err != nil {
			p.fail(key.value, "%w", err)
			return
		}
	}
	to[key.name] = []Value{v}
}

// checkFlag returns what is wrong with a value of a flag.
func checkFlag(flag *kong.Flag, text string) error {
	scratch := reflect.New(flag.Target.Type()).Elem()
	if err := flag.Parse(kong.Scan().PushTyped(text, kong.FlagValueToken), scratch); err != nil {
		return fmt.Errorf("%s: %s", flag.Name, strings.TrimPrefix(err.Error(), flag.ShortSummary()+": "))
	}
	if enum := flag.EnumSlice(); flag.Enum != "" && !slices.Contains(enum, text) {
		return fmt.Errorf("%s is %s, not %s", flag.Name, strings.Join(enum, ", "), quoted(text))
	}
	return nil
}

// headers reads headers, which are a mapping.
func (t *Target) headers(p *parser, kv pair) {
	delete(t.flags, "header")
	p.mapping(kv.value, "headers", nil, func(h pair) {
		v, ok := p.scalar(h.value, h.name)
		err := checkVariables(v.Text)
		if err == nil {
			err = checkHeader(h.name, v.Text)
		}
		switch {
		case !ok:
		case h.name == "" || strings.ContainsAny(h.name, ": \t\r\n"):
			p.fail(h.key, "%s is no name of a header", quoted(h.name))
		case err != nil:
			p.fail(h.value, "%s: %w", h.name, err)
		default:
			v.Text = h.name + ": " + v.Text
			t.flags["header"] = append(t.flags["header"], v)
		}
	})
}

// call reads a call.
func (t *Target) call(p *parser, kv pair) {
	c := Call{Name: kv.name, Args: json.RawMessage("{}")}
	p.mapping(kv.value, "call "+kv.name, []string{"method", "args"}, func(key pair) {
		if key.name == "method" {
			v, _ := p.scalar(key.value, "method")
			c.Method = v.Text
			return
		}
		var args map[string]any
		if !p.count(key.value) {
			return
		}
		err := key.value.Decode(&args)
		if err == nil {
			c.Args, err = json.Marshal(args)
		}
		if err != nil {
			p.fail(key.value, "the arguments of call %s are no JSON object", kv.name)
		}
	})
	if c.Method == "" && len(p.errs) == 0 {
		p.fail(kv.key, "call %s has no method", kv.name)
	}
	t.Calls = append(t.Calls, c)
}

// isName reports whether a text can be the name of a target: no address is like it.
func isName(name string) bool {
	return name != "" && !strings.HasPrefix(name, "-") && !strings.ContainsFunc(name, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_')
	})
}

// isTargetName reports whether a text can name a target or one of its environments.
func isTargetName(text string) bool {
	name, environment, _ := strings.Cut(text, "@")
	return isName(name) && (environment == "" || isName(environment))
}

// keyNames are the keys of sections for flags that have one letter.
var keyNames = map[string]string{"o": "out", "r": "recursive"}

// passed reads a section for a command that parses its arguments itself: gen or audit.
func (f *Project) passed(p *parser, kv pair) {
	set, to := nocopyc.Flags(kv.name), section{}
	set.SetOutput(io.Discard)
	flags, known := map[string]string{}, []string{}
	if kv.name == "audit" {
		known = append(known, "baseline", "ignore")
	}
	set.VisitAll(func(fl *flag.Flag) {
		switch {
		case slices.Contains([]string{"I", "check", "version", "json", "format", "against", "rules"}, fl.Name):
			// It is no setting of a project
		case keyNames[fl.Name] != "":
			flags[keyNames[fl.Name]] = fl.Name
		default:
			flags[fl.Name] = fl.Name
		}
	})
	known = append(known, slices.Sorted(maps.Keys(flags))...)
	p.mapping(kv.value, kv.name, known, func(key pair) {
		if key.name == "ignore" {
			f.readIgnores(p, key)
			return
		}
		v, ok := p.scalar(key.value, key.name)
		if !ok {
			return
		}
		switch name := flags[key.name]; {
		case key.name == "baseline":
			if f.baseline = v; strings.HasPrefix(v.Text, "-") || v.Text == "" {
				p.fail(key.value, "%s is neither a revision of git nor a path", quoted(v.Text))
			} else if local := filepath.FromSlash(v.Text); !filepath.IsLocal(local) || strings.HasPrefix(local, ".") || exists(filepath.Join(f.dir, local)) || strings.Contains(local, "${") {
				f.checkPath(p, key, v)
			}
			return
		case name == "o" || strings.HasPrefix(name, "I"):
			f.checkPath(p, key, v)
		default:
			if err := checkVariables(v.Text); err != nil {
				p.fail(key.value, "%s: %w", key.name, err)
			} else if name == "policy" && !slices.Contains(audit.Policies, audit.Policy(v.Text)) {
				p.fail(key.value, "%s", nocopyc.NoPolicy(shortened(v.Text, 60)))
			} else if err := set.Set(name, v.Text); err != nil {
				p.fail(key.value, "%s: %s is no value for it", key.name, quoted(v.Text))
			}
		}
		to[flags[key.name]] = []Value{v}
	})
	f.sections[kv.name] = to
}

// readIgnores reads the findings that audit leaves out.
func (f *Project) readIgnores(p *parser, kv pair) {
	list, ok := p.enter(kv.value)
	defer p.leave()
	if ok && list.Kind != yaml.SequenceNode {
		p.fail(kv.value, "ignore is a list of path, rule and reason, not %s", kind(list))
		return
	}
	for _, n := range list.Content {
		errs := len(p.errs)
		g := audit.Ignore{Dir: f.dir, Pos: idl.Position{Filename: p.name, Line: n.Line, Column: n.Column}}
		texts := map[string]*string{"path": &g.Path, "rule": &g.Rule, "reason": &g.Reason}
		p.mapping(n, "ignore", []string{"path", "rule", "reason"}, func(key pair) {
			v, _ := p.scalar(key.value, key.name)
			*texts[key.name] = v.Text
		})
		if err := g.Check(); err != nil && len(p.errs) == errs {
			p.fail(n, "%w", err)
		}
		f.ignores = append(f.ignores, g)
	}
}

// flatten lists the values of the file with their keys.
func (f *Project) flatten(p *parser, key string, n *yaml.Node) {
	at := n
	n, ok := p.enter(n)
	defer p.leave()
	switch {
	case !ok:
	case n.Kind == yaml.ScalarNode:
		f.rows = append(f.rows, Row{key, n.Value, at.Line, at.Column})
	case n.Kind == yaml.SequenceNode:
		for i, each := range n.Content {
			f.flatten(p, fmt.Sprintf("%s[%d]", key, i), each)
		}
	case n.Kind == yaml.MappingNode:
		for _, kv := range p.pairs(n) {
			f.flatten(p, strings.TrimPrefix(key+"."+kv.name, "."), kv.value)
		}
	}
}
