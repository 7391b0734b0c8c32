package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// The programs of others that make a release. They are installed for it, each time.
var programs = []string{
	"github.com/goreleaser/goreleaser/v2@v2.15.1",
	"github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0",
}

// A release is what is built of one revision.
type release struct {
	version string // with v
	commit  string
	created time.Time // of the commit
	dist    string    // the folder with the files to be published
	work    string    // a folder for all else
	env     []string  // of commands; see environment
}

// artifact is an entry of goreleaser's artifacts.json.
type artifact struct {
	Name, Path, Goos, Goarch, Type string
}

// makeRelease builds the files of a release, and tries them. Nothing is published. They are built
// of a clone that has the tags, even if these are not there yet. Uncommitted changes are in a
// commit of their own.
func makeRelease(root, revision, version, work string, env []string) error {
	r := &release{version: version, dist: filepath.Join(root, "dist"), work: work, env: env}
	var err error
	if r.commit, err = output("git", "-C", root, "rev-parse", revision+"^{commit}"); err != nil {
		return err
	}
	seconds, err := output("git", "-C", root, "show", "-s", "--format=%ct", r.commit)
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return err
	}
	r.created = time.Unix(n, 0).UTC()
	clone := filepath.Join(work, "clone")
	if _, err := output("git", "clone", "--quiet", "--shared", "--no-checkout", root, clone); err != nil {
		return err
	}
	if _, err := output("git", "-C", clone, "checkout", "--quiet", "--detach", r.commit); err != nil {
		return err
	}
	for _, m := range installed {
		if _, err := output("git", "-C", clone, "tag", "--force", path.Join(m.folder, version), r.commit); err != nil {
			return err
		}
	}
	if err := r.build(clone); err != nil {
		return err
	}
	return r.try()
}

// build writes the files of a release into dist.
func (r *release) build(clone string) error {
	notesFile, err := r.writeNotes(clone)
	if err != nil {
		return err
	}
	// The programs come from the usual module cache, and what was compiled of them from the usual
	// build cache.
	for _, program := range programs {
		install := exec.Command("go", "install", "-trimpath", program)
		install.Env = append(os.Environ(), "GOBIN="+filepath.Join(r.work, "bin"))
		if err := r.run(install); err != nil {
			return err
		}
	}
	// The tool is built as go install builds it, of the packed modules; but in the clone, for Go to
	// note the commit. go.mod has no checksums of modules that are not published yet.
	for _, name := range []string{"go.mod", "go.sum"} {
		if err := copyFile(filepath.Join(r.work, name), filepath.Join(clone, "cmd/nocopy", name)); err != nil {
			return err
		}
	}
	goreleaser := exec.Command(filepath.Join(r.work, "bin/goreleaser"), "release", "--clean", "--skip=publish", "--release-notes", notesFile)
	goreleaser.Dir = clone
	goreleaser.Env = append(r.env, "GORELEASER_CURRENT_TAG="+r.version, "GOFLAGS=-modcacherw -mod=mod -modfile="+filepath.Join(r.work, "go.mod"))
	if err := r.run(goreleaser); err != nil {
		return err
	}
	if err := os.RemoveAll(r.dist); err != nil {
		return err
	}
	if err := os.MkdirAll(r.dist, 0o777); err != nil {
		return err
	}
	if err := copyFile(filepath.Join(r.dist, "NOTES.md"), notesFile); err != nil {
		return err
	}
	return r.gather(clone)
}

// writeNotes writes the release's notes into a file, and returns its name.
func (r *release) writeNotes(clone string) (string, error) {
	changelog, err := os.ReadFile(filepath.Join(clone, "CHANGELOG.md"))
	if err != nil {
		return "", err
	}
	text, err := notes(string(changelog), r.version)
	if err != nil {
		return "", err
	}
	file := filepath.Join(r.work, "notes.md")
	return file, os.WriteFile(file, []byte(text), 0o666)
}

// gather copies what goreleaser has built into dist, and adds the image.
func (r *release) gather(clone string) error {
	var all []artifact
	list, err := os.ReadFile(filepath.Join(clone, "dist/artifacts.json"))
	if err == nil {
		err = json.Unmarshal(list, &all)
	}
	if err != nil {
		return err
	}
	binaries := map[string]string{} // for Linux, by processor
	for _, a := range all {
		switch from := filepath.Join(clone, a.Path); {
		case a.Type == "Binary" && a.Goos == "linux":
			binaries[a.Goarch] = from
		case a.Type != "Binary" && a.Type != "Metadata" && path.Dir(a.Path) == "dist":
			if err := copyFile(filepath.Join(r.dist, a.Name), from); err != nil {
				return err
			}
		}
	}
	image := r.file("image.tar")
	if err := writeImage(image, binaries, strings.TrimPrefix(r.version, "v"), r.commit, r.created); err != nil {
		return err
	}
	return r.addSum(image)
}

// file returns the path of a file in dist by the end of its name.
func (r *release) file(end string) string {
	return filepath.Join(r.dist, "nocopy_"+strings.TrimPrefix(r.version, "v")+"_"+end)
}

// sums is the file with checksums in dist.
const sums = "SHA256SUMS"

// addSum adds a file to the checksums.
func (r *release) addSum(name string) error {
	sum, err := sumOf(name)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(r.dist, sums), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, "%s  %s\n", sum, filepath.Base(name)); err != nil {
		return err
	}
	return f.Close()
}

// checkSums compares the files in dist with the checksums, and returns the files' names.
func (r *release) checkSums() (names []string, err error) {
	f, err := os.Open(filepath.Join(r.dist, sums))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		want, name, _ := strings.Cut(s.Text(), "  ")
		have, err := sumOf(filepath.Join(r.dist, name))
		if err != nil {
			return nil, err
		}
		if have != want {
			return nil, fmt.Errorf("%s: the checksum of %s is %s, not %s", sums, name, have, want)
		}
		names = append(names, name)
	}
	entries, err := os.ReadDir(r.dist)
	if err != nil {
		return nil, err
	}
	if others := len(entries) - 2; others != len(names) { // beside the notes and the file itself
		return nil, fmt.Errorf("%s has %d of %d files", sums, len(names), others)
	}
	return names, nil
}

func sumOf(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return fmt.Sprintf("%x", h.Sum(nil)), err
}

func copyFile(to, from string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o666)
}

// run runs a command that says itself what it does.
func (r *release) run(cmd *exec.Cmd) error {
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	return nil
}
