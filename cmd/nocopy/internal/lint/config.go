package lint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"go.yaml.in/yaml/v4"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// Config chooses rules and says what they need to know. Its form is that of thriftcheck's
// configuration files, names of keys in any case.
type Config struct {
	Includes []string // folders in which included files are looked for
	// Compilers are those that read the files besides nocopyc: "apache", "thriftgo" (Kitex's), or
	// both. Nothing is reported that only others refuse. Nil is both.
	Compilers []string
	Checks    Checks

	// Thriftcheck says that an empty Checks.Enabled means all of thriftcheck's rules, as it does
	// there, rather than the default ones.
	Thriftcheck bool `json:"-"`
}

// Checks is the part of a Config that selects rules. A name in the lists is the name of a rule,
// the beginning of such names ("field.id"), the source of rules ("thriftcheck", "buf" or "own"),
// "default" or "all".
type Checks struct {
	// Enabled has the rules that apply; if it is empty, they are the default ones. Disabled has
	// those that do not apply all the same.
	Enabled, Disabled []string

	Enum struct {
		Size struct{ Warning, Error int } // how many values are too many; 0 is no limit
	}
	Include struct {
		Restricted Patterns // of included files, by the pattern (with * and ?) of including ones
	}
	// Without AllowedTypes, keys and elements of sets may be base types and enums.
	Map struct{ Key, Value TypeLists }
	Set TypeLists
	// Names that nothing may have.
	Names struct{ Reserved []string }
	// Namespaces by the language.
	Namespace struct{ Patterns Patterns }
	Types     TypeLists
}

// TypeLists says which types are allowed: those in AllowedTypes, or all if it is empty, without
// those in DisallowedTypes. Types are the names of base types, "base" for all of them, "list",
// "map", "set", "enum", "struct", "union" and "exception".
type TypeLists struct{ AllowedTypes, DisallowedTypes []string }

// Patterns are regular expressions by a name. In a file they are an object or a list of objects.
type Patterns map[string]*regexp.Regexp

// UnmarshalJSON implements json.Unmarshaler.
func (p *Patterns) UnmarshalJSON(b []byte) error {
	var list []map[string]string
	if err := json.Unmarshal(b, &list); err != nil {
		var one map[string]string
		if err := json.Unmarshal(b, &one); err != nil {
			return err
		}
		list = append(list, one)
	}
	*p = Patterns{}
	for _, patterns := range list {
		for name, pattern := range patterns {
			r, err := regexp.Compile(pattern)
			if err != nil {
				return err
			}
			(*p)[name] = r
		}
	}
	return nil
}

// The names under which ReadConfig looks for a configuration.
const (
	ConfigFile      = ".nocopylint.toml"
	ThriftcheckFile = ".thriftcheck.toml"
)

// The bounds of a configuration, which may come with files of strangers. The time and memory of
// the parser of TOML grow with the square of how deep keys are, and faster with inline tables,
// which end with their line.
const (
	maxConfig = 64 << 10 // bytes
	maxBraces = 100      // in a line of TOML
)

// ReadConfig reads a configuration from a file in TOML, or JSON or YAML, as its extension says. If
// the name is "" it reads ConfigFile or else ThriftcheckFile in the working directory; if there is
// neither, the configuration is empty. A file called as ThriftcheckFile sets Config.Thriftcheck.
func ReadConfig(name string) (Config, error) {
	var cfg Config
	if name == "" {
		if name = FindConfig(""); name == "" {
			return cfg, nil
		}
	}
	f, err := os.Open(name)
	if err != nil {
		return cfg, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err == nil && len(text) > maxConfig {
		err = fmt.Errorf("%s is larger than %d bytes", name, maxConfig)
	}
	if err != nil {
		return cfg, err
	}
	if err := cfg.parse(filepath.Ext(name), text); err != nil {
		return cfg, fmt.Errorf("%s: %w", name, err)
	}
	cfg.Thriftcheck = filepath.Base(name) == ThriftcheckFile
	return cfg, nil
}

// FindConfig returns the path of the configuration in a folder, "" if there is none. A pipe or a
// device is none: reading it might never end.
func FindConfig(dir string) string {
	for _, name := range []string{ConfigFile, ThriftcheckFile} {
		name = filepath.Join(dir, name)
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			return name
		}
	}
	return ""
}

// checkBraces returns an error if a line has too many braces.
func checkBraces(text []byte) error {
	n := 0
	for line := range bytes.Lines(text) {
		if n++; bytes.Count(line, []byte("{")) > maxBraces {
			return fmt.Errorf("line %d has more than %d braces", n, maxBraces)
		}
	}
	return nil
}

// parse reads a text. All forms go through JSON, for which the keys are checked.
func (cfg *Config) parse(ext string, text []byte) error {
	if ext != ".json" {
		var tree map[string]any
		var err error
		if ext == ".yaml" || ext == ".yml" {
			err = yaml.Unmarshal(text, &tree)
		} else if err = checkBraces(text); err == nil {
			err = toml.Unmarshal(text, &tree)
		}
		if err != nil {
			return err
		}
		if tree == nil {
			return nil
		}
		if text, err = json.Marshal(tree); err != nil {
			return err
		}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(cfg)
}

var typeNames = strings.Fields("base bool i8 i16 i32 i64 double string binary uuid list map set enum union struct exception")

// rules returns the rules that apply, and sets defaults.
func (cfg *Config) rules() ([]*Rule, error) {
	c := &cfg.Checks
	for _, types := range []*TypeLists{&c.Map.Key, &c.Map.Value, &c.Set, &c.Types} {
		for _, name := range slices.Concat(types.AllowedTypes, types.DisallowedTypes) {
			if !slices.Contains(typeNames, name) {
				return nil, fmt.Errorf("unknown type %q, types are %s", name, strings.Join(typeNames, ", "))
			}
		}
	}
	enabled := c.Enabled
	if len(enabled) == 0 {
		enabled = []string{"default"}
		if cfg.Thriftcheck {
			enabled = []string{string(Thriftcheck), "compile"}
		}
	}
	for _, name := range slices.Concat(enabled, c.Disabled) {
		if !slices.ContainsFunc(rules, func(r *Rule) bool { return r.chosen([]string{name}) }) {
			return nil, fmt.Errorf("there is no rule %q", name)
		}
	}
	if cfg.Compilers == nil {
		cfg.Compilers = []string{string(idl.Apache), string(idl.Thriftgo)}
	}
	if _, err := idl.Compilers(strings.Join(cfg.Compilers, ",")); err != nil {
		return nil, err
	}
	var chosen []*Rule
	for _, r := range rules {
		if r.chosen(enabled) && !r.chosen(c.Disabled) {
			chosen = append(chosen, r)
		}
	}
	return chosen, nil
}

// Applies returns the names of the rules that apply.
func (cfg Config) Applies() (map[string]bool, error) {
	list, err := cfg.rules()
	names := map[string]bool{}
	for _, r := range list {
		names[r.Name] = true
	}
	return names, err
}

// chosen reports whether one of names, which may also be groups, is the rule's.
func (r *Rule) chosen(names []string) bool {
	return matches(r.Name, names) || slices.Contains(names, string(r.Source)) || r.Default && slices.Contains(names, "default")
}

// String lists the patterns.
func (p Patterns) String() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(p)) {
		all = append(all, name+"="+p[name].String())
	}
	return strings.Join(all, " ")
}
