package lint

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pinterest/thriftcheck"
	"github.com/pinterest/thriftcheck/checks"
)

var wild = flag.String("wild", "", "a folder of .thrift files to compare with thriftcheck, such as `go run -C gen/internal ./wild -keep DIR` makes")

// TestThriftcheck compares findings with those of thriftcheck's own code, for all rules that both
// have, on the files of Apache Thrift, and with -wild on those of a folder. Files that either
// refuses are left out.
func TestThriftcheck(t *testing.T) {
	root := *wild
	if root == "" {
		root = apacheDir(t)
	}
	files := thriftFiles(t, root)
	if len(files) < 100 {
		t.Fatalf("only %d files", len(files))
	}
	theirs, ours := map[string]int{}, map[string]int{}
	compared, refused := 0, 0
	for _, file := range files {
		a, ok := theirFindings(t, file)
		if !ok {
			refused++
			continue
		}
		b, ok := ourFindings(t, file)
		if !ok {
			refused++
			continue
		}
		compared++
		for key, n := range a {
			theirs[key] += n
		}
		for key, n := range b {
			ours[key] += n
		}
	}
	rules := map[string]int{}
	for key, n := range theirs {
		rules[key[strings.LastIndexByte(key, ' ')+1:]] += n
	}
	t.Logf("%d files compared, %d refused by either", compared, refused)
	for _, rule := range slices.Sorted(maps.Keys(rules)) {
		t.Logf("%-20s %6d", rule, rules[rule])
	}
	keys := map[string]bool{}
	for key := range theirs {
		keys[key] = true
	}
	for key := range ours {
		keys[key] = true
	}
	met := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		file, rule := key[:strings.IndexByte(key, ' ')], key[strings.LastIndexByte(key, ' ')+1:]
		if theirs[key] == ours[key] {
			continue
		}
		i := slices.IndexFunc(accepted, func(d difference) bool { return d.rule == rule && strings.HasSuffix(file, "/"+d.file) })
		if i < 0 || accepted[i].theirs != theirs[key] || accepted[i].ours != ours[key] {
			t.Errorf("%s: thriftcheck has %d, we have %d", strings.TrimPrefix(key, root+"/"), theirs[key], ours[key])
			continue
		}
		met[accepted[i].file+rule] = true
	}
	for _, d := range accepted {
		if !met[d.file+d.rule] && (*wild != "" || !strings.HasPrefix(d.file, "thriftrw@")) {
			t.Errorf("%s %s is no difference any more", d.file, d.rule)
		}
	}
}

// difference is how many findings of a rule there are in a file, where they are not as many.
type difference struct {
	file, rule   string
	theirs, ours int
	reason       string
}

// In all differences that there are, thriftcheck does not find out what a type is: it allows no
// such type, and disallows none.
const (
	aliasOfName = "thriftcheck resolves one typedef. These are of a name that is an enum."
	dotInFile   = "thriftcheck takes what is before the first dot for the file's name, which has a dot. The types are enums."
)

// accepted are the differences from thriftcheck, those in Apache's files and those in files of
// -wild. We are right in all of them.
var accepted = []difference{
	{"lib/java/src/test/resources/JavaDefinitionOrderA.thrift", "map.key.type", 1, 0, aliasOfName},
	{"lib/java/src/test/resources/JavaDefinitionOrderA.thrift", "types", 4, 6, aliasOfName},
	{"lib/java/src/test/resources/JavaDefinitionOrderB.thrift", "map.key.type", 1, 0, aliasOfName},
	{"lib/java/src/test/resources/JavaDefinitionOrderB.thrift", "types", 4, 6, aliasOfName},
	{"lib/netstd/Tests/Thrift.Compile.Tests/Thrift5320.thrift", "types", 2, 3, dotInFile},
	{"lib/netstd/Tests/Thrift.Compile.Tests/Thrift5382.thrift", "set.value.type", 1, 0, dotInFile},
	{"lib/netstd/Tests/Thrift.Compile.Tests/Thrift5382.thrift", "types", 0, 3, dotInFile},
	{"lib/netstd/Tests/Thrift.Compile.Tests/name_conflicts.thrift", "types", 0, 6, dotInFile},
	{"test/EnumContainersTest.thrift", "map.key.type", 2, 0, aliasOfName},
	{"test/EnumContainersTest.thrift", "set.value.type", 2, 0, aliasOfName},
	{"test/EnumContainersTest.thrift", "types", 3, 7, aliasOfName},
	{"thriftrw@v1.32.0/gen/internal/tests/thrift/constants.thrift", "types", 4, 5, aliasOfName},
}

// apacheDir returns the folder of Apache Thrift's module, which has its .thrift files.
func apacheDir(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("go", "mod", "download", "-json", "github.com/apache/thrift@v0.25.0")
	cmd.Dir = t.TempDir() // outside of any module
	out, err := cmd.Output()
	var module struct{ Dir string }
	if jsonErr := json.Unmarshal(out, &module); err != nil || jsonErr != nil || module.Dir == "" {
		t.Fatalf("%v %v\n%s", err, jsonErr, out)
	}
	return module.Dir
}

func thriftFiles(t *testing.T, root string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(name) == ".thrift" {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// theirFindings counts the findings of thriftcheck by file, line, severity, the first name in the
// message and rule. It reports false if the file does not parse.
func theirFindings(t *testing.T, file string) (map[string]int, bool) {
	t.Helper()
	base, enum := thriftcheck.ThriftType{}, thriftcheck.ThriftType{}
	if err := cmp.Or(base.UnmarshalString("base"), enum.UnmarshalString("enum")); err != nil {
		t.Fatal(err)
	}
	plain := []thriftcheck.ThriftType{base, enum}
	linter := thriftcheck.NewLinter(thriftcheck.Checks{
		checks.CheckConstantRef(), checks.CheckEnumSize(20, 50), checks.CheckFieldDocMissing(),
		checks.CheckFieldIDMissing(), checks.CheckFieldIDNegative(), checks.CheckFieldIDZero(),
		checks.CheckFieldOptional(), checks.CheckFieldRequiredness(), checks.CheckIncludePath(),
		checks.CheckInteger64bit(), checks.CheckMapKeyType(plain, nil), checks.CheckMapValueType(nil, []thriftcheck.ThriftType{enum}),
		checks.CheckNamesReserved([]string{"id", "name", "value"}), checks.CheckSetValueType(plain, nil),
		checks.CheckTypes(nil, []thriftcheck.ThriftType{enum}),
	}, thriftcheck.WithIncludes([]string{filepath.Dir(file)}))
	r, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	messages, err := linter.Lint(r, file)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, m := range messages {
		if m.Check == "parse" {
			return nil, false
		}
		found[key(file, m.Severity.String(), m.Message, m.Check)]++
	}
	return found, true
}

// ourFindings is the same of this package.
func ourFindings(t *testing.T, file string) (map[string]int, bool) {
	t.Helper()
	cfg := Config{Includes: []string{filepath.Dir(file)}, Thriftcheck: true}
	cfg.Checks.Enum.Size.Warning, cfg.Checks.Enum.Size.Error = 20, 50
	cfg.Checks.Names.Reserved = []string{"id", "name", "value"}
	cfg.Checks.Map.Value.DisallowedTypes = []string{"enum"}
	cfg.Checks.Types.DisallowedTypes = []string{"enum"}
	cfg.Checks.Disabled = []string{"compile"}
	result, err := Lint(Input{Paths: []string{file}, Config: cfg})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Findings) == 0 {
		cfg.Checks.Disabled = nil
		all, err := Lint(Input{Paths: []string{file}, Config: cfg})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all.Findings {
			if f.Severity == Error && f.Pos.Filename == file {
				return nil, false
			}
		}
	}
	found := map[string]int{}
	for _, f := range result.Findings {
		found[key(file, string(f.Severity), f.Message, f.Rule)]++
	}
	return found, true
}

func key(file, severity, message, rule string) string {
	name := ""
	// Rules about types name what is not allowed in other words.
	if _, rest, ok := strings.Cut(message, `"`); ok && !strings.Contains(rule, "type") {
		name, _, _ = strings.Cut(rest, `"`)
	}
	return fmt.Sprintf("%s %s %q %s", file, severity, name, rule)
}

// TestApache: the findings of the default rules in Apache's own files are right: an enum with
// aliases, keys that fail in some languages, fields without ids, names of keywords, and files that
// need -I, are not used, or are broken to test Apache's compiler.
func TestApache(t *testing.T) {
	result, err := Lint(Input{Paths: []string{apacheDir(t)}})
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]int{}
	for _, f := range result.Findings {
		have[f.Rule+" "+string(f.Severity)]++
	}
	want := map[string]int{
		"compile error":          3,  // BrokenConstants.thrift, and a struct that must contain itself
		"compile warning":        65, // names that Apache's compiler refuses; uuid in 10 files
		"constant.ref error":     8,  // values of another enum, and of files by none
		"field.id.missing error": 27, "map.key.type error": 26, "map.key.type warning": 40, "set.value.type warning": 34,
		"include.path error":          14, // lib/rs/test_recursive, which is compiled with -I
		"ENUM_NO_ALLOW_ALIAS warning": 2, "IMPORT_USED warning": 3,
	}
	if !maps.Equal(have, want) {
		t.Errorf("have %v\nwant %v", have, want)
	}
}
