package idlfmt_test

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/participle/v2/lexer"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/idlfmt"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
)

const before = "\ufeff// The file.\r\n\r\n\r\nnamespace  go a.b(x=\"y\",z) // names\n include 'other.thrift'\n" + `
/* Doc of T. */
typedef   string ( a="b" )  T(c='d';e)
const i32 A=1;
const map<string,list<i32>> M={"a":[1,2 ,3],
   'b' : [ ] ;
      "c":[
 -0x4
# five
,5]
  }
enum E{A=-1,B(x);C
} (q="")
struct Empty { }   struct S   xsd_all
{   // of S


  /** a
      * b */
 1 :required i32   a=1 ,// beside a
2:map <string  ,set< T ( y )> >b   ( k = "v" ,
 l="w"
 );3: T & c}
// last in S
union U { /* nothing */ }
exception X{1:string m /* of m */ /* too */, /* of n */ 2: i32 n


 // at the end
}
service V extends other.W { oneway void f ( 1:i32 a,2 : i32 b )
  list<T> g(1:i32 a,
    2: S s) throws(1:X x)(y='z')


  void h(
  1: i32 a
  )
  throws (
    1: X x
  ), // h
  // gone
  }
// bye`

const after = "\ufeff" + `// The file.

namespace go a.b (x = "y", z) // names
include 'other.thrift'

/* Doc of T. */
typedef string (a = "b") T (c = 'd'; e)
const i32 A = 1;
const map<string, list<i32>> M = {"a": [1, 2, 3],
  'b': [];
  "c": [
    -0x4
    # five
    , 5]
}

enum E {
  A = -1,
  B (x);
  C
} (q = "")

struct Empty {}

struct S xsd_all { // of S
  /** a
   * b */
  1: required i32 a = 1, // beside a
  2: map<string, set<T (y)>> b (k = "v",
    l = "w"
  );
  3: T& c
}

// last in S
union U { /* nothing */ }

exception X {
  1: string m /* of m */ /* too */ ,
  /* of n */ 2: i32 n

  // at the end
}

service V extends other.W {
  oneway void f(1: i32 a, 2: i32 b)
  list<T> g(1: i32 a,
    2: S s) throws (1: X x) (y = 'z')

  void h(
    1: i32 a
  )
    throws (
      1: X x
    ), // h
  // gone
}
// bye
`

func TestFormat(t *testing.T) {
	got := format(t, before)
	if diff := cmp.Diff(after, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, test := range []struct{ src, want string }{
		{"", ""},
		{"\n\n", ""},
		{"\n\n// a \t\n\n\n# b", "// a\n\n# b\n"},
		{"struct A {}struct B {}", "struct A {}\nstruct B {}\n"},
		{"struct A {}\n\n\nstruct B {}", "struct A {}\n\nstruct B {}\n"},
		{"struct A {\n\n}", "struct A {\n}\n"},
		{"include 'a'\nstruct A {}", "include 'a'\n\nstruct A {}\n"},
		{"enum E { A } // e\n// f\nenum F {}", "enum E {\n  A\n} // e\n\n// f\nenum F {}\n"},
		{"enum E { A } /* a\n b */ // f\nenum F {}", "enum E {\n  A\n} /* a\n b */ // f\nenum F {}\n"},
		{"struct A { i32 a i32 b }", "struct A {\n  i32 a\n  i32 b\n}\n"},
		{"struct A { 1: i32 a /* a */ 2: i32 b }", "struct A {\n  1: i32 a\n  /* a */ 2: i32 b\n}\n"},
		{"const list<i32> a = [1 2 3]", "const list<i32> a = [1 2 3]\n"},
		{"struct A {\r\n  1: i32 a\r\n  /*\r\n  * b\r\n  */\r\n}\r\n", "struct A {\n  1: i32 a\n  /*\n   * b\n   */\n}\n"},
		{"struct // a\nA\n{ 1: i32\n// c\nb }", "struct // a\n  A {\n  1: i32\n    // c\n    b\n}\n"},
		{"const i32 a = 1 // x\n\n\n\nconst i32 b = 2", "const i32 a = 1 // x\n\nconst i32 b = 2\n"},
	} {
		if diff := cmp.Diff(test.want, format(t, test.src)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.src, diff)
		}
	}
}

func TestErrors(t *testing.T) {
	for src, want := range map[string]string{
		"struct A {":         "f:1:11: unexpected end of file",
		"struct A { 1: 2 }":  "f:1:15: unexpected",
		"\xff\xfes\x00t\x00": "f:1:1: the file is UTF-16",
		"const list<i32> a = " + strings.Repeat("[", 100_000): "f:1:221: nested more than 200 deep",
	} {
		if out, err := idlfmt.Format("f", []byte(src)); err == nil || out != nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", src, err, want)
		}
	}
}

// TestApache formats all .thrift files of Apache's module.
func TestApache(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/apache/thrift").Output()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = filepath.WalkDir(strings.TrimSpace(string(out)), func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".thrift") {
			return err
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if _, err := idl.Parse(name, src); err != nil {
			return nil // its own compiler does not accept it
		}
		if n++; testmode.Long || n%4 == 0 {
			check(t, name, src)
		}
		return nil
	})
	if err != nil || n < 120 {
		t.Errorf("%d files, %v", n, err)
	}
}

// TestScrambled formats the tokens of a file with other white space and comments between them,
// even at unusual places.
func TestScrambled(t *testing.T) {
	n := 100
	if testmode.Long {
		n = 1000
	}
	tokens, err := idl.Tokens("f", []byte(before))
	if err != nil {
		t.Fatal(err)
	}
	gaps := []string{" ", "\n", "\n\n", "\n\n\n", " // c\n", "\n# c\n", " /* d */ ", "\n/* d */ ", " /* d\n e */ ", " /** d\n * e */\n",
		"\n\n/** f */\n\n", "\n// c\n\n", "\t/* d */ /* g */\r\n", " /* d\n e */ // h\n", " /* d\n e */ // h\n\n",
		" /* c */ /* d\n e */ ", " /* d\n e *//* f\n g */ ", " /* d\n e */ /* c */ /* f\n g */ "}
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		often := 1 + r.IntN(30) // one in how many gaps has comments
		var b strings.Builder
		for _, token := range tokens {
			if token.Kind == idl.CommentToken {
				continue
			}
			b.WriteString(token.Text)
			if r.IntN(often) == 0 {
				b.WriteString(gaps[r.IntN(len(gaps))])
			}
			b.WriteString(gaps[r.IntN(4)/3*r.IntN(4)])
		}
		check(t, "f", []byte(b.String()))
	}
}

// format formats src and checks the result.
func format(t *testing.T, src string) string {
	t.Helper()
	return string(check(t, "f", []byte(src)))
}

// check formats src, and checks that the result parses to the same tree, comments included, and
// that formatting it again changes nothing.
func check(t *testing.T, name string, src []byte) []byte {
	t.Helper()
	want, err := idl.Parse(name, src)
	if err != nil {
		t.Fatal(err)
	}
	out, err := idlfmt.Format(name, src)
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	got, err := idl.Parse(name, out)
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	ignored := cmpopts.IgnoreTypes(idl.Position{}, []lexer.Token{})
	if diff := cmp.Diff(want, got, ignored); diff != "" {
		t.Fatalf("%s: the tree changed (-want +got):\n%s", name, diff)
	}
	again, err := idlfmt.Format(name, out)
	if err != nil || string(again) != string(out) {
		t.Fatalf("%s: formatted again (%v):\n%s", name, err, cmp.Diff(string(out), string(again)))
	}
	for i, line := range strings.Split(string(out), "\n") {
		if strings.TrimRight(line, " \t\r") != line {
			t.Fatalf("%s: line %d ends in white space: %q", name, i+1, line)
		}
	}
	return out
}

func FuzzFormat(f *testing.F) {
	f.Add([]byte(before))
	for part := range strings.SplitSeq(before, "\n}") {
		f.Add([]byte(part + "\n}"))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if _, err := idl.Parse("f", src); err == nil {
			check(t, "f", src)
		}
	})
}
