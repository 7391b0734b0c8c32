package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

const root = "../.."

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestInstalled: a release has every module that programs can require: those without replace
// directives that are neither examples, tests, benchmarks, lists of names nor internal, nor for
// editors.
func TestInstalled(t *testing.T) {
	list, err := output("git", "-C", root, "ls-files", "*go.mod")
	if err != nil {
		t.Fatal(err)
	}
	own := regexp.MustCompile(`(^|/)(api|bench|docs|editors|examples|internal|interop|testdata|tests)/`)
	var want, have []string
	for file := range strings.Lines(list) {
		if file = strings.TrimSpace(file); !own.MatchString(file) && !strings.Contains(read(t, file), "\nreplace") {
			want = append(want, strings.Trim(strings.TrimSuffix(file, "go.mod"), "/"))
		}
	}
	for _, m := range installed {
		have = append(have, m.folder)
	}
	slices.Sort(want)
	slices.Sort(have)
	if !slices.Equal(have, want) {
		t.Errorf("a release has the modules %q, but the repository %q", have, want)
	}
	_, tags, _ := strings.Cut(read(t, "docs/releasing.md"), "for folder in ")
	tags, _, _ = strings.Cut(tags, ";")
	var tagged []string
	for folder := range strings.FieldsSeq(tags) {
		tagged = append(tagged, strings.Trim(folder, `"/`))
	}
	slices.Sort(tagged)
	if !slices.Equal(tagged, want) {
		t.Errorf("docs/releasing.md tags %q, but the repository has the modules %q", tagged, want)
	}
}

// TestConfiguration: the files that .goreleaser.yaml and the workflow name are there.
func TestConfiguration(t *testing.T) {
	config := read(t, ".goreleaser.yaml")
	var files []string
	for _, m := range regexp.MustCompile(`(?m)(?:\bsrc: | dir: )([^,\n]+)|\bfiles: \[(.+)\]`).FindAllStringSubmatch(config, -1) {
		files = append(files, strings.Split(m[1]+m[2], ", ")...)
	}
	if len(files) < 6 {
		t.Errorf("files found in .goreleaser.yaml: %q", files)
	}
	for _, file := range files {
		if _, err := os.Stat(filepath.Join(root, file)); err != nil {
			t.Error(err)
		}
	}
	if !regexp.MustCompile(`(?m)^release-snapshot:`).MatchString(read(t, "Makefile")) || !strings.Contains(read(t, ".github/workflows/release.yml"), "- run: make release-snapshot\n") {
		t.Error("the workflow does not run make release-snapshot")
	}
}

// TestNotes: a release's notes are its section of the changelog.
func TestNotes(t *testing.T) {
	version, err := generatorVersion(root)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := notes(read(t, "CHANGELOG.md"), version); err != nil || strings.Contains(text, "\n## ") {
		t.Errorf("notes of %s: %v\n%s", version, err, text)
	}
	const log = "# Changelog\n\n## [Unreleased]\n\nNew.\n\n### Added\n\n- a [b](c#d), [e](https://f).\n\n## [1.0.0-rc.1] - 2026-11-29\n\nCandidate.\n\n## [0.3.0]\n\n## [0.2.0]\n\nOld.\n\n[0.2.0]: https://x\n"
	for version, want := range map[string]string{
		"v1.0.0": "New.\n\n### Added\n\n- a [b](https://github.com/nocopythrift/nocopythrift/blob/v1.0.0/c#d), [e](https://f).\n", "v1.0.0-rc.1": "Candidate.\n", "v0.2.0": "Old.\n",
	} {
		if have, err := notes(log, version); have != want || err != nil {
			t.Errorf("notes of %s: %q, %v; want %q", version, have, err, want)
		}
	}
	for version, log := range map[string]string{"v0.3.0": log, "v1.1.0": "# Changelog\n\n## [1.0.0]\n\nText.\n"} {
		if have, err := notes(log, version); err == nil {
			t.Errorf("notes of %s: %q, no error", version, have)
		}
	}
}

// TestImage: an image has one file for each processor.
func TestImage(t *testing.T) {
	dir := t.TempDir()
	binaries := map[string]string{}
	for _, arch := range []string{"amd64", "arm64"} {
		binaries[arch] = filepath.Join(dir, arch)
		if err := os.WriteFile(binaries[arch], []byte("#!/bin/sh\necho "+arch+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var sums []string
	for _, name := range []string{"one.tar", "two.tar"} {
		file := filepath.Join(dir, name)
		if err := writeImage(file, binaries, "1.0.0-rc.1", "0123abcd", time.Unix(1e9, 0).UTC()); err != nil {
			t.Fatal(err)
		}
		sum, err := sumOf(file)
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, sum)
	}
	if sums[0] != sums[1] {
		t.Errorf("an image made twice has the checksums %q", sums)
	}
	for _, arch := range []string{"amd64", "arm64"} {
		to := t.TempDir()
		files, entry, err := unpackImage(filepath.Join(dir, "one.tar"), arch, to)
		if err != nil || !slices.Equal(files, []string{"/nocopy"}) || !slices.Equal(entry, files) {
			t.Fatalf("%s: files %q, entry %q, %v", arch, files, entry, err)
		}
		if said, err := output(filepath.Join(to, "nocopy")); said != arch || err != nil {
			t.Errorf("the file for %s says %q, %v", arch, said, err)
		}
	}
}
