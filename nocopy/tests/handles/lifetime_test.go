package handles_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/internal/handles"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// panicsNaming checks that f panics because of a use after Release, and that the panic names the
// message's type and says where Release was called, or how to find out.
func panicsNaming(t *testing.T, what, name string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		got := fmt.Sprint(recover())
		text := strings.TrimPrefix(strings.TrimPrefix(got, "nocopy: "), "part of ")
		where := "; released at\n"
		if !debugging {
			where = " (build with -tags nocopydebug to find where)"
		}
		if !strings.HasPrefix(text, name+" used after Release") || !strings.Contains(text, where) {
			t.Errorf("%s: panic with %s, want one that names %s, and where it was released", what, got, name)
		}
	}()
	f()
}

// TestUseAfterRelease: a handle of any kind ends with its message, even if the memory already has
// a new message. While it has none, the panic names the type.
func TestUseAfterRelease(t *testing.T) {
	wire := handles.Wire()
	for _, w := range []way{inOnePiece, owned, recycled, with(inOnePiece, nocopy.Lazy, "lazy")} {
		t.Run(w.Name, func(t *testing.T) {
			s, err := w.Parse(allDesc, wire)
			if err != nil {
				t.Fatal(err)
			}
			dead := handles.Uses(s)
			s.Release()
			twice := dead["Release"]
			delete(dead, "Release")
			for name, use := range dead {
				panicsNaming(t, w.Name+": "+name, allDesc.Name(), use)
			}
			other, err := w.Parse(allDesc, wire)
			if err != nil {
				t.Fatal(err)
			}
			for name, use := range dead {
				panics(t, w.Name+", next message made: "+name, panicStale, use)
			}
			ignoredTwice(t, w.Name+", next message made", twice)
			if got := other.Message().Bytes(); !bytes.Equal(got, wire) {
				t.Errorf("%s: the next message was changed by a handle of the one before", w.Name)
			}
			other.Release()
		})
	}
}

// TestUses: operations that panic after Release do not panic before.
func TestUses(t *testing.T) {
	wire := handles.Wire()
	for name := range handles.Uses(mustParse(t, allDesc, wire)) {
		t.Run(name, func(t *testing.T) {
			s := mustParse(t, allDesc, wire)
			handles.Uses(s)[name]()
			if name != "Release" {
				if changed := !bytes.Equal(s.Message().Bytes(), wire); changed && !handles.Writes(name) {
					t.Errorf("%s changed the message", name)
				}
				s.Release()
			}
		})
	}
}

func TestRelease(t *testing.T) {
	s := mustParse(t, allDesc, handles.Wire())
	point := s.Child(fieldNamed(allDesc, "point"), allDesc)
	panics(t, "Release of an inner struct", panicNotRoot, point.Release)
	m := s.Message()
	s.Release()
	for name, release := range map[string]func(){"handle": s.Release, "message": m.Release, "inner struct": point.Release} {
		ignoredTwice(t, name, release)
	}
	panics(t, "Len of a released message", panicStale, func() { m.Len() })
	panics(t, "Bytes of a released message", panicStale, func() { m.Bytes() })
	panics(t, "Root of a released message", panicStale, func() { m.Root() })
	panics(t, "WriteTo of a released message", panicStale, func() { m.WriteTo(io.Discard) })

	constant := newConst(structTypeOf(pointDesc), "\x00").View()
	panics(t, "Release of a constant", panicNotRoot, constant.Release)
	panics(t, "Release of the message of a constant", panicNotRoot, constant.Message().Release)
}

// TestReleaseAbsent: Release of an absent handle does nothing, any number of times.
func TestReleaseAbsent(t *testing.T) {
	s := mustParse(t, allDesc, handles.Wire(), nocopy.Own)
	failed, err := parseStruct(allDesc, []byte{0xff})
	if err == nil {
		t.Fatal("nonsense was parsed")
	}
	removed := s.Child(fieldNamed(allDesc, "point"), allDesc)
	s.Unset(fieldNamed(allDesc, "point"))
	s.Message().Compact()
	d := newStruct(defaultDesc)
	var own, failedOwn nocopy.Message
	if _, err := parseInto(&failedOwn, allDesc, []byte{0xff}); err == nil {
		t.Fatal("nonsense was parsed")
	}
	for name, release := range map[string]func(){
		"the zero handle":                  thriftimpl.Struct{}.Release,
		"the zero handle's message":        thriftimpl.Struct{}.Message().Release,
		"an absent struct":                 s.Child(fieldNamed(allDesc, "self"), allDesc).Release,
		"an absent struct's message":       s.Child(fieldNamed(allDesc, "self"), allDesc).Message().Release,
		"an absent result":                 nocopy.Struct(emptyHandle()).Release,
		"what failed to parse":             failed.Release,
		"a default":                        d.Child(fieldNamed(defaultDesc, "point2"), defaultDesc).Release,
		"a default's message":              d.Child(fieldNamed(defaultDesc, "point2"), defaultDesc).Message().Release,
		"a removed struct":                 removed.Release,
		"a nil Message":                    (*nocopy.Message)(nil).Release,
		"a zero Message":                   own.Release,
		"a Message into which none parsed": failedOwn.Release,
	} {
		t.Run(name, func(t *testing.T) {
			release()
			release()
		})
	}
	if removed.Valid() || !bytes.Equal(s.Clone(allDesc).Message().Bytes(), s.Message().Bytes()) {
		t.Error("the message has changed")
	}
	s.Release()
	d.Release()
}

// TestReleaseTwiceAfterReuse: a second Release of a handle does not affect the message that is in
// the same memory by then, in this goroutine or another one.
func TestReleaseTwiceAfterReuse(t *testing.T) {
	if debugging {
		t.Skip("a second Release panics with nocopydebug, and no memory is used again")
	}
	wire := handles.Wire()
	reused := 0
	for range 200 {
		s := mustParse(t, allDesc, wire)
		m := s.Message()
		s.Release()
		var wg sync.WaitGroup
		wg.Go(func() {
			other := mustParse(t, allDesc, wire)
			defer other.Release()
			if other.Message() == m {
				reused++
			}
			if text := other.Text(fieldNamed(allDesc, "text")); text != "some text" {
				t.Errorf("read %q", text)
			}
		})
		s.Release()
		wg.Wait()
		s.Release()
	}
	if reused == 0 {
		t.Error("no memory was used again, so that this test shows nothing")
	}
}

// TestReleaseUnsent: a message of any size may be released before it was sent or finished, even
// the first message in its memory.
func TestReleaseUnsent(t *testing.T) {
	for _, opts := range [][]nocopy.Option{nil, {nocopy.Recycle}} {
		for n := 1; n <= 1<<16; n *= testmode.Of(64, 2) {
			for _, linked := range []bool{false, true} {
				runtime.GC() // two collections empty the pools
				runtime.GC()
				s := newStruct(allDesc, opts...)
				words := nocopy.StringList(s.NewChild(fieldNamed(allDesc, "words"), allDesc, 0))
				for range n {
					words.Append("a word of a few bytes")
				}
				if linked {
					other := newStruct(allDesc, opts...)
					other.SetChild(fieldNamed(allDesc, "words"), allDesc, thriftimpl.Struct(words))
					other.Release()
				}
				s.Release()
			}
		}
	}
}

// TestAbsent: absent structs and containers read as zero. They can be made, but not filled.
func TestAbsent(t *testing.T) {
	s := newStruct(allDesc)
	defer s.Release()
	self := s.Child(fieldNamed(allDesc, "self"), allDesc)
	if self.Valid() || !s.Valid() || (thriftimpl.Struct{}).Valid() {
		t.Errorf("Valid: absent %v, root %v, zero %v", self.Valid(), s.Valid(), thriftimpl.Struct{}.Valid())
	}
	for name, use := range handles.Uses(self) {
		t.Run(name, func(t *testing.T) {
			switch {
			case name == "Release":
				use() // nothing
			case name == "UnsetArm" || strings.HasSuffix(name, "Set") && strings.Contains(name, " "):
				// The index is out of range first, or nothing is to be done.
			case strings.HasSuffix(name, "At") && !strings.HasSuffix(name, "NewAt"):
				func() {
					defer func() {
						if _, ok := recover().(runtime.Error); !ok {
							t.Errorf("%s of an absent list does not panic as a slice does", name)
						}
					}()
					use()
				}()
			case handles.Writes(name):
				panics(t, "absent: "+name, panicAbsent, use)
			default:
				use()
			}
		})
	}
	if got := render.Text(self, allDesc); got != "{}" {
		t.Errorf("absent struct: %s", got)
	}
	point := s.NewChild(fieldNamed(allDesc, "point"), allDesc, 0)
	if nocopy.StructList[thriftimpl.Struct](self.Child(fieldNamed(allDesc, "points"), allDesc)).Contains(point) {
		t.Error("an absent list contains a struct")
	}
	if _, ok := (nocopy.Map[thriftimpl.Struct, string, thriftimpl.AsView[thriftimpl.Struct], thriftimpl.AsString](self.Child(fieldNamed(allDesc, "byPoint"), allDesc))).Get(point); ok {
		t.Error("an absent map has a struct as key")
	}
	s.Unset(fieldNamed(allDesc, "point"))
	panics(t, "setter of a default", panicAbsent, func() {
		newStruct(defaultDesc).Child(fieldNamed(defaultDesc, "point2"), defaultDesc).SetInt32(fieldNamed(pointDesc, "x"), 1)
	})
	panics(t, "setter of a constant", panicConst, func() {
		newConst(structTypeOf(pointDesc), "\x08\x00\x01\x00\x00\x00\x01\x00").View().SetInt32(fieldNamed(pointDesc, "x"), 1)
	})
	self = s.NewChild(fieldNamed(allDesc, "self"), allDesc, 0)
	self.SetInt32(fieldNamed(allDesc, "medium"), 1)
	if got := render.Text(s, allDesc); got != "{self: {medium: 1}}" {
		t.Errorf("after NewChild: %s", got)
	}
}

func TestIndexOutOfRange(t *testing.T) {
	s := mustParse(t, allDesc, handles.Wire())
	defer s.Release()
	words := nocopy.StringList(s.Child(fieldNamed(allDesc, "words"), allDesc))
	numbers := nocopy.Int64List(s.Child(fieldNamed(allDesc, "numbers"), allDesc))
	points := nocopy.StructList[thriftimpl.Struct](s.Child(fieldNamed(allDesc, "points"), allDesc))
	matrix := nocopy.NestedList[nocopy.Int32List](s.Child(fieldNamed(allDesc, "matrix"), allDesc))
	for name, use := range map[string]func(i int){
		"strings At": func(i int) { words.At(i) }, "strings Set": func(i int) { words.Set(i, "") },
		"numbers At": func(i int) { numbers.At(i) }, "numbers Set": func(i int) { numbers.Set(i, 1) },
		"structs At": func(i int) { points.At(i) }, "structs Set": func(i int) { points.Set(i, points.At(0)) },
		"lists At": func(i int) { matrix.At(i) }, "lists NewAt": func(i int) { matrix.NewAt(i, 1) },
		"lists Set": func(i int) { matrix.Set(i, matrix.At(0)) },
	} {
		t.Run(name, func(t *testing.T) {
			n := 2
			if strings.HasPrefix(name, "numbers") {
				n = 3
			}
			for _, i := range []int{-1, n, n + 1, math.MaxInt, math.MinInt} {
				func() {
					defer func() {
						switch err := recover().(type) {
						case nocopy.IndexError:
							if want := (nocopy.IndexError{Index: i, Len: n}); err != want {
								t.Errorf("%s(%d): %v", name, i, err)
							}
						default:
							t.Errorf("%s(%d): panic with %v", name, i, err)
						}
					}()
					use(i)
				}()
			}
		})
	}
	if !bytes.Equal(s.Message().Bytes(), handles.Wire()) {
		t.Error("a use that panicked changed the message")
	}
}

func TestCountOutOfRange(t *testing.T) {
	s := newStruct(allDesc)
	defer s.Release()
	s.SetText(fieldNamed(allDesc, "text"), "some text")
	for _, name := range []string{"numbers", "words", "points", "counts"} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{-1, math.MinInt, maxCount + 1, math.MaxInt} {
				panics(t, name, "nocopy: count "+itoa(n)+" out of range", func() { s.NewChild(fieldNamed(allDesc, name), allDesc, n) })
			}
		})
	}
	for name, size := range map[string]int{"numbers": 8, "words": textHeader, "unique": 4} {
		t.Run(name, func(t *testing.T) {
			n := maxCount/size + 1
			panics(t, name, "nocopy: count "+itoa(n)+" out of range", func() { s.NewChild(fieldNamed(allDesc, name), allDesc, n) })
		})
	}
	if got := render.Text(s, allDesc); got != "{text: \"some text\"}" {
		t.Error("a use that panicked changed the message:", got)
	}
}

// TestStringsOutliveRelease: memory that strings may refer to is not used again without Recycle.
func TestStringsOutliveRelease(t *testing.T) {
	wire := handles.Wire()
	var strs []string
	for range 2000 {
		s, err := fromReader.Parse(allDesc, wire)
		if err != nil {
			t.Fatal(err)
		}
		s.SetText(fieldNamed(allDesc, "text"), "changed")
		strs = append(strs, s.Text(fieldNamed(allDesc, "text")), nocopy.StringList(s.Child(fieldNamed(allDesc, "words"), allDesc)).At(1))
		s.Release()
		b := newStruct(allDesc)
		b.SetText(fieldNamed(allDesc, "text"), "built")
		strs = append(strs, b.Text(fieldNamed(allDesc, "text")), "b")
		b.Release()
	}
	for i := 0; i < len(strs); i += 4 {
		if got := strings.Join(strs[i:i+4], ","); got != "changed,b,built,b" {
			t.Fatalf("strings of message %d have become %q", i/4, got)
		}
	}
}
