package handles_test

import (
	"bytes"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/internal/handles"
)

// keptInto parses wire into m.
func keptInto(t testing.TB, m *engine.Message, d *schema.Struct, wire []byte, opts ...engine.Option) engine.Struct {
	t.Helper()
	s, err := engine.ParseInto(d, m, wire, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// textWire returns the bytes of a message of allDesc with the text.
func textWire(text string) []byte {
	s := engine.New(allDesc)
	defer s.Release()
	s.SetText(fieldNamed(allDesc, "text"), text)
	return bytes.Clone(s.Message().Bytes())
}

// TestVariableStale: once a Message variable is used for the next message, all handles of the
// earlier one are stale and can't damage the new one.
func TestVariableStale(t *testing.T) {
	wire := handles.Wire()
	for name, next := range map[string]func(m *engine.Message) engine.Struct{
		"ParseInto": func(m *engine.Message) engine.Struct { return keptInto(t, m, allDesc, wire) },
		"NewInto":   func(m *engine.Message) engine.Struct { s := engine.NewInto(allDesc, m, nil); fill(s); return s },
		"Reset":     func(m *engine.Message) engine.Struct { m.Reset(); return keptInto(t, m, allDesc, wire) },
	} {
		t.Run(name, func(t *testing.T) {
			var m engine.Message
			dead := handles.Uses(keptInto(t, &m, allDesc, wire))
			want := next(&m).Message().AppendTo(nil)
			for use, f := range dead {
				if use == "Release" {
					ignoredTwice(t, "what was there before", f)
				} else {
					panics(t, use, panicStale, f)
				}
			}
			if !bytes.Equal(m.Bytes(), want) {
				t.Error("a stale handle has changed the message")
			}
		})
	}
}

// TestVariableStrings: without Recycle, strings that were read from a Message variable stay as
// they are when the message is used again.
func TestVariableStrings(t *testing.T) {
	var m engine.Message
	text, blob := fieldNamed(allDesc, "text"), fieldNamed(allDesc, "blob")
	type pair struct{ got, want string }
	var all []pair
	for i := range 40 {
		want := strings.Repeat(string(rune('a'+i%26)), 20+i*i)
		var s engine.Struct
		switch i % 5 {
		case 0:
			s = keptInto(t, &m, allDesc, textWire(want))
		case 1: // the message is copied
			s = keptInto(t, &m, allDesc, textWire("x"))
			s.SetText(text, want)
		case 2:
			s = engine.NewInto(allDesc, &m, nil)
			s.SetText(text, want)
		case 3: // in between memory is used again
			s = engine.NewInto(allDesc, &m, []engine.Option{engine.Recycle})
			s.SetText(text, want)
			continue
		case 4:
			s = engine.NewInto(allDesc, &m, nil)
			copy(s.NewBytes(blob, len(want)), want)
			s.SetText(text, want)
			m.Finish()
			all = append(all, pair{memory.String(s.Bytes(blob)), want})
		}
		all = append(all, pair{s.Text(text), want}, pair{memory.String(m.Bytes()), string(m.Bytes())})
	}
	for _, p := range all {
		if p.got != p.want {
			t.Errorf("what was read was %.20q and is %.20q", p.want, p.got)
		}
	}
}

// TestVariableShared: values that other messages link from a Message variable, and values that it
// links from others, stay as they are, whichever memory they are in.
func TestVariableShared(t *testing.T) {
	big := strings.Repeat("0123456789", 1000)
	text, self := fieldNamed(allDesc, "text"), fieldNamed(allDesc, "self")
	for _, opts := range [][]engine.Option{nil, {engine.Recycle}} {
		var m engine.Message
		var others []engine.Struct
		for i := range 12 {
			value := big + itoa(i)
			var s engine.Struct
			if i%3 == 0 {
				s = keptInto(t, &m, allDesc, textWire(value), opts...)
			} else {
				s = engine.NewInto(allDesc, &m, opts)
				s.SetText(text, value)
			}
			o := engine.New(allDesc, opts...)
			o.SetChild(self, allDesc, s)
			s.SetText(text, "changed meanwhile") // a change of one is none of the other
			others = append(others, o)
			if i%2 == 0 {
				m.Reset()
			}
		}
		for i, o := range others {
			if got := o.Child(self, allDesc).Text(text); got != big+itoa(i) {
				t.Fatalf("the message that links the part of %d has %d bytes that end in %q", i, len(got), got[max(0, len(got)-3):])
			}
		}
		for i, o := range others { // and the other way
			s := engine.NewInto(allDesc, &m, opts)
			s.SetChild(self, allDesc, o)
			o.Release()
			if got := s.Child(self, allDesc).Child(self, allDesc).Text(text); got != big+itoa(i) {
				t.Fatalf("what it links of %d: %d bytes", i, len(got))
			}
		}
	}
}

// TestVariableClaims: a Message variable can't be claimed. A copy outlives it.
func TestVariableClaims(t *testing.T) {
	var m engine.Message
	for range 3 {
		s := engine.NewInto(allDesc, &m, nil)
		s.SetText(fieldNamed(allDesc, "text"), longText)
		if s.Claim(allDesc) || s.Retain() || !s.Is(allDesc) {
			t.Fatal("owned by another")
		}
		c, err := s.ClaimCopy(allDesc)
		if err != nil {
			t.Fatal(err)
		}
		m.Reset()
		if s.Is(allDesc) || s.Claim(allDesc) || s.Retain() {
			t.Error("a stale handle is the message's")
		}
		if _, err := s.ClaimCopy(allDesc); err == nil {
			t.Error("copy of a stale handle")
		}
		if got := c.Text(fieldNamed(allDesc, "text")); got != longText {
			t.Errorf("the copy has %q", got)
		}
		c.End()
	}
}

// TestVariableReaders: any number of goroutines read and send what is in a Message variable.
func TestVariableReaders(t *testing.T) {
	wire := handles.Wire()
	var m engine.Message
	for range 3 {
		s := keptInto(t, &m, allDesc, wire)
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				if s.Text(fieldNamed(allDesc, "text")) != "some text" || !bytes.Equal(m.AppendTo(nil), wire) {
					t.Error("another message")
				}
			})
		}
		readers.Wait()
	}
}

// TestVariableLetsGo: after Reset a Message variable no longer keeps the bytes alive that it was
// parsed from, nor memory that is much larger than the next messages need.
func TestVariableLetsGo(t *testing.T) {
	var m engine.Message
	gone := make(chan bool, 1)
	func() {
		wire := new([100_000]byte)
		b := append(wire[:0], textWire(strings.Repeat("x", 90_000))...)
		runtime.AddCleanup(wire, func(c chan bool) { c <- true }, gone)
		keptInto(t, &m, allDesc, b)
		m.Reset()
	}()
	for range 10 {
		runtime.GC()
		select {
		case <-gone:
			runtime.KeepAlive(&m)
			return
		default:
			runtime.Gosched()
		}
	}
	t.Error("the bytes are still alive")
}

// TestStaleStructBegins: a handle of an earlier message begins nothing, and completes nothing of
// the message that is being built in the same variable.
func TestStaleStructBegins(t *testing.T) {
	var m engine.Message
	child := fieldNamed(allDesc, "self")
	stale := engine.NewInto(allDesc, &m, nil)
	inner := engine.NewInto(allDesc, &m, nil).NewChild(child, allDesc, 0)
	panics(t, "NewChild", panicStale, func() { stale.NewChild(fieldNamed(allDesc, "point"), allDesc, 0) })
	inner.SetText(fieldNamed(allDesc, "text"), "appended")
	if n := m.Nodes(); n != 0 {
		t.Errorf("%d nodes: the inner struct was completed", n)
	}
}
