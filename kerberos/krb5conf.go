package kerberos

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/jcmturner/gokrb5/v8/config"
)

// This file reads krb5.conf. gokrb5 parses it, but leaves out files that it includes, and takes
// the last of several values where MIT's library takes the first.

const (
	maxConf     = 1 << 20 // bytes of krb5.conf with all that it includes
	maxIncludes = 10      // within each other
)

// readConfig reads krb5.conf, and the value of default_ccache_name in it.
func readConfig() (conf *config.Config, cache string, err error) {
	defer survive(&err)
	path := os.Getenv("KRB5_CONFIG")
	if path == "" {
		path = "/etc/krb5.conf"
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil, "", fmt.Errorf("kerberos: there is no %s: copy the file of the cluster, or name one in KRB5_CONFIG", path)
	}
	s := confSections{lines: map[string][]string{}}
	if err := s.read(path, 0); err != nil {
		return nil, "", fmt.Errorf("kerberos: %w", err)
	}
	defaults, values := firstValues(s.lines["libdefaults"])
	domains, _ := firstValues(s.lines["domain_realm"])
	text := "[libdefaults]\n" + defaults + "[realms]\n" + strings.Join(s.lines["realms"], "\n") + "\n[domain_realm]\n" + domains
	conf, err = config.NewFromString(text)
	var unsupported config.UnsupportedDirective
	if err != nil && !errors.As(err, &unsupported) { // those are of Kerberos 4
		return nil, "", fmt.Errorf("kerberos: %s: %w", path, err)
	}
	return conf, values["default_ccache_name"], nil
}

// confSections has the lines of krb5.conf by section, without comments.
type confSections struct {
	lines   map[string][]string
	section string
	size    int
}

// read adds a file, and those that it includes.
func (s *confSections) read(path string, depth int) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if s.size += len(b); s.size > maxConf || depth > maxIncludes {
		return fmt.Errorf("%s: more than %d bytes with what it includes, or more than %d files within each other", path, maxConf, maxIncludes)
	}
	s.section = ""
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		word, rest := line, ""
		if i := strings.IndexAny(line, " \t"); i > 0 {
			word, rest = line[:i], line[i:]
		}
		switch section, isSection := strings.CutPrefix(line, "["); {
		case line == "" || line[0] == '#' || line[0] == ';':
		case isSection:
			s.section, _, _ = strings.Cut(section, "]")
		case word == "include" || word == "includedir":
			before := s.section
			if err := s.include(word, strings.TrimSpace(rest), depth); err != nil {
				return fmt.Errorf("%s: %s: %w", path, line, err)
			}
			s.section = before
		case word == "module":
			return fmt.Errorf("%s: %s: modules are not supported", path, line)
		default:
			s.lines[s.section] = append(s.lines[s.section], line)
		}
	}
	return nil
}

// inDir matches the files of an includedir that count, as with MIT's library.
var inDir = regexp.MustCompile(`^([a-zA-Z0-9_-]+|[^.].*\.conf)$`)

func (s *confSections) include(word, path string, depth int) error {
	if word == "include" {
		return s.read(path, depth+1)
	}
	files, err := os.ReadDir(path) // sorted
	if err != nil {
		return err
	}
	for _, f := range files {
		if inDir.MatchString(f.Name()) && !f.IsDir() {
			if err := s.read(filepath.Join(path, f.Name()), depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// firstValues returns lines without those whose name has come before, and without blocks, which
// are for one realm. values has them by name.
func firstValues(lines []string) (text string, values map[string]string) {
	values = map[string]string{}
	depth := 0
	for _, line := range lines {
		name, value, _ := strings.Cut(line, "=")
		name = strings.ToLower(strings.TrimSpace(name))
		if opens := strings.Count(line, "{") - strings.Count(line, "}"); opens != 0 || depth > 0 {
			depth += opens
			continue
		}
		if _, have := values[name]; !have {
			values[name] = strings.TrimSpace(value)
			text += line + "\n"
		}
	}
	return text, values
}

// cachePath returns the path of a cache, such as FILE:/tmp/krb5cc_%{uid}. from says where the name
// comes from.
func cachePath(name, from string) (string, error) {
	uid := strconv.Itoa(os.Getuid())
	path := strings.NewReplacer("%{uid}", uid, "%{euid}", strconv.Itoa(os.Geteuid()), "%{USERID}", uid, "%{TEMP}", os.TempDir(), "%{null}", "").Replace(fileOf(name, ""))
	kind, _, isKind := strings.Cut(path, ":")
	switch {
	case isKind:
		return "", fmt.Errorf("kerberos: ticket caches of the kind %s are not supported, which %s names: use a file (kinit -c FILE:/tmp/krb5cc_%s, and KRB5CCNAME)", kind, from, uid)
	case strings.Contains(path, "%{"):
		return "", fmt.Errorf("kerberos: the ticket cache %s, which %s names: of the parameters only %%{uid}, %%{euid}, %%{USERID}, %%{TEMP} and %%{null} are supported", path, from)
	}
	return path, nil
}
