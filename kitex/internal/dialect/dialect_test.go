package dialect

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cloudwego/thriftgo/parser"
	"github.com/cloudwego/thriftgo/semantic"

	"github.com/nocopythrift/nocopythrift/gen/idlfmt"
	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
)

// root is the folder of the repository.
const root = "../../.."

// texts has .thrift files by path.
type texts map[string]string

func (t texts) Canonical(path string) (string, error) { return path, nil }
func (t texts) IsFile(path string) bool               { _, ok := t[path]; return ok }
func (t texts) ReadFile(path string) ([]byte, error)  { return []byte(t[path]), nil }

// thriftgo returns the error of thriftgo for a file.
func thriftgo(path string, files texts) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("thriftgo panicked: %v", p)
		}
	}()
	parsed := map[string]*parser.Thrift{}
	var load func(path string) (*parser.Thrift, error)
	load = func(path string) (*parser.Thrift, error) {
		if f := parsed[path]; f != nil {
			return f, nil
		}
		text, ok := files[path]
		if !ok {
			return nil, fs.ErrNotExist
		}
		f, err := parser.ParseString(path, text)
		if err != nil {
			return nil, err
		}
		parsed[path] = f
		for _, inc := range f.Includes {
			if inc.Reference, err = load(filepath.Join(filepath.Dir(path), inc.Path)); err != nil {
				return nil, err
			}
		}
		return f, nil
	}
	f, err := load(path)
	if err != nil {
		return err
	}
	if circle := parser.CircleDetect(f); circle != "" {
		return errors.New(circle)
	}
	if err := semantic.ResolveSymbols(f); err != nil {
		return err
	}
	_, err = semantic.NewChecker(semantic.Options{FixWarnings: true}).CheckAll(f)
	return err
}

// nocopyc returns our error for a file.
func nocopyc(path string, files texts) error {
	_, err := schema.LoadFrom(files, []string{path}, nil)
	if err == nil {
		_, err = idlfmt.Format(path, []byte(files[path]))
	}
	return err
}

// withIncludes returns a file and the files that it includes.
func withIncludes(t *testing.T, path string) texts {
	t.Helper()
	files := texts{}
	var add func(path string)
	add = func(path string) {
		text, err := os.ReadFile(path)
		if files.IsFile(path) || err != nil {
			return // thriftgo will say that it is missing
		}
		files[path] = string(text)
		if f, err := parser.ParseString(path, string(text)); err == nil {
			for _, inc := range f.Includes {
				add(filepath.Join(filepath.Dir(path), inc.Path))
			}
		}
	}
	add(path)
	return files
}

// paths returns the files below a folder whose names end with ext.
func paths(t *testing.T, dir, ext string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && len(d.Name()) > 2 && d.Name()[0] == '.' {
			return fs.SkipDir
		}
		if err == nil && strings.HasSuffix(path, ext) {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// moduleDir returns the folder of a module that this one requires.
func moduleDir(t *testing.T, module string) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

var (
	fencedBlock  = regexp.MustCompile("(?sm)^```thrift ?([^\n]*)\n(.*?)^```$")
	commentBlock = regexp.MustCompile(`(?m)(?:^\s*//\t.*\n)+`)
	beginsIDL    = regexp.MustCompile(`^\s*(namespace|include|struct|union|exception|service|enum|typedef|const) [\w.]+ ?[\w<{]`)
)

// TestDocs: thriftgo also accepts all IDL in the documentation and in comments of the library.
func TestDocs(t *testing.T) {
	blocks := 0
	check := func(path, text string, theirs, ours error) {
		blocks++
		if theirs != nil {
			t.Errorf("%s: thriftgo: %v:\n%s", path, theirs, text)
		}
		if ours != nil {
			t.Errorf("%s: nocopyc: %v:\n%s", path, ours, text)
		}
	}
	for _, path := range paths(t, root, ".md") {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files := texts{} // blocks with names, which others include
		for _, m := range fencedBlock.FindAllStringSubmatch(string(page), -1) {
			if m[1] != "" {
				files[filepath.Base(m[1])] = m[2]
			}
		}
		for _, m := range fencedBlock.FindAllStringSubmatch(string(page), -1) {
			files["f"] = m[2]
			check(path, m[2], thriftgo("f", files), nocopyc("f", files))
		}
	}
	for _, path := range paths(t, root+"/nocopy", ".go") {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range commentBlock.FindAllString(string(source), -1) {
			text := regexp.MustCompile(`(?m)^\s*//\t?`).ReplaceAllString(block, "")
			if beginsIDL.MatchString(text) && !strings.Contains(text, ":=") {
				// Other types may be in other blocks.
				_, theirs := parser.ParseString("f", text)
				_, ours := idlfmt.Format("f", []byte(text))
				check(path, text, theirs, ours)
			}
		}
	}
	if blocks < 6 {
		t.Errorf("only %d blocks were found", blocks)
	}
}

// refused matches the errors for IDL that nocopyc refuses although thriftgo's parser accepts it.
// docs/idl.md lists the first three lines. For the others, thriftgo fails when it generates code,
// or its code does not compile.
var refused = regexp.MustCompile(`unknown type (required|optional)\w|unexpected "(required|optional)\w` +
	`|must not contain a dot|unexpected character '\.'` +
	`|is thrown but is not an exception|contain another \w+ without end` +
	`|cannot use |does not fit in|has no (field|value)|is not a value of|out of range|unknown constant` +
	`|is taken|the name of a field|fields \w+ and \w+ have the same id|has two fields|collides with` +
	`|refers to itself|has two methods|sets one field|is not a service|is already defined`)

// TestFiles: nocopyc accepts the .thrift files of thriftgo, Kitex and dynamicgo, and mutated ones
// that thriftgo accepts.
func TestFiles(t *testing.T) {
	var list []string
	for _, module := range []string{"thriftgo", "kitex", "dynamicgo"} {
		list = append(list, paths(t, moduleDir(t, "github.com/cloudwego/"+module), ".thrift")...)
	}
	if len(list) < 60 {
		t.Fatalf("only %d files were found", len(list))
	}
	seed, changes := uint64(1), 6
	if testmode.Long {
		seed, changes = rand.Uint64(), 200
	}
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	accepted := 0
	for _, path := range list {
		files := withIncludes(t, path)
		text := files[path]
		for n := range changes {
			if n > 0 {
				if len(text) > 3000 {
					break
				}
				files[path] = mutate(r, text)
			}
			if thriftgo(path, files) != nil {
				continue
			}
			accepted++
			if err := nocopyc(path, files); err != nil && !refused.MatchString(err.Error()) {
				t.Errorf("%s: %v\n%s", path, err, files[path])
			}
		}
	}
	if accepted < 150 {
		t.Errorf("thriftgo accepted only %d", accepted)
	}
}

// words has the words that mutate inserts.
var words = strings.Split(`namespace|include|const|typedef|enum|struct|union|exception|service|list|map|set|string|binary|
i8|i32|i64|bool|byte|double|void|oneway|async|required|optional|throws|extends|xsd_all|cpp_type|next|from|=|:|;|,|(|)|{|}|
[|]|<|>|1|-1|007|0x1f|0o17|1.5|.5|1e3|"a"|'b'|"a\d"|"a
b"|'x\'
y'|a|b|true|// c|# c
|/* c */|&|+|(k = "v")|(k)|= 1|1: i32 a|go`, "|")

var word = regexp.MustCompile(`\w+|\s+|[^\w\s]`)

// mutate returns text with some of its words changed.
func mutate(r *rand.Rand, text string) string {
	list := word.FindAllString(text, -1)
	for range 1 + r.IntN(3) {
		i, other := r.IntN(len(list)), words[r.IntN(len(words))]
		switch r.IntN(4) {
		case 0:
			list[i] = other
		case 1:
			list[i] = ""
		case 2:
			list[i] += " " + other + " "
		case 3:
			j := r.IntN(len(list))
			list[i], list[j] = list[j], list[i]
		}
	}
	return strings.Join(list, "")
}
