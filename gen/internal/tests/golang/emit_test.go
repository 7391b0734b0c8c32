package golang_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/gen/golang"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// generate generates from a.thrift with the given text.
func generate(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.thrift")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	set, err := schema.Load([]string{path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := golang.Generate(set, golang.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return string(files[0].Source)
}

// TestFresh compares the committed code with newly generated code.
func TestFresh(t *testing.T) {
	const dir = "../../shapes/"
	set, err := schema.Load([]string{dir + "shapes.thrift"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := golang.Generate(set, golang.Options{})
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(dir + "shapes.go")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(files[0].Source), string(have)); diff != "" {
		t.Errorf("shapes.go is stale, run go generate ./gen/... (-would be generated +is there):\n%s", diff)
	}
	for range 5 {
		set, _ := schema.Load([]string{dir + "shapes.thrift"}, nil)
		again, _ := golang.Generate(set, golang.Options{})
		if !bytes.Equal(files[0].Source, again[0].Source) {
			t.Fatal("generating twice gives different code")
		}
	}
}

func TestShort(t *testing.T) {
	for _, kind := range []string{"struct", "union", "exception"} {
		src := generate(t, "namespace go user\n\n/** Documented. */\n"+kind+" User {\n  1: i64 id // its id\n  2: bool active\n  3: double score = 1.5\n}\n")
		if n := strings.Count(src, "\n"); n > 110 {
			t.Errorf("three scalar fields of a %s make %d lines", kind, n)
		}
		if strings.Contains(src, "unsafe") {
			t.Errorf("%s: unsafe is used", kind)
		}
	}
}

// TestOneStatement looks for accessors with more than one statement. gofmt breaks long ones over
// three lines with one statement. A getter with a default also checks first whether the field is
// set.
func TestOneStatement(t *testing.T) {
	src, err := os.ReadFile("../../shapes/shapes.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(src), "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "func (s ") || !strings.HasSuffix(line, "{") {
			continue
		}
		end := i + 2
		guarded := strings.HasPrefix(lines[i+1], "\tif !impl.Struct(s).Has(") || strings.HasPrefix(lines[i+1], "\tif !impl.Wide(s).Has(")
		if strings.Contains(line, ") Get") && guarded && strings.HasPrefix(lines[i+2], "\t\treturn ") {
			end = i + 5
		}
		if lines[end] != "}" {
			t.Errorf("shapes.go:%d: more than one statement: %s", i+1, line)
		}
	}
}

func TestCollisions(t *testing.T) {
	src := generate(t, `
struct User { 1: i32 id, 2: i32 ID, 3: i32 message, 4: bool which, 5: i32 d }
struct user { 1: i32 a }
struct NewUser {}
struct ParseUser {}
struct UserI { 1: i32 D }
union Load { 1: string label, 2: i64 Label }
enum Load_ { Label = 1, label = 2 }
enum LoadWhich { A }
const i32 User_ = 1
const i32 String = 2
typedef User USER
exception Oops { 1: string error }
`)
	for _, want := range []string{
		"func (s User) GetID() ", "func (s User) GetID_() ", "func (s User) GetMessage() ", "func (s User) GetWhich() ",
		"type User_ nocopy.Struct", "type NewUser_ nocopy.Struct", "func NewUser(", "func NewNewUser_(",
		"type ParseUser nocopy.Struct", "func ParseUser_(", "userID_  ", "userID__ ",
		"type LoadWhich int32", "type LoadWhich_ int32", "func (s Load) Which() LoadWhich_ ",
		"Load_Label  LoadWhich_", "Load_Label_ LoadWhich_", "Load__Label Load_ ", "Load__label Load_ ",
		"const User__ int32 = 1", "const String int32 = 2", "type USER = User\n", "func (s Oops) GetError() ", "func (s Oops) Error() ",
	} {
		if !strings.Contains(src, want) && !strings.Contains(strings.Join(strings.Fields(src), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("%q is missing", want)
		}
	}
	if t.Failed() {
		t.Log(src)
	}
}

func TestComments(t *testing.T) {
	src := generate(t, `
/**
 * A person.
 *
 * Or not.
 */
struct Person {
  1: string name // as spoken
  # years
  2: i32 age
} (deprecated = "use Human")
/* Why. */ enum Mood { GOOD = 1 // fine
}
// A limit.
const i32 LIMIT = 5
// Nick.
typedef string Nick
`)
	for _, want := range []string{
		"// A person.\n//\n// Or not.\n//\n// Deprecated: use Human\ntype Person ", "// as spoken\nfunc (s Person) GetName() ",
		"// years\nfunc (s Person) GetAge() ", "// Why.\ntype Mood ", "\t// fine\n\tMood_GOOD ", "// A limit.\nconst LIMIT ", "// Nick.\ntype Nick = string",
	} {
		if !strings.Contains(src, want) {
			t.Errorf("%q is missing", want)
		}
	}
}

// TestInheritedTwice: methods of the same name in a service and an extended one are an error,
// since a Go method cannot take both kinds of arguments.
func TestInheritedTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.thrift")
	if err := os.WriteFile(path, []byte("service A { void m() }\nservice B extends A {}\nservice C extends B {\n  i32 m(1: i32 x)\n}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	set, err := schema.Load([]string{path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := golang.Generate(set, golang.Options{})
	if want := path + ":4:7: service C has method m from A already"; err == nil || err.Error() != want || files != nil {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestWide: code for a struct of more than 57 fields declares it as wide and uses other getters.
func TestWide(t *testing.T) {
	for _, n := range []int{57, 58, 863} {
		var idl strings.Builder
		idl.WriteString("struct S {\n")
		for i := range n {
			fmt.Fprintf(&idl, "  %d: optional i64 f%d\n", i+1, i+1)
		}
		src := generate(t, idl.String()+"}\nunion U { 1: i32 n }\n")
		for part, want := range map[string]bool{
			"impl.Struct(s).Int64(sF1)": n == 57, "impl.Struct(s).Has(sF1)": n == 57,
			"impl.Wide(s).Int64(sF1)": n > 57, "SDesc.DefineWide(": n > 57, "0x80000000 | 10<<16 | 1\n": n > 57,
			"impl.Wide(s).Has(sF1)": n > 57,
		} {
			if strings.Contains(src, part) != want {
				t.Errorf("%d fields: %q in the code: %v", n, part, !want)
			}
		}
	}
}
