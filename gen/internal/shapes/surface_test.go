package shapes_test

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// same sets a map from a Go map in two messages and reads it in another one.
func same[K, V comparable](t *testing.T, want map[K]V, set func(shapes.Maps), get func(shapes.Maps) map[K]V) {
	t.Helper()
	s, again := shapes.NewMaps(), shapes.NewMaps()
	set(s)
	set(again)
	set(again) // replaces the previous map
	if a, b := s.AppendTo(nil), again.AppendTo(nil); !bytes.Equal(a, b) {
		t.Errorf("the order is not always the same: %x, %x", a, b)
	}
	read, err := shapes.ParseMaps(again.AppendTo(nil))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, get(read)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSetFromGoMap: every kind of key and value; the previous pairs are removed.
func TestSetFromGoMap(t *testing.T) {
	type m = shapes.Maps
	flags := map[bool]string{true: "yes", false: ""}
	same(t, flags, func(s m) { s.SetByFlagsMap(flags) }, func(s m) map[bool]string { return maps.Collect(s.GetByFlags().All()) })
	tinies := map[int8]string{-128: "a", 127: "b", 0: "c"}
	same(t, tinies, func(s m) { s.SetByTiniesMap(tinies) }, func(s m) map[int8]string { return maps.Collect(s.GetByTinies().All()) })
	smalls := map[int16]string{-300: "a", 300: strings.Repeat("b", 5000)}
	same(t, smalls, func(s m) { s.SetBySmallsMap(smalls) }, func(s m) map[int16]string { return maps.Collect(s.GetBySmalls().All()) })
	mediums := map[int32]string{}
	for i := range int32(1000) {
		mediums[i*i-100] = strings.Repeat("x", int(i)%20)
	}
	same(t, mediums, func(s m) { s.SetByMediumsMap(mediums) }, func(s m) map[int32]string { return maps.Collect(s.GetByMediums().All()) })
	larges := map[int64]string{math.MinInt64: "a", 7: "b"}
	same(t, larges, func(s m) { s.SetByLargesMap(larges) }, func(s m) map[int64]string { return maps.Collect(s.GetByLarges().All()) })
	reals := map[float64]string{math.Inf(-1): "a", 0: "b", 2.5: "c"}
	same(t, reals, func(s m) { s.SetByRealsMap(reals) }, func(s m) map[float64]string { return maps.Collect(s.GetByReals().All()) })
	withNaN := shapes.NewMaps()
	withNaN.SetByRealsMap(map[float64]string{math.NaN(): "kept", 1: "a"})
	if got := withNaN.GetByReals().String(); !strings.Contains(got, "kept") || withNaN.GetByReals().Len() != 2 {
		t.Errorf("with NaN as a key: %s", got)
	}
	texts := map[string]string{"": "", "é": "b", strings.Repeat("k", 5000): strings.Repeat("v", 5000)}
	same(t, texts, func(s m) { s.SetByTextsMap(texts) }, func(s m) map[string]string { return maps.Collect(s.GetByTexts().All()) })
	blobs := map[string]string{"\xff\x00": "a", "": "b"}
	same(t, blobs, func(s m) { s.SetByBlobsMap(blobs) }, func(s m) map[string]string {
		got := map[string]string{}
		for k, v := range s.GetByBlobs().All() {
			got[string(k)] = v
		}
		return got
	})
	ids := map[nocopy.UUID]string{{1}: "a", {15: 255}: "b"}
	same(t, ids, func(s m) { s.SetByKeysMap(ids) }, func(s m) map[nocopy.UUID]string { return maps.Collect(s.GetByKeys().All()) })
	colors := map[shapes.Color]string{shapes.Color_RED: "a", shapes.Color_NONE: "b", 99: "c"}
	same(t, colors, func(s m) { s.SetByColorsMap(colors) }, func(s m) map[shapes.Color]string { return maps.Collect(s.GetByColors().All()) })

	toFlags := map[string]bool{"a": true, "b": false}
	same(t, toFlags, func(s m) { s.SetToFlagsMap(toFlags) }, func(s m) map[string]bool { return maps.Collect(s.GetToFlags().All()) })
	toLarges := map[string]int64{"a": math.MinInt64, "b": 1}
	same(t, toLarges, func(s m) { s.SetToLargesMap(toLarges) }, func(s m) map[string]int64 { return maps.Collect(s.GetToLarges().All()) })
	toKeys := map[string]nocopy.UUID{"a": {3}}
	same(t, toKeys, func(s m) { s.SetToKeysMap(toKeys) }, func(s m) map[string]nocopy.UUID { return maps.Collect(s.GetToKeys().All()) })
	toColors := map[string]shapes.Color{"a": shapes.Color_BLUE}
	same(t, toColors, func(s m) { s.SetToColorsMap(toColors) }, func(s m) map[string]shapes.Color { return maps.Collect(s.GetToColors().All()) })
	toBlobs := map[string][]byte{"a": {0xff}, "b": bytes.Repeat([]byte("z"), 5000)}
	same(t, map[string]string{"a": "\xff", "b": strings.Repeat("z", 5000)}, func(s m) { s.SetToBlobsMap(toBlobs) }, func(s m) map[string]string {
		got := map[string]string{}
		for k, v := range s.GetToBlobs().All() {
			got[k] = string(v)
		}
		return got
	})

	s := shapes.NewMaps()
	s.SetByTextsMap(nil)
	if !s.IsSetByTexts() || s.GetByTexts().Len() != 0 {
		t.Error("a nil map does not set an empty one")
	}
	nan := map[float64]string{math.NaN(): "a"}
	nan[math.NaN()] = "b"
	if s.SetByRealsMap(nan); s.GetByReals().Len() != 1 {
		t.Errorf("NaN is %d keys", s.GetByReals().Len())
	}
	u := shapes.NewShape()
	u.SetRadius(1)
	if u.SetWeightsMap(map[string]int32{"a": 1}); u.Which() != shapes.Shape_Weights || u.IsSetRadius() {
		t.Errorf("setting an arm leaves %v set", u.Which())
	}
}

// panicText returns the value of f's panic as text.
func panicText(f func()) (text string) {
	defer func() { text, _ = recover().(string) }()
	f()
	return
}

// TestNewMapRoom: any number is accepted as a hint, except negative ones.
func TestNewMapRoom(t *testing.T) {
	for _, n := range []int{0, 1, 5, 1000, math.MaxInt} {
		s := shapes.NewMaps()
		m := s.NewByTexts(n)
		for i := range 10 {
			m.Put(strings.Repeat("k", i), "v")
		}
		if again, err := shapes.ParseMaps(s.AppendTo(nil)); err != nil || again.GetByTexts().Len() != 10 {
			t.Errorf("room for %d: %v, %v", n, again, err)
		}
	}
	s := shapes.NewMaps()
	for name, f := range map[string]func(){
		"negative": func() { s.NewByTexts(-1) },
		"least":    func() { s.NewByTexts(math.MinInt) },
		"two":      func() { s.NewByTexts(1, 2) },
	} {
		if text := panicText(f); !strings.HasPrefix(text, "nocopy: ") {
			t.Errorf("%s: panics with %q", name, text)
		}
	}
	if s.IsSetByTexts() {
		t.Error("set in spite of the panic")
	}
}

// TestWhich: the result of Which has the name and id of the set arm.
func TestWhich(t *testing.T) {
	s := shapes.NewShape()
	if w := s.Which(); w != 0 || w.String() != "none" || w.ID() != 0 {
		t.Errorf("new: %v, id %d", w, w.ID())
	}
	s.SetLabel("x")
	if w := s.Which(); w != shapes.Shape_Label || w.String() != "label" || w.ID() != 3 {
		t.Errorf("label: %v, id %d", w, w.ID())
	}
	if w := shapes.Shape_Empty; w.String() != "empty" || w.ID() != 10 {
		t.Errorf("empty: %v, id %d", w, w.ID())
	}
	for _, w := range []shapes.ShapeWhich{-1, 1, 2, 13, math.MaxInt32, math.MinInt32} {
		if w.ID() != 0 || !strings.ContainsAny(w.String(), "0123456789") {
			t.Errorf("%d: %v, id %d", int32(w), w, w.ID())
		}
	}
}

// TestRead: ReadS reads bytes that arrive in any pieces, and returns errors.
func TestRead(t *testing.T) {
	s := shapes.NewChain()
	s.SetValue(7)
	s.NewNext().SetValue(8)
	wire := s.AppendTo(nil)
	got, err := shapes.ReadChain(iotest.OneByteReader(bytes.NewReader(wire)), len(wire), nocopy.Recycle)
	if err != nil || got.GetNext().GetValue() != 8 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := shapes.ReadChain(bytes.NewReader(wire[:5]), len(wire)); err != io.ErrUnexpectedEOF {
		t.Errorf("short: %v", err)
	}
	for _, n := range []int{-1, math.MinInt, math.MaxInt, 1 << 30} {
		if _, err := shapes.ReadChain(bytes.NewReader(wire), n); !errors.Is(err, nocopy.ErrLimit) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	for name, f := range map[string]func(){
		"another type": func() { nocopy.Read[shapes.Chain](shapes.TreeDesc, bytes.NewReader(wire), len(wire)) },
		"a list":       func() { nocopy.Read[nocopy.StringList](shapes.TreeDesc, bytes.NewReader(wire), len(wire)) },
		"none":         func() { nocopy.Read[shapes.Chain](nil, bytes.NewReader(wire), len(wire)) },
		"blocks":       func() { nocopy.ParseBlocks[shapes.Chain](shapes.TreeDesc, [][]byte{wire}) },
	} {
		if text := panicText(f); !strings.HasPrefix(text, "nocopy: ") {
			t.Errorf("%s: panics with %q", name, text)
		}
	}
	if text := panicText(func() { nocopy.Read[shapes.Chain](shapes.TreeDesc, nil, 0) }); !strings.Contains(text, "Chain") || !strings.Contains(text, "Tree") {
		t.Errorf("the panic does not name both: %q", text)
	}
}

// TestPresence checks what the comments of NewS, SetX and NewX say.
func TestPresence(t *testing.T) {
	plain := shapes.NewPlainFields()
	for name, is := range map[string]bool{
		"flag": plain.IsSetFlag(), "tiny": plain.IsSetTiny(), "small": plain.IsSetSmall(), "medium": plain.IsSetMedium(),
		"large": plain.IsSetLarge(), "real": plain.IsSetReal(), "key": plain.IsSetKey(), "color": plain.IsSetColor(),
	} {
		if !is {
			t.Errorf("%s is not set in a new message", name)
		}
	}
	for name, is := range map[string]bool{
		"text": plain.IsSetText(), "blob": plain.IsSetBlob(), "point": plain.IsSetPoint(), "shape": plain.IsSetShape(),
		"numbers": plain.IsSetNumbers(), "counts": plain.IsSetCounts(), "points": plain.IsSetPoints(),
		"optional flag": shapes.NewOptionalFields().IsSetFlag(), "optional color": shapes.NewOptionalDefaults().IsSetColor(),
		"required text": shapes.NewRequiredFields().IsSetText(), "an arm": shapes.NewShape().IsSetEmpty(),
	} {
		if is {
			t.Errorf("%s is set in a new message", name)
		}
	}
	var none shapes.PlainFields
	plain.SetPoint(none.GetPoint())
	plain.SetCounts(none.GetCounts())
	plain.SetPoints(none.GetPoints())
	if !plain.IsSetPoint() || !plain.GetPoint().Valid() || !plain.IsSetCounts() || !plain.IsSetPoints() {
		t.Errorf("what is absent was set and is not there: %v", plain)
	}
	if plain.GetCounts().Len() != 0 || plain.GetPoints().Len() != 0 {
		t.Errorf("what is absent was set and is not empty: %v", plain)
	}
}
