package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// gitFiles has the files of a revision of a git repository, by their paths in the work tree, even
// if they are not there. Files outside the work tree are read from disk.
type gitFiles struct {
	label  string            // the revision as written by the user
	commit string            // commit of the revision, or HEAD for staged files; may be ""
	top    string            // the work tree
	blobs  map[string]string // names of blobs by path in the repository
	links  map[string]bool   // paths that are symbolic links
	run    runner
}

// openGit returns the files of a place in a revision.
func openGit(p *place) (*tree, error) {
	rel, dir := filepath.FromSlash(p.path), "."
	// The path may lie on disk in another repository than the current folder. In a hook, git says
	// which repository it is.
	if p.bare && os.Getenv("GIT_DIR") == "" {
		if dir = nearestFolder(rel); dir != nearestFolder(".") {
			p.run = withoutBare(p.run)
		}
	}
	top, err := p.run(dir, "", "rev-parse", "--show-toplevel")
	if bare, _ := p.run(dir, "", "rev-parse", "--is-bare-repository"); strings.TrimSpace(bare) == "true" {
		top, err = p.run(dir, "", "rev-parse", "--absolute-git-dir") // used like a work tree
	}
	if err != nil {
		if p.bare {
			return nil, fmt.Errorf("%s: there is no such file or folder, and no git revision of that name (%w)", p.arg, err)
		}
		return nil, fmt.Errorf("%s: %w", p.arg, err)
	}
	g := &gitFiles{run: p.run, label: p.revision, top: filepath.FromSlash(strings.TrimSuffix(top, "\n"))}
	if err := g.read(p); err != nil {
		return nil, err
	}
	base := filepath.Join(g.top, rel)
	// As with git show, a path is relative to the repository, unless it begins with a dot.
	if p.bare || rel == "." || strings.HasPrefix(rel, "./") || strings.HasPrefix(rel, "../") || rel == ".." {
		if base, err = g.inTree(rel); err != nil {
			return nil, fmt.Errorf("%s: %w", p.arg, err)
		}
	}
	t := &tree{arg: p.arg, from: g, base: base, rename: g.name}
	t.isFile, t.dir, t.history = g.IsFile(base), realPath, g.history
	t.list = func(folder string) ([]string, error) { return g.list(folder), nil }
	if !t.isFile && !g.isFolder(base) {
		return nil, fmt.Errorf("%s: there is no %s in %s", p.arg, filepath.ToSlash(g.path(base)), g.describe())
	}
	return t, nil
}

// nearestFolder returns the folder at a path, or the nearest existing folder around it.
func nearestFolder(name string) string {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "."
	}
	for {
		if info, err := os.Stat(abs); err == nil && info.IsDir() || abs == filepath.Dir(abs) {
			return abs
		}
		abs = filepath.Dir(abs)
	}
}

// inTree converts a path relative to the current folder to a path in the work tree.
func (g *gitFiles) inTree(name string) (string, error) {
	abs, err := realPath(name)
	if err != nil {
		return "", err
	}
	if _, ok := g.within(abs); !ok {
		return "", fmt.Errorf("%s is outside of the repository %s", name, g.top)
	}
	return abs, nil
}

// realPath returns an absolute path, with symbolic links of existing folders resolved: the work
// tree's name contains none.
func realPath(name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	for dir, rest := filepath.Dir(abs), filepath.Base(abs); ; dir, rest = filepath.Dir(dir), filepath.Join(filepath.Base(dir), rest) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest), nil
		}
		if dir == filepath.Dir(dir) {
			return abs, nil
		}
	}
}

// within converts a path in the work tree to a path in the repository.
func (g *gitFiles) within(name string) (string, bool) {
	rel, err := filepath.Rel(g.top, name)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// read lists the revision's files.
func (g *gitFiles) read(p *place) error {
	var out string
	var err error
	if p.index {
		g.commit = g.commitOf("HEAD")
		out, err = g.git("", "ls-files", "--stage", "-z", "--full-name")
	} else {
		var id string
		id, err = g.git("", "rev-parse", "--verify", "--quiet", "--end-of-options", p.revision+"^{tree}")
		if err != nil && p.bare {
			return fmt.Errorf("%s: there is no such file, folder or git revision", p.arg)
		} else if err != nil {
			return fmt.Errorf("%s: there is no such file, and no git revision %s", p.arg, p.revision)
		}
		g.commit = g.commitOf(p.revision)
		out, err = g.git("", "ls-tree", "-r", "-z", "--full-tree", strings.TrimSpace(id))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.arg, err)
	}
	g.blobs, g.links = map[string]string{}, map[string]bool{}
	for line := range strings.SplitSeq(out, "\x00") {
		// "MODE blob ID\tPATH" or, for staged files, "MODE ID STAGE\tPATH"
		about, name, found := strings.Cut(line, "\t")
		words := strings.Fields(about)
		if !found || len(words) != 3 || !strings.HasPrefix(words[0], "1") || words[0] == "160000" {
			continue
		}
		id := words[2]
		if p.index {
			id = words[1]
		}
		g.blobs[name], g.links[name] = id, words[0] == "120000"
	}
	return nil
}

// commitOf returns the name of a revision's commit, or "" if it has none.
func (g *gitFiles) commitOf(revision string) string {
	id, err := g.git("", "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	if err != nil {
		return "" // a tree, or nothing is committed yet
	}
	return strings.TrimSpace(id)
}

// resolve returns the path in the repository of the file at a path, with symbolic links resolved.
func (g *gitFiles) resolve(name string) (string, bool) {
	rel, ok := g.within(filepath.Clean(name))
	for range 40 {
		if !ok || g.blobs[rel] == "" {
			return "", false
		}
		if !g.links[rel] {
			return rel, true
		}
		target, err := g.blob(rel)
		if err != nil || path.IsAbs(string(target)) {
			return "", false
		}
		rel = path.Join(path.Dir(rel), string(target))
	}
	return "", false
}

// Canonical implements schema.Files.
func (g *gitFiles) Canonical(name string) (string, error) {
	if _, ok := g.within(name); !ok {
		return filepath.EvalSymlinks(name)
	}
	rel, ok := g.resolve(name)
	if !ok {
		return "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return filepath.Join(g.top, filepath.FromSlash(rel)), nil
}

// IsFile implements schema.Files.
func (g *gitFiles) IsFile(name string) bool {
	if _, ok := g.within(name); !ok {
		return schema.Disk.IsFile(name)
	}
	_, ok := g.resolve(name)
	return ok
}

// ReadFile implements schema.Files.
func (g *gitFiles) ReadFile(name string) ([]byte, error) {
	if _, ok := g.within(name); !ok {
		return schema.Disk.ReadFile(name)
	}
	rel, ok := g.resolve(name)
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return g.blob(rel)
}

// blob returns the bytes of a file.
func (g *gitFiles) blob(rel string) ([]byte, error) {
	out, err := g.git("", "cat-file", "blob", g.blobs[rel])
	if len(out) > schema.MaxFile {
		return nil, schema.ErrTooLarge
	}
	return []byte(out), err
}

// isFolder reports whether there are files below a path of the work tree.
func (g *gitFiles) isFolder(name string) bool {
	prefix := g.prefix(name)
	for rel := range g.blobs {
		if strings.HasPrefix(rel, prefix) {
			return true
		}
	}
	return false
}

// prefix returns the common prefix of the paths in a folder.
func (g *gitFiles) prefix(folder string) string {
	rel, _ := g.within(folder)
	if rel == "." {
		return ""
	}
	return rel + "/"
}

// list returns the .thrift files below a folder, by their paths in it. Folders whose names begin
// with a dot are skipped.
func (g *gitFiles) list(folder string) []string {
	var list []string
	for rel := range g.blobs {
		name, ok := strings.CutPrefix(rel, g.prefix(folder))
		if ok && strings.HasSuffix(name, ".thrift") && !strings.HasPrefix(name, ".") && !strings.Contains(path.Dir(name), "/.") {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// path converts a path in the work tree to a path in the repository.
func (g *gitFiles) path(name string) string {
	if rel, ok := g.within(name); ok {
		return rel
	}
	return name
}

// name returns "REV:PATH" for a path in the work tree.
func (g *gitFiles) name(name string) string {
	if rel, ok := g.within(name); ok {
		return g.label + ":" + rel
	}
	return name
}

// describe returns the revision's name in messages.
func (g *gitFiles) describe() string {
	if g.label == "" {
		return "what is staged"
	}
	return "revision " + g.label
}

// git runs git in the work tree with a standard input, and returns its output.
func (g *gitFiles) git(input string, args ...string) (string, error) {
	return g.run(g.top, input, args...)
}

// runner runs git in a folder with a standard input, and returns its output.
type runner func(dir, input string, args ...string) (string, error)

// git is the runner of commands, whose user knows the repository.
func git(dir, input string, args ...string) (string, error) {
	return runGit(exec.Command("git", gitArgs(dir, args)...), input)
}

// waitForPipes is how long the programs that git has started may keep its output open after its
// end.
const waitForPipes = time.Second

// strange returns the runner for repositories of strangers. The settings of a repository name
// programs and addresses for objects that are missing: git gets none of them. The context ends it.
func strange(ctx context.Context) runner {
	return withoutBare(func(dir, input string, args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", gitArgs(dir, args)...)
		cmd.WaitDelay = waitForPipes
		// Git before 2.45 and its mended versions does not know the first one.
		cmd.Env = append(os.Environ(), "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none")
		return runGit(cmd, input)
	})
}

// withoutBare returns a runner that refuses bare repositories. One may be among the files of
// another repository, with settings of its own.
func withoutBare(run runner) runner {
	return func(dir, input string, args ...string) (string, error) {
		return run(dir, input, append([]string{"-c", "safe.bareRepository=explicit"}, args...)...)
	}
}

func gitArgs(dir string, args []string) []string {
	return append([]string{"-C", dir, "--no-pager", "--no-optional-locks"}, args...)
}

func runGit(cmd *exec.Cmd, input string) (string, error) {
	cmd.Env = append(cmd.Environ(), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0")
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		line, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n")
		return "", fmt.Errorf("git: %s", short(strings.TrimPrefix(line, "fatal: ")))
	}
	return out.String(), err
}
