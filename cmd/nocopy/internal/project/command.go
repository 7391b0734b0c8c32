package project

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/internal/command"
)

// Command shows what the project file says, and what holds for a command line.
type Command struct {
	Args []string `arg:"" optional:""`

	// Parse parses a command line, and returns what it takes from the project. It is set before the
	// command runs.
	Parse func(args []string) (*kong.Context, *Use, error) `kong:"-"`
}

const usage = `Usage: nocopy config [flags] [COMMAND ARG...]

Shows the values of nocopy.yaml and the variables of the environment that set flags. With a command
line, which is not run, it shows what holds for it: each flag and argument, and where its value
comes from: a flag, a variable, a place in the file, or the default. Values of variables that the
file names are not shown; those that are not set are named.

A target may send a variable such as ${NOCOPY_SHOP_TOKEN} to another machine, or log in by Kerberos,
also on this machine. nocopy asks first: "nocopy config -allow" allows what the targets of the file
do, or those targets that are named.

Exit codes: 0 done, 1 a file can't be read or written, 2 wrong command line or project file.

Examples:
  nocopy config
  nocopy config call shop getOrder -timeout 1s
  nocopy config -allow shop
`

// A setting is a value that holds, and where it comes from.
type setting struct {
	Key   string `json:"key"`
	Value any    `json:"value"`
	From  string `json:"from"`
}

// Run is called by the parser.
func (c *Command) Run(sh *shell.Shell) error {
	flags := flag.NewFlagSet("nocopy config", flag.ContinueOnError)
	flags.SetOutput(sh.Err)
	flags.Usage = func() { command.Help(sh.Out, usage, flags, "") }
	ok := flags.Bool("allow", false, "allow the targets of the file, or the named ones, to send the variables that they name")
	format := flags.String("format", "text", "`form` of the output: text or json")
	switch err := command.Parse(flags, c.Args); {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return shell.WithCode(shell.Usage, shell.ErrSilent)
	case *format != "text" && *format != "json":
		return shell.WithCode(shell.Usage, fmt.Errorf(`-format must be one of "text","json" but got %q; see nocopy config -h`, *format))
	}
	if *ok {
		return c.allow(sh, flags.Args())
	}
	if flags.NArg() > 0 {
		line, u, err := c.Parse(flags.Args())
		if file := (*Error)(nil); errors.As(err, &file) {
			err = file
		}
		if err != nil {
			return shell.WithCode(shell.Usage, err)
		}
		return print(sh, *format, u.settings(line, flags.Args()))
	}
	p, err := Load()
	if err != nil {
		return shell.WithCode(shell.Usage, err)
	}
	var all []setting
	if p != nil {
		for _, r := range p.rows {
			all = append(all, setting{r.Key, r.Text, p.at(Value{r.Text, r.Line, r.Column})})
		}
	}
	for name, flag := range connection() {
		for _, env := range flag.Envs {
			if value, ok := os.LookupEnv(env); ok {
				all = append(all, setting{"-" + name, hidden(name, value), "$" + env})
			}
		}
	}
	if p == nil && *format == "text" {
		fmt.Fprintf(sh.Err, "there is no %s here or above\n", FileName)
	}
	return print(sh, *format, all)
}

// from returns where a value comes from: its place, and what it lacks.
func (p *Project) from(v Value) string {
	if missing := unset(v.Text); missing != "" {
		return p.at(v) + ", " + missing + " is not set"
	}
	return p.at(v)
}

// at returns the place of a value.
func (p *Project) at(v Value) string {
	return fmt.Sprintf("%s:%d:%d", p.Name, v.Line, v.Column)
}

// hidden returns the value of a flag for people to read.
func hidden(name, value string) string {
	if name == "password" && value != "" {
		return "(hidden)"
	}
	return value
}

// print prints settings.
func print(sh *shell.Shell, format string, all []setting) error {
	if format == "json" {
		if all == nil {
			all = []setting{}
		}
		return sh.WriteJSON(all)
	}
	var rows [][3]string
	for _, s := range all {
		list, ok := s.Value.([]string)
		if !ok || len(list) == 0 {
			list = []string{fmt.Sprint(s.Value)}
		}
		for i, text := range list { // each value has a line; the first one says the rest
			row := [3]string{"", shell.OneLine(text), ""}
			if i == 0 {
				row[0], row[2] = shell.OneLine(s.Key), shell.OneLine(s.From)
			}
			rows = append(rows, row)
		}
	}
	const most = 60
	keys, values := 0, 0
	for _, row := range rows {
		keys, values = max(keys, min(len(row[0]), most)), max(values, min(len(row[1]), most))
	}
	for _, row := range rows {
		line := fmt.Sprintf("%-*s  %-*s  %s", keys, row[0], values, row[1], row[2])
		if _, err := fmt.Fprintln(sh.Out, strings.TrimRight(line, " ")); err != nil {
			return err
		}
	}
	return nil
}

// settings returns what holds for a command line.
func (u *Use) settings(line *kong.Context, args []string) (all []setting) {
	node := line.Selected()
	if node == nil {
		return nil
	}
	if u.asked != "" {
		all = append(all, setting{"target", u.asked, "argument"})
	}
	if node.Passthrough {
		return append(all, u.passedSettings(node)...)
	}
	for _, arg := range node.Positional {
		value := arg.Target.Interface()
		if v, ok := u.from[arg.Name]; ok {
			if arg.Name == addressName {
				value = v.Text
			}
			all = append(all, setting{arg.Name, value, u.Project.from(v)})
		} else if !arg.Target.IsZero() {
			all = append(all, setting{arg.Name, value, "argument"})
		}
	}
	given := map[string]bool{}
	for _, p := range line.Path {
		if p.Flag != nil && !p.Resolved {
			given[p.Flag.Name] = true
		}
	}
	for _, flag := range node.Flags {
		all = append(all, u.flagSettings(flag, given[flag.Name])...)
	}
	return all
}

// flagSettings returns the value of a flag; each value of its own if it is a list. given says that
// the command line has the flag.
func (u *Use) flagSettings(flag *kong.Flag, given bool) (all []setting) {
	value, from := flag.Target.Interface(), "default"
	if list, ok := value.([]string); ok && len(list) == 0 {
		return nil
	}
	for _, name := range flag.Envs {
		if _, ok := os.LookupEnv(name); ok {
			from = "$" + name
		}
	}
	v, taken := u.from[flag.Name]
	switch {
	case given:
		from = "flag"
	case taken:
		from = u.Project.from(v)
	case from == "default" && flag.Target.IsZero():
		return nil // nothing holds
	}
	switch {
	case flag.Name == "header" && u.Target != nil:
		return u.sent(flag)
	case taken && !given && flag.Target.Kind() != reflect.Slice:
		value = v.Text
	case flag.Name == "password":
		value = hidden(flag.Name, flag.Target.String())
	default:
		if d, ok := value.(fmt.Stringer); ok {
			value = d.String()
		}
	}
	return append(all, setting{"-" + flag.Name, value, from})
}

// sent returns the headers that are sent: the values of the file as it has them.
func (u *Use) sent(flag *kong.Flag) (all []setting) {
	sent := flag.Target.Interface().([]string)
	for i, v := range u.Target.flags["header"] {
		texts, _ := u.Project.expandAll(u.Target.flags["header"])
		if texts == nil || !slices.Contains(sent, texts[i]) {
			continue // the command line has another one
		}
		all = append(all, setting{"-header", v.Text, u.Project.from(v)})
		sent = slices.DeleteFunc(slices.Clone(sent), func(s string) bool { return s == texts[i] })
	}
	for _, text := range sent {
		all = append(all, setting{"-header", text, "flag"})
	}
	return all
}

// passedSettings returns what holds for a command that parses its arguments itself.
func (u *Use) passedSettings(node *kong.Node) (all []setting) {
	args := node.Positional[0].Target.Interface().([]string)
	set, err := parsed(node.Name, args)
	if err != nil {
		return []setting{{"arguments", args, "argument"}}
	}
	from := func(name, otherwise string) string {
		if v, ok := u.from[name]; ok {
			return u.Project.from(v)
		}
		return otherwise
	}
	switch _, fromFile := u.from["baseline"]; {
	case len(set.operands) == 0:
	case fromFile:
		all = append(all, setting{"baseline", set.operands[0], from("baseline", "")}, setting{"files", set.operands[1:], from("files", "")})
	default:
		all = append(all, setting{"files", set.operands, from("files", "argument")})
	}
	set.VisitAll(func(f *flag.Flag) {
		switch {
		case set.given[f.Name]:
			all = append(all, setting{"-" + f.Name, f.Value.String(), from("-"+f.Name, "flag")})
		case f.DefValue != "" && f.DefValue != "false":
			all = append(all, setting{"-" + f.Name, f.DefValue, "default"})
		}
	})
	return all
}

// allow allows what targets send.
func (c *Command) allow(sh *shell.Shell, targets []string) error {
	p, err := Load()
	if err == nil && p == nil {
		err = fmt.Errorf("there is no %s here or above", FileName)
	}
	if err != nil {
		return shell.WithCode(shell.Usage, err)
	}
	if len(targets) == 0 {
		targets = slices.Sorted(maps.Keys(p.Targets))
	}
	var all []use
	for _, name := range targets {
		t := p.Targets[name]
		if t == nil {
			return shell.WithCode(shell.Usage, fmt.Errorf("%s has no target %s", p.Name, name))
		}
		uses, err := p.uses(t)
		if err != nil {
			return err
		}
		for _, u := range uses {
			if !slices.ContainsFunc(all, func(o use) bool { return o.String() == u.String() }) {
				all = append(all, u)
			}
		}
	}
	if err := allow(all); err != nil {
		return err
	}
	for _, u := range all {
		fmt.Fprintln(sh.Out, "allowed:", u)
	}
	if len(all) == 0 {
		fmt.Fprintln(sh.Out, "no target sends a variable to another machine")
	}
	return nil
}
