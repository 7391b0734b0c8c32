package shapes_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopycmp"
)

// randomFields gives v, a struct of plain values, random values.
func randomFields(r *rand.Rand, v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.Uint64()) >> (r.IntN(2) * 60))
	case reflect.Float64:
		v.SetFloat(float64(r.IntN(1000)) / 8)
	case reflect.Uint8:
		v.SetUint(uint64(r.IntN(256)))
	case reflect.String:
		v.SetString(strings.Repeat("text ", []int{0, 1, 3, 10, 100, 900}[r.IntN(6)]) + fmt.Sprint(r.IntN(1000)))
	case reflect.Array:
		for i := range v.Len() {
			randomFields(r, v.Index(i), depth)
		}
	case reflect.Pointer:
		if depth > 0 && r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			randomFields(r, v.Elem(), depth-1)
		}
	case reflect.Slice:
		if r.IntN(4) == 0 {
			return
		}
		n := r.IntN(4)
		if depth <= 0 {
			n = 0
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			n = []int{0, 1, 20, 5000}[r.IntN(4)]
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			randomFields(r, v.Index(i), depth-1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); v.Type().Field(i).Name == "Set" && f.Kind() == reflect.Bool { // of an Opt
				f.SetBool(r.IntN(3) > 0)
			} else {
				randomFields(r, f, depth)
			}
		}
	default:
		panic("fields of kind " + v.Kind().String())
	}
}

// setEach gives s, a handle, the fields v by its setters, one at a time.
func setEach(s, v reflect.Value) {
	for i := range v.NumField() {
		name, f := v.Type().Field(i).Name, v.Field(i)
		if strings.HasPrefix(f.Type().Name(), "Opt[") {
			if !f.FieldByName("Set").Bool() {
				continue
			}
			f = f.FieldByName("Value")
		}
		set := s.MethodByName("Set" + name)
		switch {
		case f.Kind() == reflect.Pointer && f.IsNil(), f.Kind() == reflect.Slice && f.IsNil():
		case f.Kind() == reflect.Pointer:
			setEach(s.MethodByName("New" + name).Call(nil)[0], f.Elem())
		case f.Kind() == reflect.Struct:
			setEach(s.MethodByName("New" + name).Call(nil)[0], f)
		case set.Type().In(0) == f.Type():
			set.Call([]reflect.Value{f})
		case strings.HasPrefix(f.Type().Elem().Name(), "Pair["):
			m := s.MethodByName("New" + name).Call(nil)[0]
			for k := range f.Len() {
				m.MethodByName("Put").Call([]reflect.Value{f.Index(k).Field(0), f.Index(k).Field(1)})
			}
		default:
			l := s.MethodByName("New" + name).Call([]reflect.Value{reflect.ValueOf(f.Len())})[0]
			for k := range f.Len() {
				setEach(l.MethodByName("At").Call([]reflect.Value{reflect.ValueOf(k)})[0], f.Index(k))
			}
		}
	}
}

type view interface {
	nocopy.StructView
	nocopy.AnyHandle
}

// checkFields compares messages made from random plain values with messages that setters make.
func checkFields[S view, F any](t *testing.T, r *rand.Rand, make func(...nocopy.Option) S,
	of func(F, ...nocopy.Option) S, set func(S, F), parse func([]byte, ...nocopy.Option) (S, error)) {
	t.Helper()
	wire := func(s S) []byte { return nocopy.Struct(s).Message().AppendTo(nil) }
	for range testmode.Of(20, 100) {
		var v, other F
		randomFields(r, reflect.ValueOf(&v).Elem(), 2)
		randomFields(r, reflect.ValueOf(&other).Elem(), 2)
		want := make()
		setEach(reflect.ValueOf(want), reflect.ValueOf(v))
		again, err := parse(wire(want))
		if err != nil {
			t.Fatal(err)
		}
		received, err := parse(wire(of(other)))
		if err != nil {
			t.Fatal(err)
		}
		set(received, v)
		built, twice, recycled := make(), of(other), of(v, nocopy.Recycle)
		set(built, v)
		set(twice, v)
		for name, got := range map[string]S{"of": of(v), "recycled": recycled, "set": built, "set twice": twice, "set in a received one": received} {
			if !messages.Equal(again, got) {
				t.Fatalf("%s: %T (-setters +fields):\n%s", name, v, cmp.Diff(again, got, nocopycmp.Transform()))
			}
			parsed, err := parse(wire(got))
			if err != nil {
				t.Fatalf("%s: %T: %v", name, v, err)
			}
			if !messages.Equal(again, parsed) {
				t.Fatalf("%s: %T: what is sent (-setters +fields):\n%s", name, v, cmp.Diff(again, parsed, nocopycmp.Transform()))
			}
		}
	}
}

// TestFields: messages made from plain values are the same as with setters.
func TestFields(t *testing.T) {
	r := rand.New(rand.NewPCG(testmode.Seed(t), 1))
	checkFields(t, r, shapes.NewRequiredFields, shapes.NewRequiredFieldsOf, shapes.RequiredFields.Set, shapes.ParseRequiredFields)
	checkFields(t, r, shapes.NewRequiredDefaults, shapes.NewRequiredDefaultsOf, shapes.RequiredDefaults.Set, shapes.ParseRequiredDefaults)
	checkFields(t, r, shapes.NewOptionalFields, shapes.NewOptionalFieldsOf, shapes.OptionalFields.Set, shapes.ParseOptionalFields)
	checkFields(t, r, shapes.NewOptionalDefaults, shapes.NewOptionalDefaultsOf, shapes.OptionalDefaults.Set, shapes.ParseOptionalDefaults)
	checkFields(t, r, shapes.NewPlainFields, shapes.NewPlainFieldsOf, shapes.PlainFields.Set, shapes.ParsePlainFields)
	checkFields(t, r, shapes.NewPlainDefaults, shapes.NewPlainDefaultsOf, shapes.PlainDefaults.Set, shapes.ParsePlainDefaults)
	checkFields(t, r, shapes.NewLists, shapes.NewListsOf, shapes.Lists.Set, shapes.ParseLists)
	checkFields(t, r, shapes.NewSets, shapes.NewSetsOf, shapes.Sets.Set, shapes.ParseSets)
	checkFields(t, r, shapes.NewMaps, shapes.NewMapsOf, shapes.Maps.Set, shapes.ParseMaps)
	checkFields(t, r, shapes.NewTree, shapes.NewTreeOf, shapes.Tree.Set, shapes.ParseTree)
	checkFields(t, r, shapes.NewChain, shapes.NewChainOf, shapes.Chain.Set, shapes.ParseChain)
	checkFields(t, r, shapes.NewDirectory, shapes.NewDirectoryOf, shapes.Directory.Set, shapes.ParseDirectory)
	checkFields(t, r, shapes.NewOddIDs, shapes.NewOddIDsOf, shapes.OddIDs.Set, shapes.ParseOddIDs)
	checkFields(t, r, shapes.NewOuter, shapes.NewOuterOf, shapes.Outer.Set, shapes.ParseOuter)
	checkFields(t, r, shapes.NewRefused, shapes.NewRefusedOf, shapes.Refused.Set, shapes.ParseRefused)
	checkFields(t, r, shapes.NewEmpty, shapes.NewEmptyOf, shapes.Empty.Set, shapes.ParseEmpty)
}

// TestFieldsOthers: fields without a plain value stay unchanged, but are present if they must be.
func TestFieldsOthers(t *testing.T) {
	s := shapes.NewRequiredDefaultsOf(shapes.DefaultRequiredDefaultsFields())
	if got := s.GetShape().GetRadius(); got != 1.5 {
		t.Errorf("a required union with a default has radius %v", got)
	}
	want := shapes.NewRequiredDefaults()
	want.Message().Finish()
	if diff := cmp.Diff(want, s, nocopycmp.Transform()); diff != "" {
		t.Errorf("(-setters +fields):\n%s", diff)
	}
	s.NewShape().SetLabel("set")
	s.Set(shapes.RequiredDefaultsFields{Text: "other"})
	if s.GetShape().GetLabel() != "set" || s.GetText() != "other" {
		t.Errorf("after Set: %v", s)
	}
	p := shapes.NewPlainDefaultsOf(shapes.DefaultPlainDefaultsFields())
	plain := shapes.NewPlainDefaults()
	plain.Message().Finish()
	if diff := cmp.Diff(plain, p, nocopycmp.Transform()); diff != "" {
		t.Errorf("(-setters +fields):\n%s", diff)
	}
}

// refused returns the plain values of n exceptions, some with large texts, others with nested
// structs.
func refused(n, large int) []shapes.RefusedFields {
	v := make([]shapes.RefusedFields, n)
	for i := range v {
		v[i] = shapes.RefusedFields{Reason: strings.Repeat("r", i%50), Code: int32(i)}
		if i%3 == 0 {
			v[i].Where = nocopy.Some(shapes.PointFields{X: int32(i), Y: 7})
		}
		if large > 0 && i%large == 0 {
			v[i].Reason = strings.Repeat("large", 1000+i%7)
		}
	}
	return v
}

// wantRefused returns a message with these exceptions, made by setters.
func wantRefused(v []shapes.RefusedFields) shapes.Lists {
	s := shapes.NewLists()
	l := s.NewRefusals(len(v))
	for i := range v {
		setEach(reflect.ValueOf(l.At(i)), reflect.ValueOf(v[i]))
	}
	return s
}

// TestRowsOverBlocks: lists that take several blocks, with texts that are referred to.
func TestRowsOverBlocks(t *testing.T) {
	for _, opts := range [][]nocopy.Option{nil, {nocopy.Recycle}} {
		for _, n := range []int{0, 1, 10, 2000, testmode.Of(30_000, 100_000)} {
			v := refused(n, 500)
			want := wantRefused(v)
			of, by := shapes.NewLists(opts...), shapes.NewLists(opts...)
			of.SetRefusalsOf(v)
			by.SetFlags([]bool{true}) // does not write the first field
			by.SetRefusalsBy(n, func(i int) shapes.RefusedFields { return v[i] })
			by.UnsetFlags()
			for _, got := range []shapes.Lists{of, by, shapes.NewListsOf(shapes.ListsFields{Refusals: v}, opts...)} {
				if !got.Equal(want) {
					t.Errorf("%d rows: not what setters make", n)
				}
				if n > 0 {
					got.GetRefusals().At(n - 1).SetReason("edited")
					got.GetRefusals().AppendNew().SetCode(-1)
				}
				if n > 0 && (got.GetRefusals().Len() != n+1 || got.GetRefusals().At(n-1).GetReason() != "edited" || got.GetRefusals().At(0).GetReason() != v[0].Reason) && n > 1 {
					t.Errorf("%d rows: edits are lost", n)
				}
				if _, err := shapes.ParseLists(got.Message().AppendTo(nil)); err != nil {
					t.Error(err)
				}
				got.Release()
			}
		}
	}
}

// TestRowsThatRelease: if a function releases the message, whose memory may hold another one by
// then, the setter panics like any other.
func TestRowsThatRelease(t *testing.T) {
	s := shapes.NewLists(nocopy.Recycle)
	var another shapes.Lists
	defer func() {
		if r := fmt.Sprint(recover()); !strings.HasPrefix(r, "nocopy: Lists used after") {
			t.Errorf("panic is %v", r)
		}
		if another.IsSetRefusals() || another.GetWords().At(0) != "another" {
			t.Errorf("the other message is %v", another)
		}
	}()
	s.SetRefusalsBy(2, func(i int) shapes.RefusedFields {
		if i == 0 {
			s.Release()
			another = shapes.NewLists(nocopy.Recycle)
			another.SetWords([]string{"another"})
		}
		return shapes.RefusedFields{Reason: strings.Repeat("long", 10_000)}
	})
}

// TestRowsInRows: a function may set another list by a function that panics, and continue
// afterwards.
func TestRowsInRows(t *testing.T) {
	v := refused(200, 10)
	for _, inner := range []int{1, 50, 20_000} {
		for _, opts := range [][]nocopy.Option{nil, {nocopy.Recycle}} {
			s := shapes.NewLists(opts...)
			s.SetWords([]string{"one"})
			s.SetRefusalsBy(len(v), func(i int) shapes.RefusedFields {
				if i == 20 {
					defer func() { recover() }()
					s.SetPointsBy(inner, func(i int) shapes.PointFields {
						if i == inner-1 {
							panic("enough")
						}
						return shapes.PointFields{X: 77, Y: 77}
					})
				}
				if i == 20 {
					t.Error("the inner function has not panicked")
				}
				return v[i]
			})
			v20 := v[20]
			v[20] = shapes.RefusedFields{} // the result of a function that has recovered
			if s.IsSetPoints() || s.GetWords().At(0) != "one" || !s.GetRefusals().Equal(wantRefused(v).GetRefusals()) {
				t.Errorf("inner %d, options %v: left is %v", inner, opts, s)
			}
			v[20] = v20
			s.SetRefusalsOf(v)
			if !s.GetRefusals().Equal(wantRefused(v).GetRefusals()) {
				t.Errorf("inner %d, options %v: afterwards another list", inner, opts)
			}
		}
	}
}

// TestRowsThatRead: a function may read the message, even the list that is being replaced, and
// build other messages.
func TestRowsThatRead(t *testing.T) {
	v := refused(40, 10)
	wire := wantRefused(v).Message().AppendTo(nil)
	for _, opts := range [][]nocopy.Option{nil, {nocopy.Recycle}, {nocopy.Lazy}, {nocopy.Own}} {
		s, err := shapes.ParseLists(bytes.Clone(wire), opts...)
		if err != nil {
			t.Fatal(err)
		}
		s.SetRefusalsBy(len(v), func(i int) shapes.RefusedFields {
			old := s.GetRefusals().At(len(v) - 1 - i)
			other := shapes.NewLists()
			other.SetRefusalsOf(v[:3])
			return shapes.RefusedFields{Reason: old.GetReason(), Code: old.GetCode() + int32(other.GetRefusals().Len())}
		})
		for i, x := range s.GetRefusals().All() {
			if old := v[len(v)-1-i]; x.GetReason() != old.Reason || x.GetCode() != old.Code+3 || x.IsSetWhere() {
				t.Fatalf("%v: element %d is %v", opts, i, x)
			}
		}
		if _, err := shapes.ParseLists(s.Message().AppendTo(nil)); err != nil {
			t.Error(err)
		}
	}
}

// TestRowsInUnions: setting a list of structs by a function sets the arm, even if another one is
// set. If the function panics, the other one stays.
func TestRowsInUnions(t *testing.T) {
	s := shapes.NewShape()
	s.SetLabel("before")
	func() {
		defer func() { recover() }()
		s.SetOutlineBy(3, func(i int) shapes.PointFields { panic("enough") })
	}()
	if s.Which() != shapes.Shape_Label || s.GetLabel() != "before" {
		t.Errorf("after a panic: %v", s)
	}
	s.SetOutlineOf([]shapes.PointFields{{X: 1}, {Y: 2}})
	if s.Which() != shapes.Shape_Outline || s.IsSetLabel() || s.GetOutline().At(1).GetY() != 2 {
		t.Errorf("outline: %v", s)
	}
}

// TestMisusedRows: arguments that setters refuse are refused here, too.
func TestMisusedRows(t *testing.T) {
	var zero shapes.Lists
	released := shapes.NewLists()
	released.Release()
	point := func(int) shapes.PointFields { return shapes.PointFields{} }
	for name, test := range map[string]struct {
		do   func()
		want string
	}{
		"zero handle":  {func() { zero.SetPointsOf(nil) }, "nocopy: "},
		"Set of zero":  {func() { zero.Set(shapes.ListsFields{}) }, "nocopy: "},
		"absent":       {func() { shapes.NewOuter().GetLists().SetPointsOf(nil) }, "nocopy: "},
		"Set absent":   {func() { shapes.NewOuter().GetLists().Set(shapes.ListsFields{}) }, "nocopy: "},
		"constant":     {func() { shapes.ORIGIN().Set(shapes.PointFields{}) }, "nocopy: "},
		"released":     {func() { released.SetPointsBy(1, point) }, "nocopy: Lists used after"},
		"Set released": {func() { released.Set(shapes.ListsFields{}) }, "nocopy: Lists used after"},
		"negative":     {func() { shapes.NewLists().SetPointsBy(-1, point) }, "nocopy: count -1 out of range"},
		"no function":  {func() { shapes.NewLists().SetPointsBy(0, nil) }, "nocopy: Lists.SetPointsBy: f is nil"},
		"too many":     {func() { shapes.NewLists().SetPointsBy(1<<31-1, point) }, "nocopy: count 2147483647 out of range"},
	} {
		func() {
			defer func() {
				if r := fmt.Sprint(recover()); !strings.HasPrefix(r, test.want) {
					t.Errorf("%s: panic is %s", name, r)
				}
			}()
			test.do()
		}()
	}
}

// TestRowsAgainAndAgain: replacing such lists again and again takes bounded memory.
func TestRowsAgainAndAgain(t *testing.T) {
	v := refused(50, 7)
	s := shapes.NewLists()
	outer := shapes.NewOuter()
	for range 3000 {
		s.SetRefusalsOf(v)
		s.SetPointsBy(20, func(i int) shapes.PointFields { return shapes.PointFields{X: int32(i)} })
		s.GetPoints().At(3).Set(shapes.PointFields{X: 5, Y: 5})
		outer.NewLists().Set(shapes.ListsFields{Refusals: v, Words: []string{"a", "b"}})
		outer.GetLists().Set(shapes.ListsFields{Refusals: v[:1], Words: []string{"c"}})
	}
	for _, m := range []*nocopy.Message{s.Message(), outer.Message()} {
		if n := m.Nodes(); n > 200_000 {
			t.Errorf("%d nodes", n)
		}
	}
	if s.GetRefusals().Len() != 50 || s.GetPoints().At(3).GetY() != 5 || outer.GetLists().GetWords().At(0) != "c" {
		t.Errorf("after many changes: %v, %v", s, outer)
	}
}

// TestNoAllocationsForRows: making whole structs allocates nothing.
func TestNoAllocationsForRows(t *testing.T) {
	v := refused(100, 0)
	large := strings.Repeat("large", 1000)
	words, unique, larges := []string{"one", "two", "three"}, []int32{7}, []int64{1, 2}
	pairs := []nocopy.Pair[string, string]{{Key: "k", Value: "v"}}
	numbers := []nocopy.Pair[string, int64]{{Key: "k", Value: 7}}
	for _, opts := range [][]nocopy.Option{nil, {nocopy.Recycle}} {
		for name, do := range map[string]func(){
			"of": func() {
				s := shapes.NewListsOf(shapes.ListsFields{Refusals: v, Words: words, Flags: []bool{true}}, opts...)
				s.Message().Finish()
				s.Release()
			},
			"optional": func() {
				s := shapes.NewOptionalFieldsOf(shapes.OptionalFieldsFields{Point: nocopy.Some(shapes.PointFields{X: 7}),
					Text: nocopy.Some("text"), Color: nocopy.Some(shapes.Color_RED), Counts: numbers, Words: words, Unique: unique}, opts...)
				s.Message().Finish()
				s.Release()
			},
			"SetBy": func() {
				s := shapes.NewLists(opts...)
				s.SetRefusalsBy(len(v), func(i int) shapes.RefusedFields { return v[i] })
				s.Message().Finish()
				s.Release()
			},
			"SetOf": func() {
				s := shapes.NewLists(opts...)
				s.SetRefusalsOf([]shapes.RefusedFields{{Reason: "one"}, {Reason: "two"}, v[3]})
				s.Message().Finish()
				s.Release()
			},
			"Set": func() {
				s := shapes.NewOuter(opts...)
				s.NewOrigin().Set(shapes.PointFields{X: 1, Y: 2})
				s.NewRefused().Set(shapes.RefusedFields{Reason: large})
				s.NewLists().Set(shapes.ListsFields{Texts: words, Larges: larges})
				s.Message().Finish()
				s.Release()
			},
			"maps": func() {
				s := shapes.NewMapsOf(shapes.MapsFields{ByTexts: pairs, ToLarges: numbers}, opts...)
				s.Message().Finish()
				s.Release()
			},
		} {
			do()
			if n := testing.AllocsPerRun(100, do); n != 0 && testmode.Unsafe && !testmode.Instrumented {
				t.Errorf("%s, options %v: %v allocations", name, opts, n)
			}
		}
	}
}

// TestFieldsAsText: plain values print like the struct, so that logs contain no redacted values.
func TestFieldsAsText(t *testing.T) {
	v := shapes.SecretsFields{Name: "n", Pin: "1234", Card: shapes.CardFields{Number: "5678"}}
	s := shapes.NewSecretsOf(v)
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("m", "v", v)
	for _, text := range []string{fmt.Sprint(v), fmt.Sprintf("%+v", v), fmt.Sprintf("%#v", v), fmt.Sprintf("%s", v), fmt.Sprint(v.Card), fmt.Sprint([]shapes.SecretsFields{v}), log.String()} {
		if strings.Contains(text, "1234") || strings.Contains(text, "5678") {
			t.Errorf("%s", text)
		}
	}
	if fmt.Sprint(v) != s.String() || !strings.Contains(log.String(), "v.name=n") {
		t.Errorf("%s is not %s; log: %s", v, s, log.String())
	}
}
