package limits_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// largeElementsDesc describes structs with large texts in containers.
var largeElementsDesc = func() *schema.Struct {
	d := schema.NewStruct("LargeElements")
	d.Define(
		schema.FieldDesc{ID: 1, Name: "l", Type: schema.ListOf(schema.TypeBinary), Req: schema.Optional},
		schema.FieldDesc{ID: 2, Name: "m", Type: schema.MapOf(schema.TypeString, schema.TypeString), Req: schema.Optional},
	)
	return d
}()

// TestLargeElementsAgain: large elements of lists and values of maps that are set again and again
// are not copied, although they take all positions but few together with those that they replace.
func TestLargeElementsAgain(t *testing.T) {
	if !aliasing || math.MaxInt == math.MaxInt32 || !testmode.InOwnProcess(t) {
		return
	}
	zeros := make([]byte, 1000<<20)
	for _, sizes := range [][]int{{900}, {900, 1, 899, 5}, {480, 470}} { // in MiB, by turns
		for _, complete := range []bool{false, true} {
			n := max(1, 960/sizes[0]) // 900 MiB or more are there
			s := engine.New(largeElementsDesc)
			l := nocopy.BytesList(s.NewChild(largeElementsDesc.Field(0), largeElementsDesc, n))
			for i := range n {
				l.Set(i, zeros[:sizes[0]<<20])
			}
			m := engine.New(largeElementsDesc)
			values := nocopy.StringMap(m.NewChild(largeElementsDesc.Field(1), largeElementsDesc, 0))
			for i := range n {
				values.Put(fmt.Sprint(i), string(zeros[:10]))
				values.Put(fmt.Sprint(i), textOf(zeros[:sizes[0]<<20]))
			}
			if complete {
				s.Message().Finish()
				m.Message().Finish()
			}
			copied := 0
			for i := range 40 {
				v := zeros[i : i+sizes[i%len(sizes)]<<20]
				copied += allocated(func() {
					l.Set(i%n, v)
					values.Put(fmt.Sprint(i%n), textOf(v))
				})
				if copied > 40<<20 {
					t.Fatalf("%v, complete %v, up to set %d: %d MiB are copied", sizes, complete, i, copied>>20)
				}
				if got := l.At(i % n); len(got) != len(v) || &got[0] != &v[0] {
					t.Fatalf("%v: another element", sizes)
				}
				if got, ok := values.Get(fmt.Sprint(i % n)); !ok || len(got) != len(v) {
					t.Fatalf("%v: another value", sizes)
				}
			}
			for _, s := range []engine.Struct{s, m} {
				if err := s.Message().Check(); err != nil {
					t.Error(err)
				}
				s.Release()
			}
		}
	}
}

// textOf returns b as a string that shares its memory.
func textOf(b []byte) string {
	s := engine.New(largeDesc)
	s.SetBytes(largeDesc.Field(0), b)
	return s.Text(largeDesc.Field(0))
}

// TestElementsAgain compares texts that are referred to with a slice and a map of Go, while they
// are set again, exchanged, deleted, copied within the message and out of it.
func TestElementsAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(testmode.Seed(t), 44))
	sizes := []int{0, 10, 4096, 5000, 1 << 20, 1<<20 + 1, 3 << 20}
	for range testmode.Of(30, 300) {
		s := engine.New(largeElementsDesc)
		l := nocopy.BytesList(s.NewChild(largeElementsDesc.Field(0), largeElementsDesc, 0))
		m := nocopy.StringMap(s.NewChild(largeElementsDesc.Field(1), largeElementsDesc, 0))
		var list [][]byte
		pairs := map[string]string{}
		text := func() []byte {
			return bytes.Repeat([]byte{byte('a' + r.IntN(26))}, sizes[r.IntN(len(sizes))])
		}
		check := func(what string, s engine.Struct, list [][]byte, pairs map[string]string) {
			t.Helper()
			l := nocopy.BytesList(s.Child(largeElementsDesc.Field(0), largeElementsDesc))
			m := nocopy.StringMap(s.Child(largeElementsDesc.Field(1), largeElementsDesc))
			if l.Len() != len(list) || m.Len() != len(pairs) {
				t.Fatalf("%s: %d elements and %d pairs, want %d and %d", what, l.Len(), m.Len(), len(list), len(pairs))
			}
			for i, want := range list {
				if got := l.At(i); !bytes.Equal(got, want) {
					t.Fatalf("%s: element %d has %d bytes %.3q, want %d, %.3q", what, i, len(got), got, len(want), want)
				}
			}
			for k, want := range pairs {
				if got, ok := m.Get(k); !ok || got != want {
					t.Fatalf("%s: value %s has %d bytes %.3q, want %d, %.3q", what, k, len(got), got, len(want), want)
				}
			}
		}
		for op := range 25 {
			i := r.IntN(max(1, len(list)))
			switch k := r.IntN(12); {
			case k == 0 || len(list) == 0:
				v := text()
				l.Append(v)
				list = append(list, v)
			case k < 4:
				list[i] = text()
				l.Set(i, list[i])
			case k == 4: // a text of the message itself
				j := r.IntN(len(list))
				l.Set(j, l.At(i))
				list[j] = list[i]
			case k == 5:
				j := r.IntN(len(list))
				l.Swap(i, j)
				list[i], list[j] = list[j], list[i]
			case k == 6:
				l.Delete(i, i+1)
				list = slices.Delete(list, i, i+1)
			case k == 7:
				s.Message().Finish()
			case k == 8 && r.IntN(3) == 0:
				s.Message().Compact()
			case k == 9: // a value that is an element, too
				pairs["x"] = string(list[i])
				m.Put("x", textOf(l.At(i)))
			default:
				key, v := string('a'+rune(r.IntN(4))), string(text())
				m.Put(key, v)
				pairs[key] = v
			}
			check("the message", s, list, pairs)
			if op%5 == 4 {
				was, had := slices.Clone(list), pairs
				clone := s.Clone(largeElementsDesc)
				for i := range list {
					list[i] = text()
					l.Set(i, list[i])
				}
				pairs = map[string]string{}
				for k := range had {
					pairs[k] = string(text())
					m.Put(k, pairs[k])
				}
				check("a copy", clone, was, had)
				check("set anew", s, list, pairs)
				again, err := engine.Parse(largeElementsDesc, s.Message().AppendTo(nil))
				if err != nil {
					t.Fatal(err)
				}
				check("sent", again, list, pairs)
				again.Release()
				clone.Release()
			}
		}
		s.Release()
	}
}
