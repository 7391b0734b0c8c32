package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const modulePath = "github.com/nocopythrift/nocopythrift"

// installed are the folders of the modules that programs require or install from, and the most
// bytes that the zip file of each may have; 0 is no limit.
var installed = []struct {
	folder string
	most   int64
}{
	{"", 1_480_000},
	{"cmd/nocopy", 0},
	{"kitex", 0},
	{"otel", 0},
	{"parquetmeta", 0},
	{"hive", 0},
	{"hive/arrowhive", 0},
	{"kerberos", 0},
}

var errTooLarge = errors.New("too large")

// revisionOf returns a commit of the working tree as it is, without the files that git does not
// know: the last one, if it equals that.
func revisionOf(root string) (string, error) {
	revision, err := output("git", "-C", root, "stash", "create")
	if err != nil || revision != "" {
		return revision, err
	}
	return output("git", "-C", root, "rev-parse", "HEAD")
}

// packAll writes a module proxy's files for each installed module into the folder proxy. A zip
// file that is too large gives an errTooLarge; all files are written nonetheless.
func packAll(root, revision, version, proxy string) error {
	var large error
	tree := filepath.Join(filepath.Dir(proxy), "tree")
	if err := extract(root, revision, tree); err != nil {
		return err
	}
	for _, m := range installed {
		size, err := pack(tree, proxy, m.folder, version, revision)
		if err != nil {
			return err
		}
		name := path.Join(modulePath, m.folder)
		fmt.Printf("%s %s: %.2f MB\n", name, version, float64(size)/1e6)
		if m.most > 0 && size > m.most {
			large = fmt.Errorf("%w: the zip file of %s has %d bytes, more than %d", errTooLarge, name, size, m.most)
		}
	}
	return large
}

// generatorVersion returns the version that generated code names.
func generatorVersion(root string) (string, error) {
	src, err := os.ReadFile(filepath.Join(root, "gen/golang/emit.go"))
	if err != nil {
		return "", err
	}
	m := regexp.MustCompile(`const Version = "(v[^"]+)"`).FindSubmatch(src)
	if m == nil {
		return "", fmt.Errorf("gen/golang/emit.go has no version")
	}
	return string(m[1]), nil
}

// extract writes the files of a revision into the folder tree.
func extract(root, revision, tree string) error {
	if err := os.MkdirAll(tree, 0o777); err != nil {
		return err
	}
	archive := tree + ".tar"
	if _, err := output("git", "-C", root, "archive", "--format=tar", "-o", archive, revision); err != nil {
		return err
	}
	_, err := output("tar", "-x", "-C", tree, "-f", archive)
	return err
}

// pack writes the files of the module in a folder of tree, which has the files of a revision. It
// returns the size of the module's zip file in bytes.
func pack(tree, proxy, folder, version, revision string) (int64, error) {
	name := path.Join(modulePath, folder)
	escaped, err := module.EscapePath(name)
	if err != nil {
		return 0, err
	}
	dir := filepath.Join(proxy, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return 0, err
	}
	gomod, err := os.ReadFile(filepath.Join(tree, folder, "go.mod"))
	if err != nil {
		return 0, err
	}
	for file, text := range map[string]string{
		"list": version + "\n",
		version + ".info": fmt.Sprintf(`{"Version":%q,"Origin":{"VCS":"git","URL":"https://%s","Hash":%q,"Ref":"refs/tags/%s"}}`,
			version, modulePath, revision, path.Join(folder, version)),
		version + ".mod": string(gomod),
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
			return 0, err
		}
	}
	archive, err := os.Create(filepath.Join(dir, version+".zip"))
	if err != nil {
		return 0, err
	}
	defer archive.Close()
	if err := zip.CreateFromDir(archive, module.Version{Path: name, Version: version}, filepath.Join(tree, folder)); err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	info, err := archive.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), archive.Close()
}

// output runs a command and returns its output, without the newline at its end.
func output(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).Output()
	if exit, ok := err.(*exec.ExitError); ok {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(append([]string{name}, args...), " "), err, exit.Stderr)
	}
	return strings.TrimRight(string(out), "\n"), err
}
