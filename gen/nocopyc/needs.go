package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/golang"
)

// warnOfNeeds warns of files that the generated code needs, that this run did not generate
// and that are not there. Each can be made by another run, before or after this one.
func warnOfNeeds(out string, includes []string, opt golang.Options, needs []golang.Need, stderr io.Writer) {
	elsewhere := opt.ModulePath != "" && path.Clean(opt.PackagePrefix) != opt.ModulePath
	for _, n := range needs {
		if _, err := os.Stat(filepath.Join(out, filepath.FromSlash(n.Path))); err == nil {
			continue
		}
		if elsewhere && n.Import != "" && importable(out, n.Import) {
			continue
		}
		args := []string{"nocopyc", "-o", out}
		for _, dir := range includes {
			args = append(args, "-I", dir)
		}
		if opt.PackagePrefix != "" {
			args = append(args, "-package-prefix", opt.PackagePrefix)
		}
		fmt.Fprintf(stderr, "%s:%d:%d: warning: the code needs %s, which is not in %s: run %q too, or give -r\n",
			n.Pos.Filename, n.Pos.Line, n.Pos.Column, n.Path, out, strings.Join(append(args, n.Source), " "))
	}
}

// importable reports whether the go command finds a package for code in a directory.
func importable(dir, path string) bool {
	cmd := exec.Command("go", "list", "-find", path)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOPROXY=off")
	return cmd.Run() == nil
}
