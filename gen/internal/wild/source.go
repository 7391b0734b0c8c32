package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// A source is one version of a package with .thrift files in a registry.
type source struct{ kind, name, version string }

func (s source) String() string { return s.kind + " " + s.name + " " + s.version }

// fetch downloads the source and puts its .thrift files below dir.
func (s source) fetch(dir string) error {
	switch s.kind {
	case "go":
		return s.fetchModule(dir)
	case "pypi":
		return s.fetchPython(dir)
	case "maven":
		group, artifact, _ := strings.Cut(s.name, ":")
		base := fmt.Sprintf("https://repo1.maven.org/maven2/%s/%s/%s/%s-%s", strings.ReplaceAll(group, ".", "/"), artifact, s.version, artifact, s.version)
		b, err := get(base + "-sources.jar")
		if err != nil {
			b, err = get(base + ".jar")
		}
		if err != nil {
			return err
		}
		return unzip(b, dir)
	}
	return fmt.Errorf("%q is not go, pypi or maven", s.kind)
}

func (s source) fetchModule(dir string) error {
	cmd := exec.Command("go", "mod", "download", "-json", s.name+"@"+s.version)
	cmd.Dir = os.TempDir() // outside this module
	out, err := cmd.Output()
	var module struct{ Zip, Error string }
	if jsonErr := json.Unmarshal(out, &module); jsonErr != nil || module.Error != "" {
		return errors.Join(err, jsonErr, errors.New(module.Error))
	}
	b, err := os.ReadFile(module.Zip)
	if err != nil {
		return err
	}
	return unzip(b, dir)
}

// fetchPython makes pip download the package: the built package, or else its source.
func (s source) fetchPython(dir string) error {
	archives, err := os.MkdirTemp("", "wild")
	if err != nil {
		return err
	}
	defer os.RemoveAll(archives)
	for _, kind := range []string{"--only-binary=:all:", "--no-binary=:all:"} {
		cmd := exec.Command("python3", "-m", "pip", "download", "-q", "--no-deps", kind, "-d", archives, s.name+"=="+s.version)
		if out, failed := cmd.CombinedOutput(); failed != nil {
			err = fmt.Errorf("%v\n%s", failed, out)
			continue
		}
		return filepath.WalkDir(archives, func(name string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			if strings.HasSuffix(name, ".tar.gz") {
				return untar(b, dir)
			}
			return unzip(b, dir)
		})
	}
	return err
}

// mostBytes bounds the size of an archive, and of a file.
const mostBytes = 500 << 20

func get(url string) ([]byte, error) {
	resp, err := http.Get(url)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, resp.Status)
	}
	return io.ReadAll(io.LimitReader(resp.Body, mostBytes))
}

func unzip(b []byte, dir string) error {
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return err
	}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return err
		}
		if err := put(dir, f.Name, r); err != nil {
			return err
		}
		r.Close()
	}
	return nil
}

func untar(b []byte, dir string) error {
	g, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return err
	}
	for r := tar.NewReader(g); ; {
		h, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := put(dir, h.Name, r); err != nil {
			return err
		}
	}
}

// put writes a file of an archive below dir if it is a .thrift file.
func put(dir, name string, r io.Reader) error {
	if path.Ext(name) != ".thrift" || !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil
	}
	to := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	b, err := io.ReadAll(io.LimitReader(r, mostBytes))
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o666)
}
