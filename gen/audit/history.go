package audit

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// A use is a field that had an id in an earlier revision.
type use struct{ name, typ, revision string }

// A history holds the last use of each id in earlier revisions of a file, by struct. Structs are
// named like the key of a fieldsOf.
type history map[string]map[int64]use

// The bounds of a file's history. The newest revisions are read first.
const (
	maxRevisions    = 1000
	maxHistoryBytes = 8 << 20
)

// history returns the history of a file with this path in the work tree. It returns none if the
// revision is not a commit, or does not have the file.
func (g *gitFiles) history(name string) (history, error) {
	rel, ok := g.resolve(name)
	if g.commit == "" || !ok {
		return nil, nil
	}
	out, err := g.git("", "--literal-pathspecs", "-c", "log.showSignature=false", "log", "--follow", "--raw", "--no-abbrev", "--no-color",
		"--format=%H", "--max-count="+strconv.Itoa(maxRevisions), g.commit, "--", rel)
	if err != nil {
		return nil, err
	}
	var blobs, commits []string
	commit, seen := "", map[string]bool{}
	for line := range strings.SplitSeq(out, "\n") {
		// a commit's name; then ":OLDMODE NEWMODE OLDBLOB NEWBLOB STATUS\tPATHS", paths quoted
		words := strings.Fields(line)
		switch {
		case len(words) == 1:
			commit = words[0]
		case len(words) > 4 && strings.HasPrefix(words[0], ":") && strings.HasPrefix(words[1], "100") && !seen[words[3]]:
			seen[words[3]] = true
			blobs, commits = append(blobs, words[3]), append(commits, commit)
		}
	}
	texts, err := g.texts(blobs)
	if err != nil {
		return nil, err
	}
	h := history{}
	for i, text := range texts {
		f, _ := idl.Parse(rel, text) // if a revision does not parse, use the part that does
		h.add(f, commits[i][:min(10, len(commits[i]))])
	}
	return h, nil
}

// texts returns the contents of the first blobs, up to maxHistoryBytes in total.
func (g *gitFiles) texts(blobs []string) ([][]byte, error) {
	sizes, err := g.git(strings.Join(blobs, "\n"), "cat-file", "--batch-check=%(objectsize)")
	if err != nil {
		return nil, err
	}
	n, total := 0, 0
	for line := range strings.Lines(sizes) {
		size, err := strconv.Atoi(strings.TrimSpace(line))
		if total += size; err != nil || total > maxHistoryBytes || n == len(blobs) {
			break
		}
		n++
	}
	out, err := g.git(strings.Join(blobs[:n], "\n"), "cat-file", "--batch=%(objectsize)")
	if err != nil {
		return nil, err
	}
	var texts [][]byte
	for rest := []byte(out); len(texts) < n; {
		head, tail, _ := bytes.Cut(rest, []byte("\n"))
		size, err := strconv.Atoi(string(head))
		if err != nil || size >= len(tail) {
			return nil, fmt.Errorf("git: cat-file: unexpected output")
		}
		texts, rest = append(texts, tail[:size]), tail[size+1:]
	}
	return texts, nil
}

// add adds the fields of a revision of the file that is older than all revisions so far.
func (h history) add(f *idl.File, revision string) {
	if f == nil {
		return
	}
	names := typedefs(f)
	fields := func(key string, list []*idl.Field) {
		if h[key] == nil {
			h[key] = map[int64]use{}
		}
		auto := int64(-1) // as package schema counts
		for _, f := range list {
			id := auto
			if f.ID != nil {
				id = int64(*f.ID)
			}
			if id <= 0 {
				auto = id - 1
			}
			if _, later := h[key][id]; !later {
				h[key][id] = use{f.Name.Text, names.written(f.Type), revision}
			}
		}
	}
	for _, d := range f.Definitions {
		switch d := d.(type) {
		case *idl.Struct:
			fields(d.Name.Text, d.Fields)
		case *idl.Service:
			for _, m := range d.Functions {
				key := d.Name.Text + "." + m.Name.Text
				fields(key+"_args", m.Args)
				fields(key+"_exception", m.Throws)
			}
		}
	}
}

// aliases has the typedefs of a file by name.
type aliases map[string]*idl.Type

func typedefs(f *idl.File) aliases {
	names := aliases{}
	for _, d := range f.Definitions {
		if d, ok := d.(*idl.Typedef); ok {
			names[d.Name.Text] = d.Type
		}
	}
	return names
}

// written returns a type as text, with the file's typedefs resolved. Inside containers, typedefs
// of containers stay unresolved, since they could make the text very large.
func (a aliases) written(t *idl.Type) string {
	return short(written(a.resolved(t), func(name string) string {
		if t := a.resolved(&idl.Type{Name: name}); t.Base != "" || t.Name != "" {
			return written(t, bare)
		}
		return bare(name)
	}))
}

// resolved returns the type that t stands for if it is the name of a typedef of the file.
func (a aliases) resolved(t *idl.Type) *idl.Type {
	for range 100 {
		if t == nil || a[t.Name] == nil {
			break
		}
		t = a[t.Name]
	}
	return t
}

// A past holds the histories of a Version's files. It reads each at first use.
type past struct {
	of    func(name string) (history, error)
	files map[*schema.Program]pastFile
}

type pastFile struct {
	history
	err error
}

// lastUse returns the last field that had an id in earlier revisions, and whether one is known.
// The error says why the file's history is unknown.
func (p *past) lastUse(of fieldsOf, id int16) (last use, found bool, err error) {
	if p == nil {
		return use{}, false, nil // files on disk have no history
	}
	f, asked := p.files[of.program]
	if !asked {
		f.history, f.err = p.of(of.program.Path)
		p.files[of.program] = f
	}
	last, found = f.history[of.key][int64(id)]
	return last, found, f.err
}
