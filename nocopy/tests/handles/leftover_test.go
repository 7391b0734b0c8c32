package handles_test

import (
	"bytes"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// TestNothingLeftOver: memory that is used again still holds the bytes of another message. None of
// them are sent or read, however little of the new message's room is filled.
func TestNothingLeftOver(t *testing.T) {
	secret := bytes.Repeat([]byte{0x5a}, 3<<20)
	leave := func() { // it all over the pools
		for _, n := range []int{100, 3000, 60_000, 1 << 20, 3 << 20} {
			s := engine.New(allDesc, engine.Recycle)
			copy(s.NewBytes(fieldNamed(allDesc, "blob"), n), secret)
			s.Message().Finish()
			s.Release()
		}
	}
	f := func(name string) schema.Ref { return fieldNamed(allDesc, name) }
	for name, build := range map[string]func(s engine.Struct, n int){
		"binary":           func(s engine.Struct, n int) { s.NewBytes(f("blob"), n) },
		"numbers":          func(s engine.Struct, n int) { s.NewChild(f("numbers"), allDesc, n) },
		"numbers, changed": func(s engine.Struct, n int) { nocopy.Int64List(s.NewChild(f("numbers"), allDesc, n)).Append(1) },
		"numbers, edited": func(s engine.Struct, n int) {
			l := nocopy.Int64List(s.NewChild(f("numbers"), allDesc, n))
			s.Message().Finish()
			l.Append(1)
			l.Append(2)
		},
		"bools":      func(s engine.Struct, n int) { s.NewChild(f("flags"), allDesc, n) },
		"uuids":      func(s engine.Struct, n int) { s.NewChild(f("keys"), allDesc, n) },
		"strings":    func(s engine.Struct, n int) { s.NewChild(f("words"), allDesc, n) },
		"one string": func(s engine.Struct, n int) { nocopy.StringList(s.NewChild(f("words"), allDesc, n)).Set(n/2, "x") },
		"structs":    func(s engine.Struct, n int) { s.NewChild(f("points"), allDesc, n) },
		"one struct": func(s engine.Struct, n int) {
			nocopy.StructList[engine.Struct](s.NewChild(f("points"), allDesc, n)).At(n / 2)
		},
		"lists": func(s engine.Struct, n int) { s.NewChild(f("matrix"), allDesc, n) },
		"inner list": func(s engine.Struct, n int) {
			nocopy.NestedList[nocopy.Int32List](s.NewChild(f("matrix"), allDesc, 2)).NewAt(1, n)
		},
		"added list": func(s engine.Struct, n int) {
			nocopy.NestedList[nocopy.Int32List](s.NewChild(f("matrix"), allDesc, 0)).AppendNew(n)
		},
		"set": func(s engine.Struct, n int) { s.NewChild(f("unique"), allDesc, n) },
		"a new pair": func(s engine.Struct, n int) {
			nocopy.Map[string, int64, engine.AsString, engine.AsInt64](s.NewChild(f("counts"), allDesc, n)).AppendNew()
		},
		"struct": func(s engine.Struct, n int) { s.NewChild(f("point"), allDesc, 0) },
		"replaced": func(s engine.Struct, n int) {
			s.NewBytes(f("blob"), n)
			s.Message().Finish()
			s.NewBytes(f("blob"), n/2)
		},
		"list in map": func(s engine.Struct, n int) {
			nocopy.NestedMap[string, nocopy.StructList[engine.Struct], engine.AsString](s.NewChild(f("groups"), allDesc, 0)).PutNew("g", n)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{1, 10, 1000, 20_000} {
				leave()
				s := engine.New(allDesc, engine.Recycle)
				build(s, n)
				var out bytes.Buffer
				if _, err := s.Message().WriteFrame(&out); err != nil {
					t.Fatal(err)
				}
				if at := bytes.Index(out.Bytes(), secret[:3]); at >= 0 {
					t.Errorf("%s of %d: at %d of %d bytes another message's are sent", name, n, at, out.Len())
				}
				if text := render.Text(s, allDesc); bytes.Contains([]byte(text), []byte("5a5a5a")) {
					t.Errorf("%s of %d: another message's bytes can be read", name, n)
				}
				s.Release()
			}
		})
	}
}
