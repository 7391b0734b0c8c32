package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/dirhash"
)

// try tries the files of a release: those for this machine run, and say of what they are built.
func (r *release) try() error {
	names, err := r.checkSums()
	if err != nil {
		return err
	}
	for _, name := range names {
		fmt.Println(name)
	}
	steps := []struct {
		what string
		try  func(dir string) (said string, err error)
		on   string // the only system that can do it
		with string // the program that does it
	}{
		{"the archive's binary", r.tryArchive, "", "tar"},
		{"go install of the tag", r.tryInstall, "", ""},
		{"the list of components", r.trySBOM, "", ""},
		{"the package for Debian, installed", r.tryDeb, "linux", "dpkg"},
		{"the package for Fedora and others, installed", r.tryRPM, "linux", "rpm"},
		{"the container image, of one file", r.tryImage, "linux", "tar"},
	}
	for i, step := range steps {
		if step.on != "" && step.on != runtime.GOOS {
			fmt.Printf("%s: not tried: this is not %s\n", step.what, step.on)
			continue
		}
		if _, err := exec.LookPath(step.with); step.with != "" && err != nil {
			fmt.Printf("%s: not tried: there is no %s here\n", step.what, step.with)
			continue
		}
		dir := filepath.Join(r.work, fmt.Sprint("try", i))
		if err := os.Mkdir(dir, 0o777); err != nil {
			return err
		}
		said, err := step.try(dir)
		if err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
		fmt.Printf("%s: %s\n", step.what, said)
	}
	return nil
}

// fromCommit runs a binary of the release. It has to say the version and the commit.
func (r *release) fromCommit(name string, args ...string) (string, error) {
	said, err := output(name, append(args, "version")...)
	if want := "nocopy " + r.version + ", commit " + r.commit; err == nil && said != want {
		err = fmt.Errorf("it says %q, not %q", said, want)
	}
	return said, err
}

func (r *release) tryArchive(dir string) (string, error) {
	file := r.file(runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz")
	if runtime.GOOS == "windows" {
		file = strings.TrimSuffix(file, ".tar.gz") + ".zip" // tar there reads both
	}
	if _, err := output("tar", "-x", "-C", dir, "-f", file); err != nil {
		return "", err
	}
	return r.fromCommit(filepath.Join(dir, "nocopy"))
}

// tryInstall installs the tool as users do. A module's zip file does not know its commit: the tool
// says the checksum, and the go command which commit the tag names.
func (r *release) tryInstall(dir string) (string, error) {
	const tool = modulePath + "/cmd/nocopy"
	install := exec.Command("go", "install", "-trimpath", "-ldflags=-s -w", tool+"@"+r.version)
	install.Env = append(r.env, "GOBIN="+dir, "CGO_ENABLED=0") // as goreleaser: most is compiled
	if err := r.run(install); err != nil {
		return "", err
	}
	said, err := output(filepath.Join(dir, "nocopy"), "version")
	if err != nil {
		return "", err
	}
	packed := filepath.Join(r.work, "proxy", filepath.FromSlash(tool), "@v", r.version+".zip")
	sum, err := dirhash.HashZip(packed, dirhash.Hash1)
	if err != nil {
		return "", err
	}
	if want := fmt.Sprintf("nocopy %s, module %s %s", r.version, r.version, sum); said != want {
		return "", fmt.Errorf("it says %q, not %q", said, want)
	}
	download := exec.Command("go", "mod", "download", "-json", tool+"@"+r.version)
	download.Env = r.env
	text, err := download.Output()
	if err != nil {
		return "", err
	}
	var of struct {
		Sum    string
		Origin struct{ Hash string }
	}
	if err := json.Unmarshal(text, &of); err != nil {
		return "", err
	}
	if of.Sum != sum || of.Origin.Hash != r.commit {
		return "", fmt.Errorf("go mod download -json says %+v, not %s of commit %s", of, sum, r.commit)
	}
	return said, nil
}

// trySBOM looks into the components of each binary for the library, at the release's version.
func (r *release) trySBOM(string) (string, error) {
	files, err := filepath.Glob(r.file("*.cdx.json"))
	if err != nil || len(files) != 6 {
		return "", fmt.Errorf("%d files: %v", len(files), err)
	}
	components := 0
	for _, file := range files {
		var bom struct {
			BOMFormat string
			Metadata  struct {
				Component struct{ Name, Version string }
			}
			Components []struct{ Name, Version string }
		}
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, &bom)
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", file, err)
		}
		library := slices.ContainsFunc(bom.Components, func(c struct{ Name, Version string }) bool { return c.Name == modulePath && c.Version == r.version })
		if bom.BOMFormat != "CycloneDX" || !library || bom.Metadata.Component.Name != modulePath+"/cmd/nocopy" || bom.Metadata.Component.Version != r.version {
			return "", fmt.Errorf("%s: not the components of this version: %+v", file, bom)
		}
		components = len(bom.Components)
	}
	return fmt.Sprintf("%d modules", components), nil
}

// tryDeb installs the package into a folder or, without being root, only unpacks it there.
func (r *release) tryDeb(dir string) (string, error) {
	file := r.file("linux_" + runtime.GOARCH + ".deb")
	install := []string{"dpkg-deb", "-x", file, dir}
	if os.Geteuid() == 0 {
		for _, sub := range []string{"updates", "info", "triggers"} {
			if err := os.MkdirAll(filepath.Join(dir, "var/lib/dpkg", sub), 0o777); err != nil {
				return "", err
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "var/lib/dpkg/status"), nil, 0o666); err != nil {
			return "", err
		}
		install = []string{"dpkg", "--root=" + dir, "--force-script-chrootless", "-i", file}
	}
	if _, err := output(install[0], install[1:]...); err != nil {
		return "", err
	}
	return r.fromCommit(filepath.Join(dir, "usr/bin/nocopy"))
}

func (r *release) tryRPM(dir string) (string, error) {
	args := []string{"--install", "--root", dir, "--nodeps"}
	if os.Geteuid() != 0 {
		return "not tried: only root can", nil
	}
	if _, err := output("rpm", append(args, r.file("linux_"+runtime.GOARCH+".rpm"))...); err != nil {
		return "", err
	}
	return r.fromCommit(filepath.Join(dir, "usr/bin/nocopy"))
}

// tryImage runs the image's command with nothing around it but the image, which needs root.
func (r *release) tryImage(dir string) (string, error) {
	files, entry, err := unpackImage(r.file("image.tar"), runtime.GOARCH, dir)
	if err != nil {
		return "", err
	}
	if !slices.Equal(files, []string{"/nocopy"}) || !slices.Equal(entry, files) {
		return "", fmt.Errorf("it has the files %q and starts %q", files, entry)
	}
	if os.Geteuid() != 0 {
		return r.fromCommit(filepath.Join(dir, "nocopy"))
	}
	return r.fromCommit("chroot", dir, "/nocopy")
}
