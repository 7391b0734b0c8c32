package documents_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// generate runs the generator on a file in a new folder, and returns the exported names that the
// code declares: T, F, T.Method, and T.Field of structs. Files have their paths.
func generate(t *testing.T, file, text string, flags ...string) map[string]bool {
	t.Helper()
	command, err := nocopyc()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{file: text, "go.mod": "module example.com/shop\n\ngo 1.26\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(command, append(flags, "-o", ".", file)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	names, files := map[string]bool{}, map[string]bool{}
	err = filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".go" {
			declared(t, path, names)
			var rel string
			rel, err = filepath.Rel(dir, path)
			files[filepath.ToSlash(rel)] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(names, func(name string, _ bool) bool {
		typ, member, ok := strings.Cut(name, ".")
		return !ast.IsExported(typ) || ok && !ast.IsExported(member)
	})
	maps.Copy(names, files)
	return names
}

// declared adds the names that a file declares.
func declared(t *testing.T, path string, names map[string]bool) {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			name := decl.Name.Name
			if decl.Recv != nil {
				typ := decl.Recv.List[0].Type
				if star, ok := typ.(*ast.StarExpr); ok {
					typ = star.X
				}
				name = typ.(*ast.Ident).Name + "." + name
			}
			names[name] = true
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						names[id.Name] = true
					}
				case *ast.TypeSpec:
					names[spec.Name.Name] = true
					var members *ast.FieldList
					switch typ := spec.Type.(type) {
					case *ast.StructType:
						members = typ.Fields
					case *ast.InterfaceType:
						members = typ.Methods
					default:
						continue
					}
					for _, m := range members.List {
						for _, id := range m.Names {
							names[spec.Name.Name+"."+id.Name] = true
						}
					}
				}
			}
		}
	}
}

// table returns the rows of the first table after a heading, without its head.
func table(t *testing.T, page, heading, head string) [][]string {
	t.Helper()
	_, after, ok := strings.Cut(page, "\n## "+heading+"\n")
	if ok {
		_, after, ok = strings.Cut(after, "\n"+head+"\n")
	}
	if !ok {
		t.Fatalf("there is no table %s after %s", head, heading)
	}
	var rows [][]string
	for line := range strings.Lines(after) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		if !strings.HasPrefix(line, "|---") {
			rows = append(rows, strings.Split(strings.TrimSpace(line), "|")[1:])
		}
	}
	return rows
}

var quoted = regexp.MustCompile("`([^`]+)`")

// inQuotes returns the texts between backquotes.
func inQuotes(text string) (list []string) {
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	return list
}

// TestGeneratedNames: the generator makes all names in the table of docs/generated-names.md, with
// the flag that the table shows and not without it, and no others.
func TestGeneratedNames(t *testing.T) {
	b, err := os.ReadFile("docs/generated-names.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	files := map[string]string{}
	for _, block := range named.FindAllStringSubmatch(page, -1) {
		files[block[1]] = block[2]
	}
	const shop = "shop.thrift"
	generated := map[string]map[string]bool{
		"":         generate(t, shop, files[shop]),
		"-fields":  generate(t, shop, files[shop], "-fields"),
		"-reflect": generate(t, shop, files[shop], "-reflect"),
		"-kitex":   generate(t, shop, files[shop], "-kitex"),
	}
	shown := map[string]bool{}
	for _, row := range table(t, page, "All names", "| in the IDL | in Go | flag | what it is |") {
		flag := strings.Trim(row[2], " `")
		if generated[flag] == nil {
			t.Fatalf("%s: the flag %q", row[0], flag)
		}
		for _, name := range append(inQuotes(row[1]), slices.DeleteFunc(inQuotes(row[3]), func(name string) bool {
			return !strings.Contains(name, ".Validate")
		})...) {
			shown[name] = true
			if !generated[flag][name] {
				t.Errorf("%s: %q does not give %s", row[0], flag, name)
			}
			if flag != "" && generated[""][name] {
				t.Errorf("%s: %s needs no %s", row[0], name, flag)
			}
		}
	}
	// All structs, unions and exceptions have the names that the table has for Tag. Fields of other
	// types than Line have the names of its fields.
	structs := []string{"Line", "Payment", "NotFound", "ShopGetArgs", "ShopGetResult", "ShopLogArgs", "BaseVersionArgs", "BaseVersionResult"}
	accessor := regexp.MustCompile(`^(\w+)\.(Get|Set|IsSet|Unset|New)[A-Z]\w*$`)
	field := regexp.MustCompile(`^(\w+)Fields\.[A-Z]\w*$`)
	for flag, names := range generated {
		for name := range names {
			if shown[name] || strings.HasSuffix(name, ".go") || name == "ShopGetArgs.Validate" {
				continue
			}
			ok := false
			for _, s := range structs {
				if rest, found := strings.CutPrefix(name, s); found && shown["Tag"+rest] {
					ok = true // methods, and names that begin with the type's
				} else if before, after, found := strings.Cut(name, s); found && shown[before+"Tag"+after] {
					ok = true // functions such as NewLineOf
				}
			}
			if m := accessor.FindStringSubmatch(name); m != nil && m[1] != "Line" {
				ok = true
			}
			if m := field.FindStringSubmatch(name); m != nil {
				ok = true
			}
			if !ok {
				t.Errorf("%q gives %s, which the table does not have", flag, name)
			}
		}
	}
	for _, row := range table(t, page, "Flags", "| flag | file | effect on names |") {
		flag := strings.Trim(row[0], " `")
		if flag == "none" || flag == "-golint" {
			flag = ""
		}
		for _, file := range inQuotes(row[1]) {
			if !generated[flag][file] {
				t.Errorf("%q does not give %s", flag, file)
			}
		}
	}
	if len(shown) < 120 {
		t.Errorf("the table has only %d names", len(shown))
	}
}

// TestFormedNames: names are formed, and changed in collisions, as docs/generated-names.md says.
func TestFormedNames(t *testing.T) {
	b, err := os.ReadFile("docs/generated-names.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	for head, flags := range map[string][]string{
		"| rule | in the IDL | in Go |":                        nil,
		"| a word ends | in the IDL | in Go, with `-golint` |": {"-golint"},
	} {
		for _, row := range table(t, page, "How a name is formed", head) {
			idl, want := inQuotes(row[1]), inQuotes(row[2])
			if len(idl) == 0 || len(idl) != len(want) {
				t.Fatalf("%s: %q and %q", row[0], idl, want)
			}
			var text strings.Builder
			for _, name := range idl {
				text.WriteString("struct " + name + " {}\n")
			}
			names := generate(t, "names.thrift", text.String(), flags...)
			for i, name := range want {
				if !names["New"+name] || !names[name+"Desc"] {
					t.Errorf("%s: %s is not %s in Go", row[0], idl[i], name)
				}
			}
		}
	}

	for _, block := range named.FindAllStringSubmatch(page, -1) {
		if block[1] != "clash.thrift" {
			continue
		}
		names, plain := generate(t, block[1], block[2]), generate(t, block[1], block[2], "-fields")
		for _, row := range table(t, page, "Collisions", "| in the IDL | in Go | why |") {
			for _, name := range inQuotes(row[1]) {
				if fields := strings.Contains(row[0], "-fields"); !plain[name] || names[name] == fields {
					t.Errorf("%s is not %s", row[0], name)
				}
			}
		}
		for name := range names {
			if !plain[name] && filepath.Ext(name) != ".go" {
				t.Errorf("-fields changes the name %s", name)
			}
		}
	}

	names := generate(t, "under.thrift", "struct S { 1: i32 _count }\nenum Level { _LOW }\n", "-fields")
	for _, name := range []string{"S.Get_count", "SFields.X_count", "Level__LOW"} {
		if !names[name] {
			t.Errorf("there is no %s", name)
		}
	}

	// After eight underscores, a number follows them.
	var many strings.Builder
	many.WriteString("struct Many {\n")
	for i := range 16 { // 16 ways to write one name
		name := []byte("a")
		for bit, letter := range "bcde" {
			if i>>bit&1 == 0 {
				name = append(name, byte(letter)-'a'+'A')
			} else {
				name = append(name, '_', byte(letter))
			}
		}
		many.WriteString("  i32 " + string(name) + "\n")
	}
	names = generate(t, "many.thrift", many.String()+"}\n")
	for _, name := range []string{"Many.GetABCDE", "Many.GetABCDE_", "Many.GetABCDE_______", "Many.GetABCDE________0", "Many.GetABCDE________7"} {
		if !names[name] {
			t.Errorf("there is no %s", name)
		}
	}
}
