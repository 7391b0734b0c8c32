package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// mutant is a change of a file, and the tests that should notice it. In a list it is
//
//	mutant NAME
//	file PATH
//	 a line that stays
//	-a line that is replaced
//	+the line that replaces it
//	tests FOLDER [TEST]...
//	tests FOLDER [TEST]...
//	equivalent REASON
//
// The lines between are as in a diff. Those that stay and those that are replaced must come once
// in the file, together. TEST is the name of a test that is tried first. Only a mutant that no
// test can kill has a line equivalent. Lines that begin with # are comments.
type mutant struct {
	name, file string
	from, to   []string // lines
	tests      []tests
	equivalent string // why no test can kill it
}

// tests is the tests in a folder. first names those that are tried first.
type tests struct {
	folder string
	first  []string
}

func (t tests) String() string { return strings.Join(append([]string{t.folder}, t.first...), " ") }

// readLists reads all lists in a folder.
func readLists(dir string) ([]*mutant, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	var all []*mutant
	known := map[string]bool{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for i, line := range strings.Split(string(text), "\n") {
			wrong := func(what string) error { return fmt.Errorf("%s:%d: %s", filepath.Base(name), i+1, what) }
			if line == "" || line[0] == '#' {
				continue
			}
			key, value, _ := strings.Cut(line, " ")
			if key == "mutant" {
				if known[value] || value == "" {
					return nil, wrong("the name is empty or taken")
				}
				known[value] = true
				all = append(all, &mutant{name: value})
				continue
			}
			if len(all) == 0 {
				return nil, wrong("a list begins with a mutant")
			}
			m := all[len(all)-1]
			switch {
			case key == "file":
				m.file = value
			case key == "tests":
				words := strings.Fields(value)
				if len(words) == 0 {
					return nil, wrong("tests without a folder")
				}
				m.tests = append(m.tests, tests{words[0], words[1:]})
			case key == "equivalent":
				m.equivalent = value
			case line[0] == ' ':
				m.from, m.to = append(m.from, line[1:]), append(m.to, line[1:])
			case line[0] == '-':
				m.from = append(m.from, line[1:])
			case line[0] == '+':
				m.to = append(m.to, line[1:])
			default:
				return nil, wrong("unknown line")
			}
		}
	}
	return all, nil
}

// changed returns the file with the change.
func (m *mutant) changed(root string) ([]byte, error) {
	src, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.name, err)
	}
	from, to := "\n"+strings.Join(m.from, "\n")+"\n", "\n"+strings.Join(m.to, "\n")+"\n"
	if n := bytes.Count(src, []byte(from)); n != 1 || from == to || len(m.from) == 0 {
		return nil, fmt.Errorf("%s: its lines come %d times in %s: change the list with the code", m.name, n, m.file)
	}
	return bytes.Replace(src, []byte(from), []byte(to), 1), nil
}

// fit returns an error if the mutant can't be made, or a test that it names does not exist.
func (m *mutant) fit(root string) error {
	if _, err := m.changed(root); err != nil {
		return err
	}
	if len(m.tests) == 0 {
		return fmt.Errorf("%s: no tests", m.name)
	}
	for _, t := range m.tests {
		files, err := filepath.Glob(filepath.Join(root, t.folder, "*_test.go"))
		if err != nil || len(files) == 0 {
			return fmt.Errorf("%s: no tests in %s", m.name, t.folder)
		}
		var all []byte
		for _, name := range files {
			src, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			all = append(all, src...)
		}
		for _, test := range t.first {
			if !regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(test) + `\(`).Match(all) {
				return fmt.Errorf("%s: no %s in %s", m.name, test, t.folder)
			}
		}
	}
	return nil
}
