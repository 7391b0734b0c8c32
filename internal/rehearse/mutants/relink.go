package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A mutant mostly changes no declaration that other packages see, nor a function that the compiler
// inlines into them. Then only its own package has to be compiled; the others are those that the
// go command has compiled without the change. The linker refuses them if they do not fit: it
// compares what each package has exported with what its importers have seen.

// program is the tests in a folder, without a change, and the packages that they are linked from.
type program struct {
	main     string
	packages []*compiled
}

// compiled is a package as `go list -export -test -deps -json` describes it.
type compiled struct {
	ImportPath, Name, Dir, Export string
	GoFiles, SFiles, EmbedFiles   []string
	Deps                          []string // of main: names as in ImportPath
	Module                        *struct{ GoVersion string }
}

// path returns the import path. ImportPath says in brackets for which test it was compiled.
func (p *compiled) path() string {
	path, _, _ := strings.Cut(p.ImportPath, " ")
	return path
}

// program compiles the tests in a folder without a change.
func (t *trial) program(folder string) (*program, error) {
	if p := t.programs[folder]; p != nil {
		return p, nil
	}
	cmd := exec.Command("go", "list", "-export", "-test", "-deps", "-json=ImportPath,Name,Dir,Export,GoFiles,SFiles,EmbedFiles,Deps,Module", ".")
	cmd.Dir, cmd.Stderr = filepath.Join(t.root, folder), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the packages of %s: %w", folder, err)
	}
	all, p := map[string]*compiled{}, &program{}
	var main *compiled
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		c := new(compiled)
		if err := dec.Decode(c); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		if all[c.ImportPath] = c; c.Name == "main" && strings.HasSuffix(c.ImportPath, ".test") {
			main = c
		}
	}
	if main == nil {
		return nil, fmt.Errorf("%s: no tests", folder)
	}
	p.main = main.Export
	for _, name := range main.Deps {
		if c := all[name]; c != nil && c.Export != "" {
			p.packages = append(p.packages, c)
		}
	}
	t.programs[folder] = p
	return p, nil
}

var errOthersToo = errors.New("other packages have to be compiled, too")

// relink links the tests in a folder with the file of a mutant as it is in changed. It returns
// errOthersToo if that takes more than to compile the file's package.
func (t *trial) relink(folder, file, changed, binary string) error {
	p, err := t.program(folder)
	if err != nil {
		return err
	}
	dir, name := filepath.Split(filepath.Join(t.root, file))
	i := slices.IndexFunc(p.packages, func(c *compiled) bool {
		return c.Dir == filepath.Clean(dir) && slices.Contains(c.GoFiles, name)
	})
	if i < 0 || len(p.packages[i].SFiles)+len(p.packages[i].EmbedFiles) > 0 || p.packages[i].Module == nil {
		return errOthersToo
	}
	c := *p.packages[i]
	var imports strings.Builder
	for _, of := range p.packages {
		if of.path() != c.path() {
			fmt.Fprintf(&imports, "packagefile %s=%s\n", of.path(), of.Export)
		}
	}
	config, object := filepath.Join(t.dir, "imports"), filepath.Join(t.dir, "changed.a")
	if err := os.WriteFile(config, []byte(imports.String()), 0o600); err != nil {
		return err
	}
	args := []string{"tool", "compile", "-o", object, "-trimpath", changed + "=>" + filepath.Join(dir, name), "-p", c.path(),
		"-lang=go" + c.Module.GoVersion, "-complete", "-nolocalimports", "-importcfg", config, "-pack"}
	for _, of := range c.GoFiles {
		if of == name {
			args = append(args, changed)
		} else {
			args = append(args, filepath.Join(dir, of))
		}
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("compiling %s: %w\n%s", file, err, out)
	}
	fmt.Fprintf(&imports, "packagefile %s=%s\n", c.path(), object)
	if err := os.WriteFile(config, []byte(imports.String()), 0o600); err != nil {
		return err
	}
	out, err := exec.Command("go", "tool", "link", "-s", "-w", "-o", binary, "-importcfg", config, "-buildmode=exe", "-X", "testing.testBinary=1", p.main).CombinedOutput()
	switch {
	case err != nil && strings.Contains(string(out), "fingerprint mismatch"):
		return errOthersToo
	case err != nil:
		return fmt.Errorf("linking the tests of %s: %w\n%s", folder, err, out)
	}
	return nil
}
