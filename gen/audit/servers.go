package audit

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// IsRevision reports whether an argument is a revision of git, or a path in one, in the repository
// that name is in.
func IsRevision(arg, name string) bool {
	rev, _, hasPath := cutRevision(arg)
	dir := nearestFolder(filepath.FromSlash(name))
	if hasPath {
		dir = "."
	}
	_, err := withoutBare(git)(dir, "", "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{tree}")
	return rev == "" && hasPath || err == nil
}

// maxPath bounds the paths that a server tells, in bytes: each finding has them.
const maxPath = 4096

// toldTree returns the tree of files that a server tells. Two files of the same path are an error:
// one would hide what the other breaks.
func toldTree(name string, texts map[string]string) (*tree, error) {
	clean := schema.Texts{}
	for _, file := range slices.Sorted(maps.Keys(texts)) {
		to := path.Clean(file)
		if _, twice := clean[to]; twice {
			return nil, fmt.Errorf("%s has two files %s", name, short(to))
		}
		if len(file) > maxPath {
			return nil, fmt.Errorf("%s has a file whose path has %d bytes, of at most %d: %s", name, len(file), maxPath, short(file))
		}
		clean[to] = texts[file]
	}
	if len(clean) == 0 {
		return nil, fmt.Errorf("%s has no files", name)
	}
	return &tree{
		arg: name, from: clean, base: ".",
		list:   func(string) ([]string, error) { return slices.Sorted(maps.Keys(clean)), nil },
		rename: func(file string) string { return name + ":" + file },
		dir:    func(dir string) (string, error) { return dir, nil },
	}, nil
}

// pair gives files of the old tree the paths of the new one's. A server does not say in which
// folder its files are: it has those whose paths end like theirs.
func (t *tree) pair(new *tree, in Input) error {
	if t.isFile {
		return nil
	}
	olds, err := t.list(t.base)
	if err != nil {
		return err
	}
	if len(olds) == 0 {
		return fmt.Errorf("there are no .thrift files in %s", in.Old)
	}
	news := []string{""}
	if !new.isFile {
		if news, err = new.list(new.base); err != nil {
			return err
		}
	}
	same := slices.ContainsFunc(olds, func(rel string) bool { return slices.Contains(news, rel) })
	if same && in.Told == nil {
		return nil
	}
	at := t.matches(olds, new, news)
	if new.isFile && len(olds) == 1 { // whatever their names are
		at[""] = t.name(olds[0])
	}
	if len(at) == 0 {
		return fmt.Errorf("%s and %s have no file in common: %s has %s", in.Old, in.New, in.Old, short(strings.Join(olds, ", ")))
	}
	if new.isFile {
		t.isFile, t.base = true, at[""]
		return nil
	}
	t.rest(olds, at, in)
	base := t.base
	t.at, t.list = at, func(folder string) (list []string, err error) {
		rel, err := filepath.Rel(base, folder)
		prefix := strings.TrimPrefix(filepath.ToSlash(rel)+"/", "./")
		for _, name := range slices.Sorted(maps.Keys(at)) {
			if name, ok := strings.CutPrefix(name, prefix); ok {
				list = append(list, name)
			}
		}
		return list, err
	}
	return nil
}

// matches returns the paths in t.from of old files, by the paths of the new files that they belong
// to: those with the same path, then those with the same end of it, and then of the same name.
func (t *tree) matches(olds []string, new *tree, news []string) map[string]string {
	at, byName := map[string]string{}, map[string][]string{}
	whole := map[string]string{}
	for _, rel := range news {
		abs, err := filepath.Abs(new.name(rel))
		if err != nil {
			abs = new.name(rel)
		}
		whole[rel] = filepath.ToSlash(abs)
		byName[path.Base(whole[rel])] = append(byName[path.Base(whole[rel])], rel)
	}
	paired := map[string]bool{}
	for _, fits := range []func(old, rel string) bool{
		func(old, rel string) bool { return old == rel },
		func(old, rel string) bool { return strings.HasSuffix(whole[rel], "/"+old) },
		func(old, rel string) bool { return rel != "" && strings.HasSuffix("/"+old, "/"+rel) },
		func(string, string) bool { return true }, // the name is the same
	} {
		found := map[string][]string{} // old files by the new ones
		for _, old := range olds {
			rels := slices.DeleteFunc(slices.Clone(byName[path.Base(old)]), func(rel string) bool { return at[rel] != "" || !fits(path.Clean(old), rel) })
			if len(rels) == 1 && !paired[old] {
				found[rels[0]] = append(found[rels[0]], old)
			}
		}
		for rel, list := range found {
			if len(list) == 1 {
				at[rel], paired[list[0]] = t.name(list[0]), true
			}
		}
	}
	return at
}

// rest adds the old files to at that neither belong to a new file nor are included by one that
// does: they are gone. Included files have their pairs by the lines that include them.
func (t *tree) rest(olds []string, at map[string]string, in Input) {
	// load reports the errors.
	set, _ := schema.LoadFrom(t.from, slices.Sorted(maps.Values(at)), in.OldDirs)
	known := map[string]bool{}
	for _, p := range set.Programs {
		if name, err := t.from.Canonical(p.Path); err == nil {
			known[name] = true
		}
	}
	for _, rel := range olds {
		if name, err := t.from.Canonical(t.name(rel)); err == nil && !known[name] && at[rel] == "" {
			at[rel] = t.name(rel)
		}
	}
}
