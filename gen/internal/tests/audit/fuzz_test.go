package audit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nocopythrift/nocopythrift/gen/audit"
)

// FuzzCompare: any two files give errors, or findings with places and short messages, the same
// each time. A file compared with itself has no findings.
func FuzzCompare(f *testing.F) {
	const all = `namespace go a
typedef map<i32, S> T
const T C = {1: {"a": 1}}
enum E { A, B = 5 }
struct S { 1: required i32 a = 1, 2: optional list<E> b, S c }
union U { 1: S s, 2: T t }
exception X { 1: string m = "x" }
service V { void f(1: S s) throws (1: X x), oneway void g() }
service W extends V { list<T> h(1: i32 a = 3) }`
	f.Add([]byte(all), []byte(strings.NewReplacer("i32", "i64", "required", "", "B = 5", "C", "void f", "U f").Replace(all)))
	f.Add([]byte(all), []byte("struct S {}"))
	f.Add([]byte("union U { i32 a, string b }"), []byte("struct U { -1: string a, 2: binary b }"))
	f.Fuzz(func(t *testing.T, old, new []byte) {
		in := audit.Input{Old: filepath.Join(t.TempDir(), "old.thrift"), New: filepath.Join(t.TempDir(), "new.thrift")}
		if os.WriteFile(in.Old, old, 0o666) != nil || os.WriteFile(in.New, new, 0o666) != nil {
			t.Fatal("cannot write files")
		}
		a, b, err := audit.Load(in)
		if err != nil {
			return
		}
		var before []audit.Finding
		for range 3 {
			findings := audit.Compare(a, b, audit.Options{})
			for i, found := range findings {
				if found.Old.Line < 1 || found.New.Line < 1 || found.Old.Filename != in.Old || found.New.Filename != in.New {
					t.Errorf("places of %s", found)
				}
				if strings.Contains(found.String(), "\n") || utf8.RuneCountInString(found.Message) > 1000 || !utf8.ValidString(found.Message) {
					t.Errorf("message %q", found)
				}
				if before != nil && (i >= len(before) || found != before[i]) {
					t.Errorf("%s is not found each time", found)
				}
			}
			before = append([]audit.Finding{}, findings...)
		}
		for _, same := range []*audit.Version{a, b} {
			if findings := audit.Compare(same, same, audit.Options{}); len(findings) > 0 {
				t.Errorf("against itself: %v", findings)
			}
		}
	})
}
