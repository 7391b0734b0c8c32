package shapes_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// plainEntry is a function that reads plain values with options, or a way to look into the bytes
// that takes none.
type plainEntry struct {
	name string
	read func(b []byte, opts []nocopy.Option) (shapes.ListsFields, error)
}

var plainEntries = []plainEntry{
	{"Parse", func(b []byte, opts []nocopy.Option) (v shapes.ListsFields, err error) {
		v = shapes.ListsFields{Texts: []string{"old"}, Points: make([]shapes.PointFields, 3)}
		return v, v.Parse(b, opts...)
	}},
	{"ParseXFields", func(b []byte, opts []nocopy.Option) (shapes.ListsFields, error) {
		return shapes.ParseListsFields(b, opts...)
	}},
	{"ParseXBy without functions", func(b []byte, opts []nocopy.Option) (v shapes.ListsFields, err error) {
		return v, shapes.ParseListsBy(&v, shapes.ListsBy{}, b, opts...)
	}},
	{"ParseXBy", func(b []byte, opts []nocopy.Option) (v shapes.ListsFields, err error) {
		var points []shapes.PointFields
		err = shapes.ParseListsBy(&v, shapes.ListsBy{Points: func(_ int, p *shapes.PointFields) error {
			points = append(points, *p)
			return nil
		}}, b, opts...)
		v.Points = points
		return v, err
	}},
}

// plainOptions has all options of Parse. small refuses the messages of the tests.
var (
	small        = nocopy.Limits{MaxBytes: 1000}
	plainOptions = []nocopy.Option{nocopy.Lazy, nocopy.Own, nocopy.Recycle, nocopy.ValidUTF8, nocopy.WithIndex, nocopy.ByIndex, nocopy.RequireIndex,
		nocopy.Compact, nocopy.Limits{MaxDepth: 100}, nocopy.Limits{MaxIndex: 1 << 20}, small, nil}
)

// plainSources returns the values of the tests, and their bytes in several forms.
func plainSources(t *testing.T) (shapes.ListsFields, map[string][]byte) {
	v := shapes.ListsFields{Texts: []string{"first"}, Points: make([]shapes.PointFields, 500), Refusals: make([]shapes.RefusedFields, 300)}
	for i := range v.Points {
		v.Points[i] = shapes.PointFields{X: int32(i), Y: 7}
	}
	for i := range v.Refusals {
		v.Refusals[i].Reason = fmt.Sprintf("reason%03d", i)
	}
	message := func(opts ...nocopy.Option) []byte {
		s := shapes.NewListsOf(v, opts...)
		defer s.Release()
		return s.Message().AppendTo(nil)
	}
	indexed := message(nocopy.WithIndex)
	// The index: a binary with the id -32000
	start := bytes.LastIndex(indexed, []byte{11, 0x83, 0}) + 7
	changed := func(b []byte, at int, to byte) []byte {
		b = bytes.Clone(b)
		b[at] ^= to
		return b
	}
	length := bytes.Index(indexed, []byte("reason200")) - 4
	utf8 := bytes.Index(indexed, []byte("first"))
	plain := v.AppendTo(nil)
	compact := shapes.NewListsOf(v)
	defer compact.Release()
	sources := map[string][]byte{
		"plain": plain, "with index": indexed, "compact": compact.Message().AppendCompact(nil),
		"unknown field":  append(bytes.Clone(plain[:len(plain)-1]), 8, 0x77, 0x77, 0, 0, 0, 1, 0),
		"bad UTF-8":      changed(plain, bytes.Index(plain, []byte("first")), 0x80),
		"bad with index": changed(indexed, utf8, 0x80), "malformed": changed(plain, bytes.Index(plain, []byte("reason200"))-4, 0x7f),
		"malformed with index": changed(indexed, length, 0x7f),
	}
	for i := start; i < len(indexed)-1; i += testmode.Of(40, 24) {
		sources[fmt.Sprint("bad index ", i-start)] = changed(indexed, i, 0x15)
	}
	if start < 7 || length < 0 || utf8 < 0 {
		t.Fatal("no index, or no texts")
	}
	return v, sources
}

// TestPlainOptions: every option and every pair of options has a defined effect on each function
// that reads plain values. Bytes are read whole and checked at once, in every case. RequireIndex
// refuses messages without an index that fits, ValidUTF8 invalid strings, Limits what exceeds
// them, and Compact takes the other protocol. All other options have no effect. Peek and PeekAll,
// which take no options, find the same values without looking at an index.
func TestPlainOptions(t *testing.T) {
	v, sources := plainSources(t)
	for from, wire := range sources {
		for i, a := range plainOptions {
			for _, b := range plainOptions[:i+1] {
				opts := []nocopy.Option{a, b}
				has := func(o nocopy.Option) bool { return slices.Contains(opts, o) }
				wrongIndex := strings.HasPrefix(from, "bad index")
				if wrongIndex && !has(nocopy.RequireIndex) && !has(nocopy.ByIndex) {
					continue
				}
				var want error
				switch {
				case has(small):
					want = nocopy.ErrLimit
				case has(nocopy.Compact) != (from == "compact"):
					want = errAny
				case strings.HasPrefix(from, "malformed"):
					if want = io.ErrUnexpectedEOF; has(nocopy.RequireIndex) && !has(nocopy.WithIndex) {
						want = errAny
					}
				case has(nocopy.RequireIndex) && !has(nocopy.WithIndex) && (wrongIndex || !strings.HasSuffix(from, "with index")):
					want = nocopy.ErrIndex
				case has(nocopy.ValidUTF8) && strings.HasPrefix(from, "bad") && !wrongIndex:
					want = nocopy.ErrUTF8
				}
				for _, entry := range plainEntries {
					given := bytes.Clone(wire)
					got, err := entry.read(given, opts)
					what := fmt.Sprintf("%s, %s, %v", entry.name, from, opts)
					if !bytes.Equal(given, wire) {
						t.Fatalf("%s: the bytes were changed", what)
					}
					var bad *nocopy.Error
					if want == errAny && errors.As(err, &bad) {
						continue
					}
					if want == nocopy.ErrIndex && wrongIndex && err == nil {
						want = nil // the byte does not matter, since the values are right
					}
					if !errors.Is(err, want) || err != nil && !errors.As(err, &bad) {
						t.Fatalf("%s: %v, not %v", what, err, want)
					}
					expected := v
					if err != nil {
						expected = shapes.ListsFields{}
					} else if strings.HasPrefix(from, "bad") && !wrongIndex {
						expected.Texts = []string{"\xe6irst"}
					}
					if d := cmp.Diff(expected, got); d != "" {
						t.Fatalf("%s: %.500s", what, d)
					}
				}
			}
		}
	}
}

// errAny stands for any *Error.
var errAny = errors.New("any error")

// TestPlainOptionsPeek: Peek and PeekAll find the same values in messages with an index, whatever
// it says, and without.
func TestPlainOptionsPeek(t *testing.T) {
	v, sources := plainSources(t)
	for from, wire := range sources {
		if from == "compact" {
			continue
		}
		for _, path := range [][]int{{7, 0}, {11, 499, 1}, {20, 100, 1}} {
			got, err := nocopy.Peek(wire, path...)
			all, allErr := nocopy.PeekAll(nil, shapes.ListsDesc, wire, path)
			if err != nil || allErr != nil || !bytes.Equal(got.Raw(), all[0].Raw()) {
				t.Fatalf("%s, %v: %v, %v", from, path, err, allErr)
			}
			want := map[int]string{7: v.Texts[0], 11: "", 20: "reason100"}[path[0]]
			if path[0] == 11 && got.Int32() != 499 || got.Text() != want && !strings.HasPrefix(from, "bad ") {
				t.Fatalf("%s, %v: %x", from, path, got.Raw())
			}
		}
	}
}
