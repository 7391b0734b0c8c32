package engine

import (
	"bytes"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// TestNothingLeftOver: memory that is used again holds what another message had in it. None of
// that is sent or read, however little of a message's room is filled.
func TestNothingLeftOver(t *testing.T) {
	secret := bytes.Repeat([]byte{0x5a}, 3<<20)
	leave := func() { // it all over the pools
		for _, n := range []int{100, 3000, 60_000, 1 << 20, 3 << 20} {
			s := newRoot(allDesc, Recycle)
			copy(s.NewBytes(fieldNamed(allDesc, "blob"), n), secret)
			s.m.Finish()
			s.Release()
		}
	}
	f := func(name string) schema.Ref { return fieldNamed(allDesc, name) }
	for name, build := range map[string]func(s Struct, n int){
		"binary":           func(s Struct, n int) { s.NewBytes(f("blob"), n) },
		"numbers":          func(s Struct, n int) { s.NewChild(f("numbers"), allDesc, n) },
		"numbers, changed": func(s Struct, n int) { Int64List(s.NewChild(f("numbers"), allDesc, n)).Append(1) },
		"numbers, edited": func(s Struct, n int) {
			l := Int64List(s.NewChild(f("numbers"), allDesc, n))
			s.m.Finish()
			l.Append(1)
			l.Append(2)
		},
		"bools":      func(s Struct, n int) { s.NewChild(f("flags"), allDesc, n) },
		"uuids":      func(s Struct, n int) { s.NewChild(f("keys"), allDesc, n) },
		"strings":    func(s Struct, n int) { s.NewChild(f("words"), allDesc, n) },
		"one string": func(s Struct, n int) { StringList(s.NewChild(f("words"), allDesc, n)).Set(n/2, "x") },
		"structs":    func(s Struct, n int) { s.NewChild(f("points"), allDesc, n) },
		"one struct": func(s Struct, n int) { StructList[Struct](s.NewChild(f("points"), allDesc, n)).At(n / 2) },
		"lists":      func(s Struct, n int) { s.NewChild(f("matrix"), allDesc, n) },
		"inner list": func(s Struct, n int) { NestedList[Int32List](s.NewChild(f("matrix"), allDesc, 2)).NewAt(1, n) },
		"added list": func(s Struct, n int) { NestedList[Int32List](s.NewChild(f("matrix"), allDesc, 0)).AppendNew(n) },
		"set":        func(s Struct, n int) { s.NewChild(f("unique"), allDesc, n) },
		"a new pair": func(s Struct, n int) {
			Map[string, int64, AsString, AsInt64](s.NewChild(f("counts"), allDesc, n)).AppendNew()
		},
		"struct":   func(s Struct, n int) { s.NewChild(f("point"), allDesc, 0) },
		"replaced": func(s Struct, n int) { s.NewBytes(f("blob"), n); s.m.Finish(); s.NewBytes(f("blob"), n/2) },
		"list in map": func(s Struct, n int) {
			NestedMap[string, StructList[Struct], AsString](s.NewChild(f("groups"), allDesc, 0)).PutNew("g", n)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{1, 10, 1000, 20_000} {
				leave()
				s := newRoot(allDesc, Recycle)
				build(s, n)
				var out bytes.Buffer
				if _, err := s.m.WriteFrame(&out); err != nil {
					t.Fatal(err)
				}
				if at := bytes.Index(out.Bytes(), secret[:3]); at >= 0 {
					t.Errorf("%s of %d: at %d of %d bytes another message's are sent", name, n, at, out.Len())
				}
				if text := s.Format(allDesc); bytes.Contains([]byte(text), []byte("5a5a5a")) {
					t.Errorf("%s of %d: another message's bytes can be read", name, n)
				}
				s.Release()
			}
		})
	}
}
