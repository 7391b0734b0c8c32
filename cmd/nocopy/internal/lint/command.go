package lint

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/written"
	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/internal/nocopyc"
)

// Command finds what is wrong in .thrift files.
type Command struct {
	Paths []string `arg:"" optional:"" help:"Files and folders, those of nocopy.yaml without; - is standard input."`

	Config        string   `short:"c" help:"Configuration in TOML, JSON or YAML, instead of the section lint of nocopy.yaml, or else .thriftcheck.toml." placeholder:"FILE"`
	Include       []string `short:"I" help:"Folder in which to look for included files, instead of the configuration's." sep:"none" placeholder:"DIR"`
	Enable        []string `help:"Rules that apply, instead of the configuration's: names, beginnings of names, thriftcheck, buf, own, default or all." placeholder:"RULE"`
	Disable       []string `help:"Rules that do not apply, besides the configuration's." placeholder:"RULE"`
	Compilers     string   `help:"Compilers that also read the files, instead of the configuration's: apache, thriftgo or, as usual, both." placeholder:"LIST"`
	ErrorsOnly    bool     `help:"Leave out warnings."`
	Fix           bool     `help:"Mend what can be mended, in the files, and print the rest."`
	List          bool     `short:"l" help:"List the rules and exit."`
	StdinFilename string   `help:"Name of the file that standard input is, for messages and included files." default:"stdin.thrift" placeholder:"NAME"`
	Format        string   `help:"Output: ${enum}." enum:"text,json,sarif,github" default:"text"`

	// Project is the configuration of the project file; nil if it has none.
	Project *Config `kong:"-"`
}

// Help is the end of the command's help text.
func (Command) Help() string {
	return `A comment "// nolint:rule" switches a rule off for what starts on its line or, on a line of its own, for
what comes next; before an empty line at the top of a file, for the file. So does the annotation
(nolint = "rule"). docs/tool.md describes the configuration.

Exit codes: 0 nothing was found, 1 a file can't be read or written, 2 wrong command line or
configuration, 100 there are findings.

Examples:
  nocopy lint idl
  nocopy lint -enable default,FIELD_LOWER_SNAKE_CASE -format github idl
  nocopy lint -fix -enable IMPORT_USED,format idl`
}

// Run is called by the parser.
func (c *Command) Run(sh *shell.Shell) error {
	cfg, err := c.config(sh)
	if err != nil {
		return shell.WithCode(shell.Usage, err)
	}
	if len(c.Enable) > 0 {
		cfg.Checks.Enabled = c.Enable
	}
	if c.Compilers != "" {
		cfg.Compilers = strings.Split(c.Compilers, ",")
	}
	cfg.Checks.Disabled = append(cfg.Checks.Disabled, c.Disable...)
	applies, err := cfg.Applies()
	if err != nil {
		return shell.WithCode(shell.Usage, err)
	}
	if c.List {
		return c.list(sh, applies)
	}
	if len(c.Paths) == 0 {
		return shell.WithCode(shell.Usage, errors.New("no file or folder is given; see nocopy lint -h"))
	}
	in := Input{Paths: slices.Clone(c.Paths), Config: cfg, Includes: c.Include}
	if i := slices.Index(in.Paths, "-"); i >= 0 {
		if c.Fix {
			return shell.WithCode(shell.Usage, errors.New("-fix needs files: standard input can't be written to"))
		}
		src, err := schema.ReadAll(sh.In)
		if err != nil {
			return fmt.Errorf("standard input: %w", err)
		}
		in.Paths[i], in.Files = c.StdinFilename, &given{schema.Disk, c.StdinFilename, src}
	}
	if in.Files == nil {
		if in.Paths, err = nocopyc.Expand(schema.Disk, in.Paths); err != nil {
			return c.failed(sh, err)
		}
	}
	var steps atomic.Int64
	in.Step = func() { steps.Add(1) }
	progress := sh.NewProgress("files read and linted", 2*int64(len(in.Paths)), steps.Load)
	defer progress.Done()
	result, err := Lint(in)
	if err == nil && c.Fix {
		result, err = fix(in, result)
	}
	if err != nil {
		return c.failed(sh, err)
	}
	if c.ErrorsOnly {
		result.Findings = slices.DeleteFunc(result.Findings, func(f Finding) bool { return f.Severity != Error })
	}
	progress.Print(func() { err = result.Print(sh.Out, c.Format, sh.Color) })
	if err != nil {
		return err
	}
	if len(result.Findings) > 0 {
		return shell.WithCode(shell.Findings, shell.ErrSilent)
	}
	return nil
}

// config returns the configuration: that of -config, of the project file, or of a file of its own.
// It says what becomes of a file that earlier versions read.
func (c *Command) config(sh *shell.Shell) (Config, error) {
	_, err := os.Stat(ConfigFile)
	switch {
	case err != nil || c.Config != "":
	case c.Project != nil:
		fmt.Fprintf(sh.Err, "nocopy: %s is not read, since nocopy.yaml has a section lint\n", ConfigFile)
	default:
		fmt.Fprintf(sh.Err, "nocopy: %s: a later version will not read this file: move it to the section lint of nocopy.yaml; docs/upgrading.md shows how\n", ConfigFile)
	}
	if c.Config == "" && c.Project != nil {
		return *c.Project, nil
	}
	return ReadConfig(c.Config)
}

// failed returns err, and annotates it if findings are annotations.
func (c *Command) failed(sh *shell.Shell, err error) error {
	if c.Format == "github" {
		nocopyc.AnnotateError(sh.Out, err)
	}
	return err
}

// maxRounds is how often files are mended: what one round changes may give the next one work.
const maxRounds = 10

// fix mends files, and returns what is found in them afterwards.
func fix(in Input, result *Result) (*Result, error) {
	for range maxRounds {
		texts, err := result.Fix()
		if err != nil {
			return nil, err
		}
		changed := false
		for name, text := range texts {
			if bytes.Equal(text, result.Sources[name]) {
				continue
			}
			changed = true
			if err := written.Replace(name, text); err != nil {
				return nil, err
			}
		}
		if !changed {
			break
		}
		if result, err = Lint(in); err != nil {
			return nil, err
		}
	}
	return result, nil
}

type listedRule struct {
	Name     string   `json:"name"`
	Source   Source   `json:"source"`
	Severity Severity `json:"severity"`
	Applies  bool     `json:"applies"`
	Fixable  bool     `json:"fixable"`
	Doc      string   `json:"doc"`
}

func (c *Command) list(sh *shell.Shell, applies map[string]bool) error {
	var all []listedRule
	for _, r := range rules {
		all = append(all, listedRule{r.Name, r.Source, r.Severity, applies[r.Name], r.Fixable, r.Doc})
	}
	if c.Format == "json" {
		return sh.WriteJSON(all)
	}
	for _, r := range all {
		mark := " "
		if r.Applies {
			mark = "*"
		}
		name := shell.Paint(sh.Color && r.Applies, shell.Bold, fmt.Sprintf("%-28s", r.Name))
		if _, err := fmt.Fprintf(sh.Out, "%s %s %-11s %s\n", mark, name, r.Source, r.Doc); err != nil {
			return err
		}
	}
	return nil
}

// given is the disk with one more file, which was given as standard input.
type given struct {
	schema.Files
	name string
	src  []byte
}

func (g *given) Canonical(path string) (string, error) {
	if filepath.Clean(path) == filepath.Clean(g.name) {
		return filepath.Abs(path)
	}
	return g.Files.Canonical(path)
}

func (g *given) IsFile(path string) bool {
	return filepath.Clean(path) == filepath.Clean(g.name) || g.Files.IsFile(path)
}

func (g *given) ReadFile(path string) ([]byte, error) {
	if filepath.Clean(path) == filepath.Clean(g.name) {
		return g.src, nil
	}
	return g.Files.ReadFile(path)
}
