package messages_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// itemModel is what an echo.Item should have.
type itemModel struct {
	name    string
	data    []byte
	numbers []int64
	labels  map[string]string
}

func (w *itemModel) check(t *testing.T, what string, s echo.Item) {
	t.Helper()
	if s.GetName() != w.name || string(s.GetData()) != string(w.data) {
		t.Fatalf("%s: a name of %d bytes and data of %d, not %d and %d", what, len(s.GetName()), len(s.GetData()), len(w.name), len(w.data))
	}
	if got := s.GetNumbers().AppendTo(nil); !slices.Equal(got, w.numbers) {
		t.Fatalf("%s: numbers %v, not %v", what, got, w.numbers)
	}
	if got := maps.Collect(s.GetLabels().All()); !maps.Equal(got, w.labels) {
		t.Fatalf("%s: labels %v, not %v", what, got, w.labels)
	}
}

// TestTextSizes replaces texts and binaries of small received messages by ones of all sizes. A
// setter copies some of these messages first. The message then has the new value and all others,
// and nothing else changes: values read before, clones, and messages that link to it.
func TestTextSizes(t *testing.T) {
	r := rand.New(rand.NewPCG(testmode.Seed(t), 1))
	sizes := []int{0, 1, 7, 100, 255, 256, 257, 500, 1000, 2000, 2100, 4095, 4096, 5000, 70_000, 1 << 20}
	text := func(most int) string {
		return strings.Repeat(string(rune('a'+r.IntN(26))), min(sizes[r.IntN(len(sizes))], most))
	}
	optionSets := [][]nocopy.Option{nil, {nocopy.Own}, {nocopy.Lazy}, {nocopy.Own, nocopy.Lazy}}
	for range testmode.Of(400, 6000) {
		want := itemModel{text(2000), []byte(text(2000)), nil, map[string]string{}}
		from := echo.NewItem()
		from.SetName(want.name)
		from.SetData(want.data)
		for i := range r.IntN(20) {
			want.numbers = append(want.numbers, int64(i))
			want.labels[strings.Repeat("k", i)] = text(100)
		}
		from.SetNumbers(want.numbers)
		from.SetLabelsMap(want.labels)
		wire := from.Message().AppendTo(nil)
		from.Release()
		s, err := echo.ParseItem(wire, optionSets[r.IntN(len(optionSets))]...)
		if err != nil {
			t.Fatal(err)
		}
		var read, was []string
		for range 1 + r.IntN(8) {
			read, was = append(read, s.GetName()), append(was, strings.Clone(want.name))
			switch r.IntN(9) {
			case 0, 1, 2:
				want.name = text(1 << 20)
				s.SetName(want.name)
			case 3:
				want.data = []byte(text(1 << 20))
				s.SetData(want.data)
			case 4:
				s.UnsetName()
				want.name = ""
			case 5:
				k, v := text(100), text(5000)
				s.GetLabels().Put(k, v)
				want.labels[k] = v
			case 6:
				want.name = s.GetName() + s.GetName()[:min(len(want.name), 10)]
				s.SetName(want.name)
			case 7:
				s.SetName(string(s.GetData()))
				want.name = string(want.data)
			case 8:
				s.Message().Repack()
			}
			want.check(t, "itself", s)
		}
		clone, args := s.Clone(), echo.NewEchoPutArgs()
		args.SetItem(s)
		again, err := echo.ParseItem(s.Message().AppendTo(nil))
		if err != nil {
			t.Fatal(err)
		}
		s.SetName("changed")
		s.SetData([]byte("changed"))
		want.check(t, "its clone", clone)
		want.check(t, "its bytes", again)
		want.check(t, "the message that links to it", args.GetItem())
		s.Release()
		want.check(t, "the link, after its release", args.GetItem())
		if !slices.Equal(read, was) {
			t.Fatal("a name that was read has changed")
		}
		for _, m := range []interface{ Release() }{clone, again, args} {
			m.Release()
		}
	}
}
