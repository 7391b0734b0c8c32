package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// Version is one state of .thrift files.
type Version struct {
	set       *schema.Set
	single    *schema.Program            // set if a single file was given by name
	files     map[string]*schema.Program // the given files, by path within the given folder
	given     map[*schema.Program]bool   // the same files
	fields    map[idl.Position]*idl.Field
	functions map[idl.Position]*idl.Function
	aliases   map[string]aliases         // the typedefs of each file, by its path
	programs  map[string]*schema.Program // by their paths
	typedefs  map[*schema.Program]map[string]*schema.Typedef
	place     func(path string) string // the name of a file by its path within the given folder
	rename    func(name string) string
	past      *past    // of a git revision
	broken    []string // the given files that are left out, since there are errors
}

// show returns the name of a file in the form for findings, on one line.
func (v *Version) show(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, v.rename(name))
}

// Input says which Versions to load. Old and New are each a file, a folder, or, if no such file
// exists, a git revision: "REV:PATH" is a file or folder in a revision. "REV" stands for the other
// one's path in the revision, or for the current folder if both are revisions.
type Input struct {
	Old, New string
	// Files lists the paths in Old and New to be compared. If it is empty, all files in the
	// folders are compared.
	Files []string
	// OldDirs and NewDirs are the folders for included files.
	OldDirs, NewDirs []string
	// Told has the old files by their paths, if a server tells them. Old is its name.
	Told map[string]string
	// Loose pairs old files also with files in New whose paths end like theirs, if no path in the
	// two folders is the same. For Told it is not needed.
	Loose bool
}

// Load returns the Versions of an Input. Errors in the files are an idl.ErrorList. The Versions
// then lack the files with errors and those that include them. They are nil if no others are there
// to compare.
func Load(in Input) (old, new *Version, err error) {
	if in.Old == "" || in.New == "" {
		return nil, nil, errors.New("the name of what is old or new is empty")
	}
	oldTree, newTree, err := in.open()
	if err != nil {
		return nil, nil, err
	}
	if in.Told != nil || in.Loose {
		if err := oldTree.pair(newTree, in); err != nil {
			return nil, nil, err
		}
	}
	if oldTree.isFile != newTree.isFile {
		return nil, nil, fmt.Errorf("%s and %s must both be files, or both folders", in.Old, in.New)
	}
	for _, name := range in.Files {
		if len(oldTree.files(name)) == 0 && len(newTree.files(name)) == 0 {
			return nil, nil, fmt.Errorf("%s is neither in %s nor in %s: files to be compared are paths in these", name, oldTree.rename(oldTree.base), newTree.rename(newTree.base))
		}
	}
	old, oldErr := oldTree.load(in.Files, in.OldDirs)
	new, newErr := newTree.load(in.Files, in.NewDirs)
	if err = both(oldErr, newErr); err == nil {
		return old, new, nil
	}
	if old == nil || new == nil {
		return nil, nil, err
	}
	old.leaveOut(new.broken)
	new.leaveOut(old.broken)
	if len(old.files) == 0 && len(new.files) == 0 {
		return nil, nil, err
	}
	return old, new, err
}

// both returns two errors as one. Errors that are not in files matter more.
func both(a, b error) error {
	var first, second idl.ErrorList
	switch {
	case a == nil || b != nil && errors.As(a, &first) && !errors.As(b, &second):
		return b
	case b == nil || !errors.As(a, &first):
		return a
	}
	errors.As(b, &second)
	return slices.Concat(first, second)
}

// leaveOut takes away files that the other Version lacks, because they have errors there. Other
// files may still include them.
func (v *Version) leaveOut(rels []string) {
	for _, rel := range rels {
		delete(v.given, v.files[rel])
		delete(v.files, rel)
	}
}

// open returns the trees of an Input.
func (in *Input) open() (old, new *tree, err error) {
	newPlace := parsePlace(in.New)
	if in.Told != nil {
		newPlace.follow(&place{bare: true})
		if old, err = toldTree(in.Old, in.Told); err == nil {
			new, err = newPlace.open()
		}
		return old, new, err
	}
	oldPlace := parsePlace(in.Old)
	oldPlace.follow(newPlace)
	newPlace.follow(oldPlace)
	if old, err = oldPlace.open(); err == nil {
		new, err = newPlace.open()
	}
	return old, new, err
}

// Committed returns the state of a file, by its path on disk, in a git revision.
// The repository may be a stranger's: nothing that its settings name is run or asked for objects
// that are missing. The context also ends what Compare reads of the file's history.
func Committed(ctx context.Context, revision, name string, dirs []string) (*Version, error) {
	p := &place{arg: revision, path: name, revision: revision, bare: true, run: strange(ctx)}
	t, err := p.open()
	if err != nil {
		return nil, err
	}
	return t.load(nil, dirs)
}

// Commit returns the name of a revision's commit in the repository that a file on disk is in. It
// is as careful as Committed.
func Commit(ctx context.Context, revision, name string) (string, error) {
	id, err := strange(ctx)(nearestFolder(name), "", "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	return strings.TrimSpace(id), err
}

// Edited returns the state of a file and of those that it includes as an editor has them.
func Edited(from schema.Files, name string, dirs []string) (*Version, error) {
	same := func(name string) string { return name }
	t := &tree{arg: name, from: from, base: name, isFile: true, rename: same, dir: func(dir string) (string, error) { return dir, nil }}
	return t.load(nil, dirs)
}

// A place is the target of an argument: a path on disk or in a git revision.
type place struct {
	arg      string
	path     string // on disk, even if nothing is there
	revision string // "" for files on disk
	index    bool   // the files that git has staged
	bare     bool   // a revision without a path
	run      runner
}

// parsePlace returns the target of an argument.
func parsePlace(arg string) *place {
	if _, err := os.Lstat(arg); err == nil {
		return &place{arg: arg, path: arg, run: git}
	}
	rev, name, found := cutRevision(arg)
	switch {
	case !found:
		return &place{arg: arg, revision: arg, bare: true, run: git}
	case rev == "":
		return &place{arg: arg, path: strings.TrimPrefix(name, "0:"), index: true, run: git}
	}
	return &place{arg: arg, path: name, revision: rev, run: git}
}

// cutRevision cuts "REV:PATH" at the first colon outside braces, as git does.
func cutRevision(arg string) (rev, name string, found bool) {
	depth := 0
	for i, r := range arg {
		switch {
		case r == '{':
			depth++
		case r == '}' && depth > 0:
			depth--
		case r == ':' && depth == 0:
			return arg[:i], arg[i+1:], true
		}
	}
	return arg, "", false
}

// follow gives a revision without a path the path of the other place.
func (p *place) follow(other *place) {
	switch {
	case !p.bare || p.path != "":
	case other.bare:
		p.path = "./"
	case other.revision != "" || other.index:
		p.path, p.bare = other.path, false // a path in the repository
	default:
		p.path = other.path
	}
}

// A tree has the files of a place.
type tree struct {
	arg    string
	from   schema.Files
	base   string // the path of the file or folder in from
	isFile bool
	rename func(string) string
	at     map[string]string // paths in from by the paths in the tree, where they are not the same
	// list returns the .thrift files in a folder, by their paths in it.
	list func(folder string) ([]string, error)
	// dir converts a folder on the command line to a path in from.
	dir func(string) (string, error)
	// history returns the history of a file by its path. It is nil for files on disk.
	history func(name string) (history, error)
}

// open returns the files of a place.
func (p *place) open() (*tree, error) {
	if p.revision != "" || p.index {
		return openGit(p)
	}
	info, err := os.Stat(p.path)
	if err != nil {
		return nil, plainError(err)
	}
	return &tree{
		arg: p.arg, from: schema.Disk, base: p.path, isFile: !info.IsDir(), list: listFolder,
		rename: func(name string) string { return name },
		dir:    func(name string) (string, error) { return name, nil },
	}, nil
}

// listFolder returns the .thrift files below a folder, by their paths in it. Folders whose names
// begin with a dot are left out.
func listFolder(dir string) ([]string, error) {
	var list []string
	dir += string(filepath.Separator) // dir may be a symbolic link
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return plainError(err)
		case d.IsDir() && name != dir && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case !d.IsDir() && strings.HasSuffix(name, ".thrift"):
			rel, err := filepath.Rel(dir, name)
			list = append(list, filepath.ToSlash(rel))
			return err
		}
		return nil
	})
	return list, err
}

// plainError returns an I/O error as "path: reason".
func plainError(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("%s: %w", pe.Path, pe.Err)
	}
	return err
}

// name converts a path in the tree to a path in from.
func (t *tree) name(rel string) string {
	if name, ok := t.at[rel]; ok {
		return name
	}
	if filepath.IsAbs(rel) { // a server may tell such a path
		return rel
	}
	return filepath.Join(t.base, filepath.FromSlash(rel))
}

// files returns the .thrift files at a path in the tree: the file itself, or those in the folder.
func (t *tree) files(rel string) []string {
	if t.isFile {
		return nil
	}
	rel = path.Clean(filepath.ToSlash(rel))
	if t.from.IsFile(t.name(rel)) {
		return []string{rel}
	}
	list, err := t.list(t.name(rel))
	if err != nil {
		return nil // there is no such folder
	}
	for i := range list {
		list[i] = path.Join(rel, list[i])
	}
	return list
}

// load reads the tree's files, or only the wanted ones.
func (t *tree) load(wanted, dirs []string) (*Version, error) {
	v := &Version{files: map[string]*schema.Program{}, given: map[*schema.Program]bool{}, rename: t.rename, place: t.name,
		fields: map[idl.Position]*idl.Field{}, functions: map[idl.Position]*idl.Function{}, aliases: map[string]aliases{},
		programs: map[string]*schema.Program{}, typedefs: map[*schema.Program]map[string]*schema.Typedef{}}
	if t.history != nil {
		v.past = &past{t.history, map[*schema.Program]pastFile{}}
	}
	rels, err := t.rels(wanted)
	if err != nil {
		return nil, err
	}
	places := make([]string, len(dirs))
	for i, dir := range dirs {
		if places[i], err = t.dir(dir); err != nil {
			return nil, err
		}
	}
	set, names, failed := t.read(rels, places)
	var list idl.ErrorList
	if errors.As(failed, &list) {
		all := rels
		rels = t.sound(set, list, rels)
		v.broken = slices.DeleteFunc(all, func(rel string) bool { return slices.Contains(rels, rel) })
		if set, names, err = t.read(rels, places); err != nil {
			rels = nil // there were too many errors to know where all are
		}
	}
	if failed = v.renamed(failed); failed != nil && len(rels) == 0 {
		return nil, failed
	}
	v.set = set
	byPath := map[string]*schema.Program{}
	for _, p := range v.set.Programs {
		canonical, err := t.from.Canonical(p.Path)
		if err != nil {
			return nil, err
		}
		byPath[canonical] = p
		v.syntax(p)
	}
	for i, rel := range rels {
		canonical, err := t.from.Canonical(names[i])
		if err != nil {
			return nil, err
		}
		p := byPath[canonical]
		v.files[rel], v.given[p] = p, true
		if t.isFile {
			v.single = p
		}
	}
	return v, failed
}

// read loads files by their paths in the tree. It also returns their names in from.
func (t *tree) read(rels, dirs []string) (*schema.Set, []string, error) {
	names := make([]string, len(rels))
	for i, rel := range rels {
		names[i] = t.name(rel)
	}
	set, err := schema.LoadFrom(t.from, names, dirs)
	return set, names, err
}

// sound returns the paths in the tree of files without errors, also in those that they include.
func (t *tree) sound(set *schema.Set, errs idl.ErrorList, rels []string) (sound []string) {
	wrong := map[string]bool{}
	for _, e := range errs {
		wrong[e.Pos.Filename] = true
	}
	good := map[string]bool{}            // canonical names
	broken := map[*schema.Program]bool{} // included programs come before those that include them
	for _, p := range set.Programs {
		broken[p] = wrong[p.Path] || slices.ContainsFunc(p.Includes, func(inc schema.Include) bool { return broken[inc.Program] })
		if name, err := t.from.Canonical(p.Path); err == nil && !broken[p] {
			good[name] = true
		}
	}
	for _, rel := range rels {
		if name, err := t.from.Canonical(t.name(rel)); err == nil && good[name] {
			sound = append(sound, rel)
		}
	}
	return sound
}

// rels returns the paths in the tree of the files to load; "" for a tree that is one file.
func (t *tree) rels(wanted []string) ([]string, error) {
	switch {
	case t.isFile && len(wanted) > 0:
		return nil, fmt.Errorf("%s is a file: files in it cannot be given", t.arg)
	case t.isFile:
		return []string{""}, nil
	case len(wanted) == 0:
		list, err := t.list(t.base)
		if err == nil && len(list) == 0 {
			err = fmt.Errorf("there are no .thrift files in %s", t.arg)
		}
		return list, err
	}
	var list []string
	for _, name := range wanted {
		list = append(list, t.files(name)...)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// renamed returns errors with file names in the form for findings.
func (v *Version) renamed(err error) error {
	var list idl.ErrorList
	if !errors.As(err, &list) {
		return err
	}
	for _, e := range list {
		e.Pos.Filename = v.show(e.Pos.Filename)
	}
	return list
}

// syntax notes the syntax trees of a file's fields, methods and typedefs.
func (v *Version) syntax(p *schema.Program) {
	fields := func(list []*idl.Field) {
		for _, f := range list {
			v.fields[f.Pos] = f
		}
	}
	v.aliases[p.Path], v.programs[p.Path] = typedefs(p.AST), p
	v.typedefs[p] = map[string]*schema.Typedef{}
	for _, t := range p.Typedefs {
		v.typedefs[p][t.Name] = t
	}
	for _, d := range p.AST.Definitions {
		switch d := d.(type) {
		case *idl.Struct:
			fields(d.Fields)
		case *idl.Service:
			for _, f := range d.Functions {
				v.functions[f.Name.Pos] = f
				fields(f.Args)
				fields(f.Throws)
			}
		}
	}
}

// typedef returns the typedef that a type's name refers to, or nil.
func (v *Version) typedef(t *idl.Type) *schema.Typedef {
	p := v.programs[t.Pos.Filename]
	if found := v.typedefs[p][t.Name]; found != nil || t.Name == "" {
		return found
	}
	name := bare(t.Name)
	for _, inc := range p.Includes {
		if found := v.typedefs[inc.Program][name]; found != nil && inc.Name+"."+name == t.Name {
			return found
		}
	}
	return nil
}

// Warnings returns the warnings about a Version's files.
func (v *Version) Warnings() idl.ErrorList {
	list := slices.Clone(v.set.Warnings)
	for i, w := range list {
		list[i] = &idl.Error{Pos: w.Pos, Msg: w.Msg, About: w.About}
		list[i].Pos.Filename = v.show(w.Pos.Filename)
	}
	return list
}
