// Package complete is the command that tells shells how a command line may go on, and the one that
// prints their scripts.
//
// The libraries for kong complete its own flags only, with two dashes, and no flags of gen, audit
// and the like. Methods and fields are none of a parser's business.
package complete

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/idlfiles"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/invoke"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/project"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/target"
	"github.com/nocopythrift/nocopythrift/internal/command"
	"github.com/nocopythrift/nocopythrift/internal/nocopyc"
)

// Command prints how a command line may go on, one possibility a line: the word, a tab, and what
// it is. A last line ":files" says that names of files may follow, too. Scripts of shells call it.
type Command struct {
	Args []string `arg:"" optional:""`

	// Set before the command runs: the tool's commands, and a function that parses a command line.
	Model *kong.Application                                        `kong:"-"`
	Parse func(args []string) (*kong.Context, *project.Use, error) `kong:"-"`
}

// Help is the end of the command's help text.
func (Command) Help() string { return "Example:\n  nocopy complete call shop ''" }

// patience is how long a server may take to tell its methods.
const patience = 2 * time.Second

// Run is called by the parser. The arguments are the words after "nocopy"; the last one is to be
// completed. With -line they are one text: the command line as bash has it, and the characters
// that end words there.
func (c *Command) Run(sh *shell.Shell) error {
	args, trim := c.Args, ""
	if len(args) == 3 && args[0] == "-line" {
		var ok bool
		if args, ok = split(args[1]); !ok || len(args) < 2 {
			return nil // in quotes
		}
		last := args[len(args)-1]
		trim = last[:strings.LastIndexAny(last, c.Args[2])+1]
		args = args[1:]
	}
	if len(args) == 0 {
		args = []string{""}
	}
	ctx, cancel := context.WithTimeout(sh.Ctx, 2*patience)
	defer cancel()
	l := &list{Command: c, ctx: ctx}
	l.line(args[:len(args)-1], args[len(args)-1])
	return l.print(sh.Out, args[len(args)-1], trim)
}

// A list collects possibilities.
type list struct {
	*Command
	ctx   context.Context
	words []word
	files bool
}

type word struct{ text, about string }

func (l *list) add(text, about string) { l.words = append(l.words, word{text, about}) }

// print prints the words that begin as the last one of the command line does, without what bash
// does not replace. Names that a shell would not take as they are, such as some of a server's
// JSON, are left out: bash does not quote what it completes.
func (l *list) print(w io.Writer, begin, trim string) error {
	for _, word := range l.words {
		if !strings.HasPrefix(word.text, begin) || command.ShellQuoted(word.text) != word.text {
			continue
		}
		about, _, _ := strings.Cut(word.about, "\n")
		if _, err := fmt.Fprintf(w, "%s\t%s\n", shell.OneLine(strings.TrimPrefix(word.text, trim)), strings.ReplaceAll(shell.OneLine(about), "\t", " ")); err != nil {
			return err
		}
	}
	if l.files {
		_, err := fmt.Fprintln(w, ":files")
		return err
	}
	return nil
}

// line completes a command line: last is the word that is written, before are those before it.
func (l *list) line(before []string, last string) {
	if len(before) == 0 || before[0] == "help" {
		for _, node := range l.Model.Children {
			if !node.Hidden && len(before) < 2 {
				l.add(node.Name, node.Help)
			}
		}
		if len(before) == 0 && strings.HasPrefix(last, "-") {
			l.flags(l.Model.Flags)
		}
		return
	}
	i := slices.IndexFunc(l.Model.Children, func(n *kong.Node) bool { return n.Name == before[0] })
	switch {
	case i < 0:
	case before[0] == "config":
		l.config(before[1:], last)
	case l.Model.Children[i].Passthrough:
		l.passed(before[0], before[1:], last)
	default:
		l.command(l.Model.Children[i], before, last)
	}
}

// flags adds flags.
func (l *list) flags(all []*kong.Flag) {
	for _, f := range all {
		if !f.Hidden {
			l.add("-"+f.Name, f.Help)
		}
	}
}

// config completes the arguments of nocopy config.
func (l *list) config(before []string, last string) {
	i := slices.IndexFunc(before, func(w string) bool { return !strings.HasPrefix(w, "-") })
	switch {
	case slices.Contains(before, "-allow"):
		l.targets()
	case i >= 0:
		l.line(before[i:], last)
	case strings.HasPrefix(last, "-"):
		l.add("-allow", "Allow the targets to send the variables that they name")
		l.add("-format", "Form of the output: text or json")
	default:
		l.line(nil, last)
	}
}

// targets adds the targets of the project file.
func (l *list) targets() {
	p, err := project.Load()
	if err != nil || p == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(p.Targets)) {
		l.add(name, p.Targets[name].Address())
	}
}

// passed completes a command that parses its arguments itself.
func (l *list) passed(name string, before []string, last string) {
	set := nocopyc.Flags(name)
	if set == nil {
		return
	}
	if len(before) > 0 && !strings.HasPrefix(last, "-") {
		f := set.Lookup(strings.TrimLeft(before[len(before)-1], "-"))
		if isBool, ok := flagValue(f).(interface{ IsBoolFlag() bool }); f != nil && strings.HasPrefix(before[len(before)-1], "-") && !(ok && isBool.IsBoolFlag()) {
			if l.value(f.Usage); f.Name == "against" {
				l.targets()
			}
			return
		}
	}
	if strings.HasPrefix(last, "-") {
		set.VisitAll(func(f *flag.Flag) { l.add("-"+f.Name, strings.ReplaceAll(f.Usage, "`", "")) })
		return
	}
	l.files = true
}

func flagValue(f *flag.Flag) flag.Value {
	if f == nil {
		return nil
	}
	return f.Value
}

// value adds the values that the usage of a flag lists, as in "form: text, json, or github"; else
// files.
func (l *list) value(usage string) {
	_, rest, ok := strings.Cut(usage, ": ")
	if !ok {
		l.files = true
		return
	}
	last := false
	for text := range strings.FieldsFuncSeq(rest, func(r rune) bool { return r == ',' || r == ' ' }) {
		if text == "or" {
			last = true
			continue
		}
		if l.add(text, ""); last || len(l.words) == 4 {
			return
		}
	}
}

// command completes the arguments of a command. line is the command line with its name.
func (l *list) command(node *kong.Node, line []string, last string) {
	operands, open := operandsOf(node, line[1:])
	switch {
	case open != nil && open.PlaceHolder == "METHOD":
		l.methods(l.idl(line[:len(line)-1]), last)
		return
	case open != nil:
		l.flagValue(open, "")
		return
	}
	if strings.HasPrefix(last, "-") {
		if name, _, ok := strings.Cut(last, "="); ok {
			if f := flagNamed(node, name); f != nil {
				l.flagValue(f, name+"=")
			}
			return
		}
		l.flags(node.Flags)
		return
	}
	i := min(len(operands), len(node.Positional)-1)
	if i < 0 {
		return
	}
	switch name := node.Positional[i].Name; name {
	case "address":
		l.targets()
		if node.Name == "describe" {
			l.names(l.idl(line))
		}
	case "method":
		l.methods(l.idl(line), last)
	case "name":
		l.names(l.idl(line))
	case "args":
		l.arguments(l.idl(line), operands, last)
	case "shell":
		l.enum(node.Positional[i].Enum, "")
	default:
		l.files = true
	}
}

// operandsOf returns the words that are neither flags nor their values. open is the flag whose
// value the next word is.
func operandsOf(node *kong.Node, words []string) (operands []string, open *kong.Flag) {
	for i := 0; i < len(words); i++ {
		if !strings.HasPrefix(words[i], "-") {
			operands = append(operands, words[i])
			continue
		}
		f := flagNamed(node, words[i])
		if f == nil || f.IsBool() || strings.Contains(words[i], "=") {
			continue
		}
		if i++; i == len(words) {
			return operands, f
		}
	}
	return operands, nil
}

// flagNamed returns the flag that a word is.
func flagNamed(node *kong.Node, word string) *kong.Flag {
	name := strings.TrimLeft(word, "-")
	for _, f := range node.Flags {
		if f.Name == name || f.Short != 0 && string(f.Short) == name {
			return f
		}
	}
	return nil
}

// flagValue completes the value of a flag, after begin.
func (l *list) flagValue(f *kong.Flag, begin string) {
	switch {
	case f.Enum != "":
		l.enum(f.Enum, begin)
	case f.IsBool():
		l.enum("true,false", begin)
	default:
		l.files = begin == "" && slices.Contains([]string{"FILE", "DIR", "JSON"}, f.PlaceHolder)
	}
}

func (l *list) enum(values, begin string) {
	for v := range strings.SplitSeq(values, ",") {
		l.add(begin+strings.TrimSpace(v), "")
	}
}

// idl returns the IDL for a command line: that of its flags or the project, else what the server
// tells. It is nil if there is none.
func (l *list) idl(line []string) *idlfiles.IDL {
	parsed, use, err := l.Parse(line) // which is not complete, perhaps
	if parsed == nil || use == nil || parsed.Selected() == nil {
		return nil
	}
	node := parsed.Selected()
	files, conn := find[idlfiles.Files](node.Target), find[target.Connection](node.Target)
	if files == nil {
		return nil
	}
	if len(files.IDL) == 0 { // a variable may be missing that only a call needs
		if own, err := use.Files(); err == nil {
			*files = own
		}
	}
	if idl, err := files.Load(); err != nil || idl != nil || conn == nil {
		return idl
	}
	// What it would send is not allowed, perhaps.
	if file := (*project.Error)(nil); errors.As(err, &file) {
		return nil
	}
	address := ""
	for _, p := range node.Positional {
		if p.Name == "address" {
			address = p.Target.String()
		}
	}
	conn.Timeout = min(cmp.Or(conn.Timeout, patience), patience)
	server, err := conn.Connect(l.ctx, address, true)
	if err != nil {
		return nil
	}
	defer server.Close()
	idl, err := idlfiles.Told(server)
	if err != nil {
		return nil
	}
	return idl
}

// find returns the struct of a type among the fields of v; nil if there is none.
func find[T any](v reflect.Value) *T {
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		if found, ok := v.Field(i).Addr().Interface().(*T); ok {
			return found
		}
	}
	return nil
}

// methods adds methods: by the name alone where only one service has it, and with the service's.
func (l *list) methods(idl *idlfiles.IDL, last string) {
	if idl == nil {
		return
	}
	for _, s := range idl.Services {
		for m := range s.AllMethods() {
			full := s.Name() + "." + m.Name()
			found, err := invoke.Find(idl, full, "", 0)
			if err != nil {
				continue
			}
			about := found.Signature()
			if _, err := invoke.Find(idl, m.Name(), "", 0); err == nil {
				if !slices.Contains(l.words, word{m.Name(), about}) {
					l.add(m.Name(), about)
				}
				if last == "" {
					continue
				}
			}
			l.add(full, about)
			if strings.Contains(last, ":") {
				l.add(s.Name()+":"+m.Name(), about)
			}
			if name := idl.Multiplexed[s.Name()]; name != "" {
				l.add(name+":"+m.Name(), about)
			}
		}
	}
}

// names adds what nocopy describe describes.
func (l *list) names(idl *idlfiles.IDL) {
	if idl == nil {
		return
	}
	for _, s := range idl.Services {
		l.add(s.Name(), "service")
		for m := range s.AllMethods() {
			l.add(s.Name()+"."+m.Name(), "method")
		}
	}
	for _, p := range idl.Set().Roots {
		for _, t := range p.Structs {
			l.add(t.Name, "struct")
		}
		for _, t := range p.Enums {
			l.add(t.Name, "enum")
		}
		for _, t := range p.Typedefs {
			l.add(t.Name, "typedef")
		}
		for _, t := range p.Consts {
			l.add(t.Name, "constant")
		}
	}
}

// arguments adds fields and values. operands are the address, the method and the arguments so far.
func (l *list) arguments(idl *idlfiles.IDL, operands []string, last string) {
	if idl == nil || len(operands) < 2 {
		return
	}
	m, err := invoke.Find(idl, operands[1], "", 0)
	if err != nil {
		return
	}
	for _, s := range m.Suggest(last, operands[2:]) {
		l.add(s.Text, s.About)
	}
}

// split splits a command line into words as a shell does. It is not ok if the last word is in
// quotes: what follows there is JSON or a text.
func split(line string) (words []string, ok bool) {
	var quote rune
	word, begun, escaped := strings.Builder{}, false, false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, begun = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, begun = r, true
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n'):
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		case quote == 0 && (r == '|' || r == ';' || r == '&'): // another command begins
			words = nil
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	return append(words, word.String()), quote == 0
}
