// Package describe is the command that lists which services, methods and types there are.
package describe

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/idlfiles"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/target"
	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
)

// Command describes a server or IDL.
type Command struct {
	Address string `arg:"" optional:"" help:"The server: HOST:PORT, a URL, or the path of a unix socket. Or a bundle. Not with -idl."`
	Name    string `arg:"" optional:"" help:"A service, Service.method, struct, union, exception, enum, typedef or constant; without, all services and methods, typedefs and constants."`
	Files   string `name:"save" help:"Write the .thrift files to this folder, which must not exist." placeholder:"DIR"`

	shell.Format
	IDL idlfiles.Files `embed:""`
	target.Connection
}

// Help is the end of the command's help text.
func (Command) Help() string {
	return `Servers of nocopythrift tell their IDL if Describe is set and nocopyc -reflect generated their code.
Servers on Apache's library return a bundle, those of fbthrift metadata. With -idl FILE, or a bundle,
files are described instead of a server.

Examples:
  nocopy describe localhost:9090
  nocopy describe localhost:9090 Store.get
  nocopy describe localhost:9090 -save idl
  nocopy describe -idl store.thrift Item
  nocopy describe store.bundle`
}

// Run is called by the parser.
func (c *Command) Run(sh *shell.Shell) error {
	idl, err := c.loadIDL()
	if err != nil {
		return err
	}
	wire := ""
	if idl == nil {
		if c.Address == "" {
			return shell.WithCode(shell.Usage, fmt.Errorf("what is to be described? Give HOST:PORT, or files with -idl"))
		}
		server, err := c.Connect(sh.Ctx, c.Address, true)
		if err != nil {
			return err
		}
		server.Close()
		if server.Description == nil {
			return fmt.Errorf("%s speaks %s; describe files with -idl: %w", target.Shown(c.Address), server.Wire, server.NotDescribed)
		}
		if idl, err = idlfiles.Of(server.Description); err != nil {
			return err
		}
		wire = server.Wire
	} else if c.Address != "" { // then it is the name
		if c.Name != "" || isAddress(c.Address) {
			return shell.WithCode(shell.Usage, fmt.Errorf("with -idl no server is asked: leave %s away", c.Address))
		}
		c.Name = c.Address
	}
	if c.Files != "" {
		return save(sh, c.Files, idl.Files)
	}
	if c.JSON() {
		return c.printJSON(sh, idl, wire)
	}
	if c.Name != "" {
		text, err := define(idl, c.Name)
		if err != nil {
			return err
		}
		fmt.Fprint(sh.Out, text)
		return nil
	}
	if wire != "" {
		fmt.Fprintf(sh.Out, "# %s\n", wire)
	}
	for _, s := range idl.Services {
		fmt.Fprint(sh.Out, serviceText(sh, idl, s))
	}
	for _, p := range idl.Set().Roots {
		for _, t := range p.Typedefs {
			fmt.Fprintln(sh.Out, typedefText(t))
		}
		for _, c := range p.Consts {
			if found, err := idl.Schema.Const(p.Name + "." + c.Name); err == nil {
				fmt.Fprintln(sh.Out, short(constText(found)))
			}
		}
	}
	return nil
}

// loadIDL loads the files that the command line names; nil if it names none. A bundle may stand
// where the server's address does.
func (c *Command) loadIDL() (*idlfiles.IDL, error) {
	if idlfiles.IsBundle(c.Address) {
		c.IDL.IDL, c.Address, c.Name = append(c.IDL.IDL, c.Address), c.Name, ""
	}
	return c.IDL.Load()
}

// isAddress reports whether text is a server's address. Names have neither slashes nor ports.
func isAddress(text string) bool {
	_, err := strconv.ParseUint(text[strings.LastIndexByte(text, ':')+1:], 10, 16)
	return err == nil || strings.Contains(text, "/") || strings.HasPrefix(text, "unix:")
}

// save writes files, whose paths a server may have made up, to a new folder.
func save(sh *shell.Shell, dir string, files map[string]string) error {
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	var names []string
	for name := range files {
		if !filepath.IsLocal(filepath.FromSlash(name)) || strings.ContainsAny(name, "\x00\\") {
			return fmt.Errorf("a file is called %q, which is not inside of the folder", name)
		}
		if path.Ext(name) != ".thrift" || strings.HasPrefix(name, ".") || strings.Contains(name, "/.") {
			return fmt.Errorf("a file is called %q: only those are written that end with .thrift, and of whose path no part begins with a dot", name)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		local := filepath.FromSlash(name)
		if err := root.MkdirAll(filepath.Dir(local), 0o777); err != nil {
			return err
		}
		if err := root.WriteFile(local, []byte(files[name]), 0o666); err != nil {
			return err
		}
		fmt.Fprintln(sh.Out, shell.OneLine(filepath.Join(dir, local)))
	}
	return nil
}

// serviceText returns a service's methods, one a line.
func serviceText(sh *shell.Shell, idl *idlfiles.IDL, s dynamic.Service) string {
	var b strings.Builder
	b.WriteString("service " + shell.Paint(sh.Color, shell.Bold, s.Name()))
	if base, ok := s.Base(); ok {
		b.WriteString(" extends " + base.Name())
	}
	b.WriteString(" {")
	if name := idl.Multiplexed[s.Name()]; name != "" {
		fmt.Fprintf(&b, " // multiplexed as %q", name)
	}
	b.WriteString("\n")
	for m := range s.AllMethods() {
		b.WriteString("  " + methodText(m) + "\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// methodText returns a method as the IDL has it.
func methodText(m descriptor.Method) string {
	returns := "void"
	if t, ok := m.Returns(); ok {
		returns = t.String()
	}
	if m.Oneway() {
		returns = "oneway void"
	}
	text := returns + " " + m.Name() + "(" + fieldsText(m.Args()) + ")"
	var thrown []string
	for f := range m.Throws() {
		thrown = append(thrown, fieldText(f))
	}
	if len(thrown) > 0 {
		text += " throws (" + strings.Join(thrown, ", ") + ")"
	}
	return text
}

func fieldsText(s descriptor.Struct) string {
	var all []string
	for f := range s.Fields() {
		all = append(all, fieldText(f))
	}
	return strings.Join(all, ", ")
}

func fieldText(f descriptor.Field) string {
	req := map[descriptor.Requiredness]string{descriptor.Required: "required ", descriptor.Optional: "optional "}[f.Requiredness()]
	if f.Struct().Shape() == descriptor.ShapeUnion {
		req = ""
	}
	text := fmt.Sprintf("%d: %s%s %s", f.ID(), req, f.Type(), f.Name())
	if v, ok := defaultOf(f); ok {
		text += " = " + valueText(v)
	}
	return text
}

// define returns the definition of a name, with its comments.
func define(idl *idlfiles.IDL, name string) (string, error) {
	if t, err := idl.Schema.Struct(name); err == nil {
		return structText(t.Struct), nil
	}
	if e, err := idl.Schema.Enum(name); err == nil {
		var b strings.Builder
		b.WriteString(comment("", e.Doc()) + "enum " + e.Name() + " {\n")
		for v := range e.Values() {
			fmt.Fprintf(&b, "%s  %s = %d\n", comment("  ", v.Doc()), v.Name(), v.Number())
		}
		b.WriteString("}\n")
		return b.String(), nil
	}
	if s, err := idl.Schema.Service(name); err == nil {
		var b strings.Builder
		b.WriteString(comment("", s.Doc()) + "service " + s.Name() + " {\n")
		for m := range s.AllMethods() {
			b.WriteString(comment("  ", m.Doc()) + "  " + methodText(m) + "\n")
		}
		b.WriteString("}\n")
		return b.String(), nil
	}
	if c, err := idl.Schema.Const(name); err == nil {
		return comment("", c.Doc()) + constText(c) + "\n", nil
	}
	if t := typedefOf(idl, name); t != nil {
		return comment("", t.Doc) + typedefText(t) + "\n", nil
	}
	_, m, err := idl.Method(name)
	if err != nil {
		return "", unknown(idl, name, err)
	}
	return comment("", m.Doc()) + methodText(m) + "\n", nil
}

// unknown returns the error for a name that nothing has.
func unknown(idl *idlfiles.IDL, name string, err error) error {
	if meant := idlfiles.Nearest(name, names(idl)); meant != "" {
		return fmt.Errorf("no service, method, type or constant is called %s, did you mean %s?", name, meant)
	}
	return fmt.Errorf("no service, method, type or constant is called %s: %w", name, err)
}

func structText(s descriptor.Struct) string {
	var b strings.Builder
	b.WriteString(comment("", s.Doc()) + s.Shape().String() + " " + s.Name() + " {\n")
	for f := range s.Fields() {
		b.WriteString(comment("  ", f.Doc()) + "  " + fieldText(f) + "\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// comment returns a comment as lines. A server may have made it up: control characters are
// replaced.
func comment(indent, text string) string {
	if text == "" {
		return ""
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(indent + "// " + shell.Printable(strings.TrimRight(line, "\n")) + "\n")
	}
	return b.String()
}

// The forms of -format json.
type (
	description struct {
		Wire      string        `json:"wire,omitempty"`
		Services  []serviceJSON `json:"services"`
		Typedefs  []aliasJSON   `json:"typedefs,omitempty"`
		Constants []aliasJSON   `json:"constants,omitempty"`
	}
	// aliasJSON is a typedef, or a constant with its value.
	aliasJSON struct {
		Name  string `json:"name"`
		Kind  string `json:"kind"`
		Doc   string `json:"doc,omitempty"`
		Type  string `json:"type"`
		Value any    `json:"value,omitempty"`
	}
	serviceJSON struct {
		Name        string       `json:"name"`
		Multiplexed string       `json:"multiplexed,omitempty"`
		Doc         string       `json:"doc,omitempty"`
		Methods     []methodJSON `json:"methods"`
	}
	methodJSON struct {
		Name    string      `json:"name"`
		Doc     string      `json:"doc,omitempty"`
		Oneway  bool        `json:"oneway,omitempty"`
		Returns string      `json:"returns,omitempty"`
		Args    []fieldJSON `json:"args"`
		Throws  []fieldJSON `json:"throws,omitempty"`
	}
	fieldJSON struct {
		ID       int16  `json:"id"`
		Name     string `json:"name"`
		Type     string `json:"type"`
		Presence string `json:"presence,omitempty"`
		Default  any    `json:"default,omitempty"`
		Doc      string `json:"doc,omitempty"`
	}
	structJSON struct {
		Name   string      `json:"name"`
		Kind   string      `json:"kind"`
		Doc    string      `json:"doc,omitempty"`
		Fields []fieldJSON `json:"fields,omitempty"`
		Values []valueJSON `json:"values,omitempty"`
	}
	valueJSON struct {
		Name  string `json:"name"`
		Value int32  `json:"value"`
		Doc   string `json:"doc,omitempty"`
	}
)

func fieldOf(f descriptor.Field) fieldJSON {
	presence := map[descriptor.Requiredness]string{descriptor.Required: "required", descriptor.Optional: "optional"}[f.Requiredness()]
	var value any
	if v, ok := defaultOf(f); ok {
		value = jsonOf(v)
	}
	return fieldJSON{f.ID(), f.Name(), f.Type().String(), presence, value, f.Doc()}
}

func methodOf(m descriptor.Method) methodJSON {
	j := methodJSON{Name: m.Name(), Doc: m.Doc(), Oneway: m.Oneway(), Args: []fieldJSON{}}
	if t, ok := m.Returns(); ok {
		j.Returns = t.String()
	}
	for f := range m.Args().Fields() {
		j.Args = append(j.Args, fieldOf(f))
	}
	for f := range m.Throws() {
		j.Throws = append(j.Throws, fieldOf(f))
	}
	return j
}

func serviceOf(idl *idlfiles.IDL, s dynamic.Service) serviceJSON {
	j := serviceJSON{Name: s.Name(), Multiplexed: idl.Multiplexed[s.Name()], Doc: s.Doc(), Methods: []methodJSON{}}
	for m := range s.AllMethods() {
		j.Methods = append(j.Methods, methodOf(m))
	}
	return j
}

func (c *Command) printJSON(sh *shell.Shell, idl *idlfiles.IDL, wire string) error {
	if c.Name == "" {
		d := description{Wire: wire, Services: []serviceJSON{}}
		for _, s := range idl.Services {
			d.Services = append(d.Services, serviceOf(idl, s))
		}
		for _, p := range idl.Set().Roots {
			for _, t := range p.Typedefs {
				d.Typedefs = append(d.Typedefs, typedefJSON(t))
			}
			for _, c := range p.Consts {
				if found, err := idl.Schema.Const(p.Name + "." + c.Name); err == nil {
					d.Constants = append(d.Constants, constJSON(found))
				}
			}
		}
		return sh.WriteJSON(d)
	}
	if t, err := idl.Schema.Struct(c.Name); err == nil {
		j := structJSON{Name: t.Name(), Kind: t.Shape().String(), Doc: t.Doc()}
		for f := range t.Fields() {
			j.Fields = append(j.Fields, fieldOf(f))
		}
		return sh.WriteJSON(j)
	}
	if e, err := idl.Schema.Enum(c.Name); err == nil {
		j := structJSON{Name: e.Name(), Kind: "enum", Doc: e.Doc()}
		for v := range e.Values() {
			j.Values = append(j.Values, valueJSON{v.Name(), v.Number(), v.Doc()})
		}
		return sh.WriteJSON(j)
	}
	if s, err := idl.Schema.Service(c.Name); err == nil {
		return sh.WriteJSON(serviceOf(idl, s))
	}
	if found, err := idl.Schema.Const(c.Name); err == nil {
		return sh.WriteJSON(constJSON(found))
	}
	if t := typedefOf(idl, c.Name); t != nil {
		return sh.WriteJSON(typedefJSON(t))
	}
	_, m, err := idl.Method(c.Name)
	if err != nil {
		return unknown(idl, c.Name, err)
	}
	return sh.WriteJSON(methodOf(m))
}

func typedefJSON(t *schema.Typedef) aliasJSON {
	return aliasJSON{Name: t.Name, Kind: "typedef", Doc: t.Doc, Type: t.Type.String()}
}

func constJSON(c dynamic.Const) aliasJSON {
	return aliasJSON{Name: c.Name(), Kind: "const", Doc: c.Doc(), Type: c.Type().String(), Value: jsonOf(c.Value())}
}
