package handles_test

import (
	"bytes"
	"runtime"
	"sync"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/internal/handles"
)

// textMapDesc describes a struct of one map of strings to strings.
var textMapDesc = schema.NewStruct("Texts")

func init() {
	textMapDesc.Define(schema.FieldDesc{ID: 1, Name: "texts", Type: schema.MapOf(schema.TypeString, schema.TypeString), Req: schema.Optional})
}

// TestPutAfterRelease: a map that was being filled when its message was released is as stale as
// any handle.
func TestPutAfterRelease(t *testing.T) {
	s := engine.New(textMapDesc)
	texts := nocopy.StringMap(s.NewChild(fieldNamed(textMapDesc, "texts"), textMapDesc, 0))
	texts.Put("a", "b")
	s.Release()
	panics(t, "Put", panicStale, func() { texts.Put("c", "d") })
}

// TestCallMessage: functions that were shown a message of a call may do anything to it: it can
// still be sent, and later messages are not damaged.
func TestCallMessage(t *testing.T) {
	wire := handles.Wire()
	for name, release := range map[string]func(s engine.Struct){
		"by handle":           func(s engine.Struct) { s.Release() },
		"by handle, twice":    func(s engine.Struct) { s.Release(); s.Release() },
		"by pointer":          func(s engine.Struct) { s.Message().Release() },
		"by pointer, twice":   func(s engine.Struct) { m := s.Message(); m.Release(); m.Release() },
		"by both":             func(s engine.Struct) { m := s.Message(); s.Release(); m.Release() },
		"by both, vice versa": func(s engine.Struct) { s.Message().Release(); s.Release() },
	} {
		t.Run(name, func(t *testing.T) {
			m, err := engine.ParseForCall(allDesc, memory.Chunk{Mem: bytes.Clone(wire)}, engine.Limits{}, 0)
			if err != nil {
				t.Fatal(err)
			}
			s := engine.Struct(m.Root())
			if m.IsDisowned() {
				t.Error("released before anybody did")
			}
			release(s)
			if !m.IsDisowned() {
				t.Errorf("%s: not noted", name)
			}
			panics(t, name+": a getter", panicStale, func() { s.Text(fieldNamed(allDesc, "text")) })
			if !bytes.Equal(m.Bytes(), wire) {
				t.Errorf("%s: it can't be sent any more", name)
			}
			m.EndOfCall()
		})
	}
}

// TestShownCallMessage: if a program may have kept a *Message, it is not used again, but its
// blocks are.
func TestShownCallMessage(t *testing.T) {
	if debugging || raceEnabled {
		return // such a build has other pools
	}
	for _, recycle := range []bool{false, true} {
		once := func() {
			m := engine.NewIn(allDesc, memory.Chunk{}, 0, engine.Limits{}, engine.OfCall|optionsOf(recycle, false))
			s := engine.Struct(m.Root())
			s.SetText(fieldNamed(allDesc, "text"), "some text")
			s.Message()
			m.Finish()
			m.EndHandles()
			m.EndOfCall()
		}
		const rounds = 100
		var before, after runtime.MemStats
		once()
		runtime.ReadMemStats(&before)
		for range rounds {
			once()
		}
		runtime.ReadMemStats(&after)
		if each := (after.TotalAlloc - before.TotalAlloc) / rounds; each > memory.SlabSize/4 {
			t.Errorf("recycle %t: %d bytes allocated for each", recycle, each)
		}
	}
}

// TestEndHandles: no handle writes to a message that is about to be sent, not even one that was
// just being filled.
func TestEndHandles(t *testing.T) {
	m := engine.NewIn(textMapDesc, memory.Chunk{}, 0, engine.Limits{}, engine.OfCall)
	s := engine.Struct(m.Root())
	texts := nocopy.StringMap(s.NewChild(fieldNamed(textMapDesc, "texts"), textMapDesc, 0))
	texts.Put("a", "b")
	m.EndHandles()
	panics(t, "Put", panicStale, func() { texts.Put("c", "d") })
	panics(t, "NewChild", panicStale, func() { s.NewChild(fieldNamed(textMapDesc, "texts"), textMapDesc, 0) })
	if got := nocopy.StringMap(engine.Struct(m.Root()).Child(fieldNamed(textMapDesc, "texts"), textMapDesc)).String(); got != `{"a": "b"}` {
		t.Error(got)
	}
	m.EndOfCall()
}

// TestCopyForCall: any struct of the type can be sent, by any number of goroutines, and nothing
// else can.
func TestCopyForCall(t *testing.T) {
	wire := handles.Wire()
	parsed := mustParse(t, allDesc, wire)
	built := engine.New(allDesc)
	built.SetChild(fieldNamed(allDesc, "self"), allDesc, parsed)
	sub := built.Child(fieldNamed(allDesc, "self"), allDesc)
	large := engine.New(allDesc)
	large.SetBytes(fieldNamed(allDesc, "blob"), bytes.Repeat([]byte("x"), 1<<20))
	want := map[engine.Struct][]byte{parsed: wire, sub: wire, large: nil}
	var wg sync.WaitGroup
	for range 8 {
		for s, bytesOf := range want {
			wg.Go(func() {
				m, err := engine.CopyForCall(allDesc, s, 20, engine.Limits{}, engine.Recycle)
				if err != nil {
					t.Error(err)
					return
				}
				m.Prepend(20)
				if got := m.Bytes()[20:]; bytesOf != nil && !bytes.Equal(got, bytesOf) || bytesOf == nil && len(got) < 1<<20 {
					t.Errorf("the copy is %x", got)
				}
				m.EndOfCall()
			})
		}
	}
	wg.Wait()
	released := mustParse(t, allDesc, wire)
	released.Release()
	for name, s := range map[string]engine.Struct{
		"zero": {}, "absent": engine.Absent(), "released": released, "a list": parsed.Child(fieldNamed(allDesc, "words"), allDesc),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := engine.CopyForCall(allDesc, s, 20, engine.Limits{}, 0); err == nil {
				t.Errorf("%s: there is a copy", name)
			}
		})
	}
	if _, err := engine.CopyForCall(strictDesc, parsed, 20, engine.Limits{}, 0); err == nil {
		t.Error("a struct without the required fields was copied")
	}
	if !parsed.Is(allDesc) || parsed.Is(strictDesc) || sub.Is(allDesc) || released.Is(allDesc) || (engine.Struct{}).Is(allDesc) || engine.Absent().Is(allDesc) {
		t.Error("Is")
	}
}
