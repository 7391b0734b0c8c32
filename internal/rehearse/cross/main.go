// Cross type-checks a module's packages for other systems and processors, from their sources and
// those of all that they import:
//
//	go run ./cross [-C DIR] OS/ARCH...
//
// It reports the errors that go build would, except those of code generation and of assembly,
// and takes seconds, since the standard library is not compiled for each of them.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// listed is a package as go list describes it.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Standard        bool
	Error           *struct{ Err string }
}

func main() {
	dir := flag.String("C", ".", "the module's `directory`")
	flag.Parse()
	failed := flag.NArg() == 0
	for _, platform := range flag.Args() {
		fmt.Println(platform)
		if err := check(*dir, platform); err != nil {
			fmt.Println(err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// check returns the errors in all packages below dir if they are built for this OS/ARCH.
func check(dir, platform string) error {
	goos, goarch, ok := strings.Cut(platform, "/")
	sizes := types.SizesFor("gc", goarch)
	if !ok || sizes == nil {
		return fmt.Errorf("%s is no system and processor", platform)
	}
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Standard,Error", "./...")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	list, err := cmd.Output()
	if err != nil {
		return err
	}
	packages := map[string]*types.Package{"unsafe": types.Unsafe}
	var errs []error
	ours := 0
	for d := json.NewDecoder(strings.NewReader(string(list))); ; { // imported packages come first
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		switch {
		case p.Error != nil:
			errs = append(errs, errors.New(p.Error.Err))
		case p.ImportPath != "unsafe":
			if !p.Standard {
				ours++
			}
			packages[p.ImportPath], err = checkPackage(&p, packages, sizes)
			errs = append(errs, err)
		}
	}
	if ours == 0 {
		return fmt.Errorf("no packages are below %s", dir)
	}
	return errors.Join(errs...)
}

// checkPackage type-checks a package, and of one of the standard library only the declarations.
func checkPackage(p *listed, packages map[string]*types.Package, sizes types.Sizes) (*types.Package, error) {
	files := token.NewFileSet()
	var parsed []*ast.File
	var errs []error
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, f)
	}
	config := types.Config{
		Importer: importer(func(path string) (*types.Package, error) {
			if mapped := p.ImportMap[path]; mapped != "" {
				path = mapped
			}
			if packages[path] == nil {
				return nil, fmt.Errorf("package %s has errors", path)
			}
			return packages[path], nil
		}),
		Error:            func(err error) { errs = append(errs, err) },
		IgnoreFuncBodies: p.Standard,
		Sizes:            sizes,
	}
	pkg, _ := config.Check(p.ImportPath, files, parsed, nil)
	return pkg, errors.Join(errs...)
}

type importer func(path string) (*types.Package, error)

func (f importer) Import(path string) (*types.Package, error) { return f(path) }
