package audit

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// An Ignore says that findings at a path are accepted, and why.
type Ignore struct {
	// Path is a file, a folder with a slash in its name, a symbol such as Order.note, or both, as in
	// idl/shop.thrift:Order.note. It stands for all that is in it.
	Path string
	// Rule is the kind of the findings, all kinds if it is "".
	Rule string
	// Reason is for people.
	Reason string
	// Dir is the folder that a file's path begins in, and Pos is where the Ignore is written.
	Dir string
	Pos idl.Position
	// Matched is the number of findings that Compare has left out for it.
	Matched int
}

// Check returns what is wrong with an Ignore.
func (g *Ignore) Check() error {
	file, symbol, both := cutPath(g.Path)
	switch {
	case g.Path == "":
		return errors.New("an ignore needs a path: a file, file:Struct or Struct.field")
	case both && (file == "" || symbol == ""), strings.HasPrefix(symbol, "."), strings.HasSuffix(symbol, "."):
		return fmt.Errorf("path %q of an ignore is neither a file, nor file:Struct or Struct.field", short(g.Path))
	case g.Rule != "" && !slices.Contains(kinds(), g.Rule):
		hint := "audit -rules lists them"
		if near := idl.Nearest(g.Rule, kinds()); near != "" {
			hint = "did you mean " + near + "?"
		}
		return fmt.Errorf("audit has no rule %q, %s", short(g.Rule), hint)
	case !strings.ContainsFunc(g.Reason, unicode.IsLetter):
		return fmt.Errorf("the ignore of %s needs a reason: why may this break?", short(g.Path))
	}
	return nil
}

// Unused returns the warning that nothing has matched an Ignore.
func (g *Ignore) Unused() *idl.Error {
	what := short(g.Path)
	if g.Rule != "" {
		what += " (" + g.Rule + ")"
	}
	return &idl.Error{Pos: g.Pos, Msg: "nothing is broken that the ignore of " + what + " allows: remove it"}
}

// cutPath returns the file and the symbol of an Ignore's path. both reports whether it says that
// it has both.
func cutPath(path string) (file, symbol string, both bool) {
	if i := strings.LastIndexByte(path, ':'); i >= 0 {
		return path[:i], path[i+1:], true
	}
	if strings.HasSuffix(path, ".thrift") || strings.ContainsAny(path, `/\`) {
		return path, "", false
	}
	return "", path, false
}

// ignored counts and reports that a change is accepted.
func (c *comparer) ignored(kind string, at change) (found bool) {
	for _, g := range c.opt.Ignores {
		if g.Rule != "" && g.Rule != kind {
			continue
		}
		file, symbol, _ := cutPath(g.Path)
		if file != "" {
			file = c.realPath(filepath.Join(g.Dir, filepath.FromSlash(file)))
			if !within(c.realPath(at.old.Filename), file) && !within(c.realPath(at.new.Filename), file) {
				continue
			}
		}
		if symbol == "" || covers(symbol, at.symbol) || covers(symbol, cmp.Or(at.path, at.symbol)) {
			g.Matched++
			found = true
		}
	}
	return found
}

// within reports whether a path is a file or folder, or in it.
func within(name, of string) bool {
	return name == of || strings.HasPrefix(name, of+string(filepath.Separator))
}

// covers reports whether a symbol is another one or around it. Arguments and exceptions of a
// method are in it.
func covers(symbol, of string) bool {
	rest, ok := strings.CutPrefix(of, symbol)
	switch {
	case !ok:
		return false
	case rest == "" || rest[0] == '.':
		return true
	}
	isMethod := strings.Contains(symbol, ".")
	return isMethod && (strings.HasPrefix(rest, "_args.") || strings.HasPrefix(rest, "_exception."))
}

// realPath is the function of that name, for few different paths.
func (c *comparer) realPath(name string) string {
	real, ok := c.real[name]
	if !ok {
		real = name
		if abs, err := realPath(name); err == nil {
			real = abs
		}
		c.real[name] = real
	}
	return real
}
