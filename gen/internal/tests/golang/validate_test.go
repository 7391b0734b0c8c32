package golang_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/gen/golang"
	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/internal/gocheck"
	"github.com/nocopythrift/nocopythrift/gen/schema"
)

// generateErrors generates from a.thrift with the given text, and returns the files and the
// errors.
func generateErrors(t *testing.T, text string) ([]golang.File, string) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.thrift", []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	set, err := schema.Load([]string{"a.thrift"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := golang.Generate(set, golang.Options{})
	if err != nil {
		return nil, err.Error()
	}
	return files, ""
}

func TestRuleErrors(t *testing.T) {
	field := func(text string) string {
		return "struct S {1: i32 a,2: list<i32> l,3: S s, 4: string t, 5: double d, 9:" + text + "}"
	}
	const at = "a.thrift:1:"
	for _, test := range []struct{ src, want string }{
		{field("i32 x (vt.min_size = '1')"), at + "78: vt.min_size: i32 has no such rule; it has const, lt, le, gt, ge, in, not_in, not_nil"},
		{field("i32 x (vt.unknown = '1')"), at + "78: vt.unknown: i32 has no such rule; it has const, lt, le, gt, ge, in, not_in, not_nil"},
		{field("i32 x (vt = '1')"), at + "78: vt: a rule is named vt.NAME"},
		{field("i32 x (vt.lt)"), at + "78: vt.lt: a value is needed: vt.lt = \"…\""},
		{field("i32 x (vt.lt = 'x')"), at + `78: vt.lt: "x" is not an integer`},
		{field("i32 x (vt.lt = '1.5')"), at + `78: vt.lt: "1.5" is not an integer`},
		{field("i8 x (vt.lt = '300')"), at + "77: vt.lt: 300 does not fit in i8"},
		{field("double x (vt.lt = 'NaN')"), at + `81: vt.lt: "NaN" is not a number`},
		{field("double x (vt.lt = '1e999')"), at + `81: vt.lt: "1e999" is not a number`},
		{field("bool x (vt.const = 'yes')"), at + `79: vt.const: "yes" is neither true nor false`},
		{field("bool x (vt.lt = '1')"), at + "79: vt.lt: bool has no such rule; it has const, not_nil"},
		{field("bool x (vt.const = '$a')"), at + "79: vt.const: bool cannot be compared with $a"},
		{field("string x (vt.lt = '1')"), at + "81: vt.lt: string has no such rule; it has const, min_size"},
		{field("string x (vt.min_size = '-1')"), at + "81: vt.min_size: a size is not negative"},
		{field("string x (vt.min_size = '1.5')"), at + `81: vt.min_size: "1.5" is not an integer`},
		{field("string x (vt.min_size = '$d')"), at + "81: vt.min_size: $d is not an integer"},
		{field("string x (vt.pattern = '(')"), at + "81: vt.pattern: error parsing regexp: missing closing ): `(`"},
		{field("string x (vt.prefix = '$a')"), at + "81: vt.prefix: string cannot be compared with $a"},
		{field("string x (vt.prefix = '$no')"), at + `81: vt.prefix: S has no field "no"`},
		{field("string x (vt.not_nil = 'x')"), at + `81: vt.not_nil: "x" is neither true nor false`},
		{field("i32 x (vt.elem.lt = '1')"), at + "78: vt.elem.lt: elem is for lists and sets, not i32"},
		{field("list<i32> x (vt.key.lt = '1')"), at + "84: vt.key.lt: key is for maps, not list<i32>"},
		{field("list<i32> x (vt.elem = '1')"), at + "84: vt.elem: a rule must follow, as in vt.elem.const"},
		{field("list<i32> x (vt.elem.elem.lt = '1')"), at + "84: vt.elem.elem.lt: elem is for lists and sets, not i32"},
		{field("list<i32> x (vt.foo.lt = '1')"), at + "84: vt.foo.lt: there is no rule foo.lt"},
		{field("map<i32,i32> x (vt.value.prefix = '1')"), at + "87: vt.value.prefix: i32 has no such rule"},
		{field("map<i32,i32> x (vt.min_rune_size = '1')"), at + "87: vt.min_rune_size: map<i32,i32> has no such rule"},
		{field("S x (vt.const = '1')"), at + "76: vt.const: S has no such rule; it has skip, not_nil"},
		{field("uuid x (vt.const = '1')"), at + "79: vt.const: uuid has no such rule; it has not_nil"},
		{field("i32 x (vt.assert = '@equal(1, 1)')"), at + "78: vt.assert: is for structs, not for fields"},
		{field("i32 x (vt.lt = '$l')"), at + "78: vt.lt: $l is a list<i32>: only its @len can be used"},
		{field("i32 x (vt.lt = '$t')"), at + "78: vt.lt: i32 cannot be compared with $t"},
		{field("i32 x (vt.lt = '@')"), at + `78: vt.lt: "@" is not an integer`},
		{field("i32 x (vt.lt = '@my_func()')"), at + "78: vt.lt: @my_func: there is no such function; there are add, equal, len, mod, now_unix_nano and sprintf, none of one's own"},
		{field("i32 x (vt.lt = '@add($a)')"), at + "78: vt.lt: @add: 2 arguments were expected, not 1"},
		{field("i32 x (vt.lt = '@add($a, $t)')"), at + "78: vt.lt: @add: the arguments have different types"},
		{field("i32 x (vt.lt = '@add($a, 1) 2')"), at + `78: vt.lt: unexpected " 2" after the function`},
		{field("i32 x (vt.lt = '@add($a, 1')"), at + "78: vt.lt: @add( has no )"},
		{field("i32 x (vt.lt = '@add($a, x)')"), at + `78: vt.lt: unexpected "x)": expected a number, a text in quotes, a $field or a @function`},
		{field("i32 x (vt.lt = '@mod($a, 0)')"), at + "78: vt.lt: @mod: division by zero"},
		{field("i32 x (vt.lt = '@mod($d, 1)')"), at + "78: vt.lt: @mod: two integers are needed"},
		{field("i32 x (vt.lt = '@len(1)')"), at + "78: vt.lt: @len: a field is needed, as in @len($a)"},
		{field("i32 x (vt.lt = '@len($a)')"), at + "78: vt.lt: @len: $a is a i32, which has no length"},
		{field("i32 x (vt.lt = '@len($no)')"), at + `78: vt.lt: S has no field "no"`},
		{field("i32 x (vt.lt = '@add($l, 1)')"), at + "78: vt.lt: @add: of $l only @len can be used"},
		{field("i32 x (vt.lt = '@add($s, 1)')"), at + "78: vt.lt: @add: of $s only @len can be used"},
		{field("string x (vt.const = '@sprintf($t)')"), at + "81: vt.const: @sprintf: the first argument must be a text in quotes"},
		{field(`string x (vt.const = '@sprintf("%d", $t)')`), at + "81: vt.const: @sprintf: %d does not fit its argument"},
		{field(`string x (vt.const = '@sprintf("%d")')`), at + "81: vt.const: @sprintf: %d has no argument"},
		{field(`string x (vt.const = '@sprintf("%d%*d", 1)')`), at + "81: vt.const: @sprintf: %* has no argument"},
		{field(`string x (vt.const = '@sprintf("%", 1)')`), at + "81: vt.const: @sprintf: % does not fit its argument"},
		{field(`string x (vt.const = '@sprintf("x", 1)')`), at + "81: vt.const: @sprintf: there are more arguments than the format has room for"},
		{field("i32 x (vt.lt = '" + strings.Repeat("@add(1, ", 1000) + "')"), at + "78: vt.lt: functions are nested more than 20 deep"},
		{field("i32 x = 1 (a = 'b', vt.lt = 'x')"), at + `91: vt.lt: "x" is not an integer`},
		{"struct S {} (vt.const = '1')", at + "14: vt.const: structs have the rule vt.assert only"},
		{"struct S {} (vt.assert = 'true')", at + `14: vt.assert: a function is needed, as in "@equal($a, 1)"`},
		{"struct S {} (vt.assert)", at + `14: vt.assert: a function is needed, as in "@equal($a, 1)"`},
		{"struct S {} (vt.assert = '@add(1, 1)')", at + "14: vt.assert: @add(1, 1) is not true or false: use @equal"},
		{"enum E { A } struct S { 1: E e (vt.const = 'B') }", at + "33: vt.const: enum E has no value B"},
		{"enum E { A } enum F { A } struct S { 1: E e (vt.const = 'F.A') }", at + "46: vt.const: F is not the enum E"},
		{"enum E { A } struct S { 1: E e (vt.lt = 'A') }", at + "33: vt.lt: E has no such rule; it has const, defined_only, in, not_in, not_nil"},
		{"typedef i32 T (vt.lt = '1')", at + "16: vt.lt means nothing here: rules are for fields, arguments and structs"},
		{"struct S { 1: list<i32 (vt.lt = '1')> l }", at + "25: vt.lt means nothing here"},
		{"enum E { A (vt.lt = '1') } (vt.lt = '1')", at + "13: vt.lt means nothing here: rules are for fields, arguments and structs\n" + at + "29: vt.lt means nothing here"},
		{"namespace go a (vt.lt = '1')", at + "17: vt.lt means nothing here"},
		{"service V { i32 (vt.lt = '1') f() (vt.lt = '1') } (vt.lt = '1')", at + "18: vt.lt means nothing here: rules are for fields, arguments and structs\n" + at + "36: vt.lt means"},
		{"service V { void f(1: i32 a (vt.min_size = '1')) }", at + "30: vt.min_size: i32 has no such rule"},
	} {
		if _, got := generateErrors(t, test.src); !strings.HasPrefix(got, test.want) {
			t.Errorf("%.200s:\ngot  %s\nwant %s", test.src, got, test.want)
		}
	}
}

// TestNoRules: without rules no code for them is generated.
func TestNoRules(t *testing.T) {
	for _, src := range []string{"struct S { 1: i32 a (go.tag = 'vt.lt', x.vt.lt = '1') }", "struct T { 1: i32 a } struct S { 1: T t (vt.skip = 'true') }",
		"struct S { 1: i32 a (vt.not_nil = 'false') }", "struct S { 1: map<i32, i32> a (vt.no_sparse = 'true') }"} {
		if got := generate(t, src); strings.Contains(got, "alidate") {
			t.Errorf("%s:\n%s", src, got)
		}
	}
}

// TestIncludedRules: rules of structs in other files are checked. Errors in these rules are found
// when the code of those files is generated.
func TestIncludedRules(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"a.thrift": "include 'b.thrift'\nstruct A { 1: b.B b }", "b.thrift": "struct B { 1: i32 a (vt.lt = '1'), 2: i32 b (vt.lt = 'x') }"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	set, err := schema.Load([]string{"a.thrift"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	opt := golang.Options{PackagePrefix: "x"}
	files, err := golang.Generate(set, opt)
	if err != nil || !bytes.Contains(files[0].Source, []byte(`validate.In("b", err)`)) {
		t.Errorf("%v, %s", err, files)
	}
	opt.Recursive = true
	if _, err = golang.Generate(set, opt); err == nil || !strings.HasPrefix(err.Error(), "b.thrift:1:46: vt.lt") {
		t.Error(err)
	}
}

// FuzzRules: any annotations give an error with a position, or Go that compiles.
func FuzzRules(f *testing.F) {
	for _, rule := range []string{"vt.lt=5", "vt.in=1.5", "vt.min_size=$b", "vt.pattern=^a+$", "vt.elem.prefix=@sprintf(\"%d\", $c)", "vt.key.not_in=A", "vt.value.le=@add(@len($i), 0x10)",
		"vt.defined_only=true", "vt.const=@equal(@mod($c, 2), 0)", "vt.elem.elem.ge=@now_unix_nano()", "vt.skip=1", "vt.contains=\"\\\x00\n"} {
		key, value, _ := strings.Cut(rule, "=")
		f.Add(key, value)
	}
	checker, err := gocheck.New()
	if err != nil {
		f.Fatal(err)
	}
	name := regexp.MustCompile(`^[a-z_]+(\.[a-z_]+)*$`)
	place := regexp.MustCompile(`^a.thrift:\d+:\d+: `)
	f.Fuzz(func(t *testing.T, key, value string) {
		if !name.MatchString(key) || strings.Contains(value, "\r") {
			return
		}
		a := fmt.Sprintf("(%s = '%s')", key, strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`).Replace(value))
		types := strings.Fields("bool i8 i16 i32 i64 double string binary uuid E S list<i32> set<string> map<E,double> list<list<S>> map<binary,S>")
		for i, typ := range types {
			fields := ""
			for j, other := range types {
				fields += fmt.Sprintf("%d: %s %c\n", j+1, other, 'a'+j)
			}
			src := fmt.Sprintf("enum E { A, B }\nstruct S {\n%s 50: optional %s x %s }", fields, typ, a)
			if i == 0 {
				src += a
			}
			if _, err := idl.Parse("a.thrift", []byte(src)); err != nil {
				return // a character that strings can't have
			}
			files, errs := generateErrors(t, src)
			if files == nil {
				for line := range strings.SplitSeq(errs, "\na.thrift:") {
					if line = "a.thrift:" + strings.TrimPrefix(line, "a.thrift:"); !place.MatchString(line) || strings.Contains(line, "nocopyc has a bug") {
						t.Fatalf("%s\n%s", src, errs)
					}
				}
				continue
			}
			if err := checker.Check("m", map[string][]byte{filepath.ToSlash(files[0].Path): files[0].Source}); err != nil {
				t.Fatalf("%s\n%v\n%s", src, err, cmp.Diff("", string(files[0].Source)))
			}
		}
	})
}
