package dynamic_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
)

// TestReload: loading types again, in any number of goroutines, does not make them again. Only
// changed types, and types that refer to them, are made.
func TestReload(t *testing.T) {
	const src = `
enum Color { RED = 1 (hex = "f00"), GREEN }
struct Leaf { 1: i32 a = 7, 2: Color c, 3: list<list<string>> l }
struct Tree { 1: Leaf leaf, 2: list<Tree> trees, 3: map<Leaf, Forest> m }
struct Forest { 1: Tree tree, 2: set<Color> colors }
struct Apart { 1: list<Color> c }
exception Bad { 1: string why }
service S { Tree get(1: Leaf leaf) throws (1: Bad bad), oneway void tell(1: i32 v) }
const list<Leaf> LEAVES = [{"a": 1}]
`
	descs := func(s *dynamic.Schema) map[string]any {
		all := map[string]any{}
		for name, typ := range s.Structs() {
			all[name] = typ.Desc()
		}
		return all
	}
	first := text(t, src)
	want, before := descs(first), dynamic.Interned()
	times := testmode.Of(300, 10_000)
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	heap := memory.HeapAlloc
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			for range times / 2 {
				s, err := dynamic.LoadText(map[string]string{"a.thrift": src})
				if err != nil {
					t.Error(err)
					return
				}
				for name, d := range descs(s) {
					if d != want[name] {
						t.Errorf("%s was made again", name)
						return
					}
				}
			}
		})
	}
	group.Wait()
	if after := dynamic.Interned(); after != before {
		t.Errorf("%+v became %+v", before, after)
	}
	runtime.GC()
	runtime.ReadMemStats(&memory)
	if memory.HeapAlloc > heap+4<<20 {
		t.Errorf("%d bytes became %d", heap, memory.HeapAlloc)
	}
	for _, change := range []struct{ from, to, changed string }{
		{"i32 a = 7", "i32 a = 8", "Leaf Tree Forest"},
		{"i32 a = 7", "/** new */ 1: i32 a = 7", "Leaf Tree Forest"},
		{"struct Leaf {", "/** A leaf. */ struct Leaf {", "Leaf Tree Forest"},
		{`"f00"`, `"f01"`, "Leaf Tree Forest Apart"},
		{"set<Color>", "list<Color>", "Tree Forest"},
		{"1: Tree tree", "1: optional Tree tree", "Tree Forest"},
		{"string why", "binary why", "Bad"},
		{"oneway void", "void", ""},
	} {
		now := descs(text(t, strings.Replace(src, change.from, strings.TrimPrefix(change.to, "/** new */ 1: "), 1)))
		if strings.HasPrefix(change.to, "/** new") {
			now = descs(text(t, strings.Replace(src, "1: i32 a = 7", change.to, 1)))
		}
		for name := range want {
			short := strings.TrimPrefix(name, "a.")
			if changed := now[name] != want[name]; changed != strings.Contains(" "+change.changed+" ", " "+short+" ") {
				t.Errorf("%s to %s: %s changed: %v", change.from, change.to, name, changed)
			}
		}
	}
}

// TestTooMany: files that are too large, and too many types, are errors.
func TestTooMany(t *testing.T) {
	_, err := dynamic.LoadText(map[string]string{"a.thrift": strings.Repeat("# a comment\n", 100_000)})
	if want := "a.thrift:1:1: cannot read a.thrift: the files are larger than 1048576 bytes together"; err == nil || err.Error() != want {
		t.Error(err)
	}
	texts := map[string]string{}
	for i := range 5000 {
		texts[fmt.Sprintf("f%d.thrift", i)] = ""
	}
	if _, err := dynamic.LoadText(texts); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Error(err)
	}
	defer dynamic.SetMost(10_000)()
	before := dynamic.Interned()
	_, err = dynamic.LoadText(map[string]string{"a.thrift": "struct Few { 1: list<Few> a }\nstruct Many {" +
		repeat(100, func(i int) string { return fmt.Sprintf("%d: list<Few> f%d ", i+1, i) }) + "}"})
	if err == nil || !strings.HasPrefix(err.Error(), "a.thrift:2:8: the types that the program has loaded are too many") {
		t.Error(err)
	}
	if after := dynamic.Interned(); after.Memory-before.Memory > 10_000 {
		t.Errorf("%+v became %+v", before, after)
	}
	if s, err := dynamic.LoadText(map[string]string{"a.thrift": "struct Few { 1: list<Few> a }"}); err != nil {
		t.Errorf("%v, %v", s, err)
	}
}

// FuzzIDL loads any text, and parses any bytes as the first struct that it defines.
func FuzzIDL(f *testing.F) {
	f.Add("struct A { 1: list<A> a = [], 2: map<A, i32> m, 3: optional E e } enum E { X }", []byte{15, 0, 1, 12, 0, 0, 0, 1, 0, 0})
	f.Add("service S { i32 a(1: i32 b) throws (1: X x) } exception X { 1: uuid u }", []byte{0})
	f.Add("union U { 1: i32 a, 2: U u } const U C = {'a': 1}", []byte{8, 0, 1, 0, 0, 0, 5, 0})
	f.Fuzz(func(t *testing.T, src string, b []byte) {
		undo := dynamic.SetMost(64 << 20) // of the 512 MiB for all types
		defer undo()
		s, err := dynamic.LoadText(map[string]string{"a.thrift": src})
		if err != nil {
			var list dynamic.Errors
			if !errors.As(err, &list) || len(list) == 0 || list[0].Line < 1 {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		for _, c := range s.Consts() {
			_ = c.Value().String()
		}
		for _, typ := range s.Structs() {
			m, err := typ.Parse(b, nocopy.Limits{MaxBytes: 1 << 16})
			if err != nil {
				continue
			}
			fields := dynamic.ToMap(m)
			if _, err := typ.FromMap(fields); err != nil && !errors.Is(err, nocopy.ErrLimit) && !strings.Contains(err.Error(), "union") {
				t.Fatalf("%v of %v", err, fields)
			}
		}
		for _, sv := range s.Services() {
			sv.Processor(func(ctx context.Context, c *dynamic.Call) error { return nil })
		}
	})
}

func text(t testing.TB, src string) *dynamic.Schema {
	t.Helper()
	s, err := dynamic.LoadText(map[string]string{"a.thrift": src})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func repeat(n int, f func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(f(i))
	}
	return b.String()
}
