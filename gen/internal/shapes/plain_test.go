package shapes_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	impl "github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// plainValues has the methods of a pointer to plain values.
type plainValues[V any] interface {
	*V
	AppendTo(dst []byte) []byte
	Parse(b []byte, opts ...nocopy.Option) error
}

// plainType has functions for one type of plain values, for the tests below.
type plainType struct {
	name string
	// random returns a random value, its bytes, and those of a message with it
	random func(r *rand.Rand) (v any, appended, message []byte)
	// written returns the bytes of v, a pointer, and those of a message with its fields
	written func(v any) (appended, message []byte)
	// parse parses b into kept and returns the value
	parse func(b []byte, kept any, opts ...nocopy.Option) (v any, err error)
}

func plainOf[V any, P plainValues[V], S nocopy.StructView](newOf func(V, ...nocopy.Option) S) plainType {
	written := func(v any) (appended, message []byte) {
		m := nocopy.Struct(newOf(*v.(*V)))
		defer m.Release()
		return P(v.(*V)).AppendTo(nil), m.Message().AppendTo(nil)
	}
	return plainType{
		name: reflect.TypeFor[V]().Name(),
		random: func(r *rand.Rand) (any, []byte, []byte) {
			v := new(V)
			fillRandom(r, reflect.ValueOf(v).Elem(), 4)
			appended, message := written(v)
			return *v, appended, message
		},
		written: written,
		parse: func(b []byte, kept any, opts ...nocopy.Option) (any, error) {
			v, _ := kept.(*V)
			if v == nil {
				v = new(V)
			}
			err := P(v).Parse(b, opts...)
			return v, err
		},
	}
}

var plainTypes = []plainType{
	plainOf(shapes.NewPointOf), plainOf(shapes.NewRefusedOf), plainOf(shapes.NewEmptyOf), plainOf(shapes.NewRequiredFieldsOf),
	plainOf(shapes.NewRequiredDefaultsOf), plainOf(shapes.NewOptionalFieldsOf), plainOf(shapes.NewOptionalDefaultsOf),
	plainOf(shapes.NewPlainFieldsOf), plainOf(shapes.NewPlainDefaultsOf), plainOf(shapes.NewListsOf), plainOf(shapes.NewSetsOf),
	plainOf(shapes.NewMapsOf), plainOf(shapes.NewTreeOf), plainOf(shapes.NewChainOf), plainOf(shapes.NewDirectoryOf),
	plainOf(shapes.NewOddIDsOf), plainOf(shapes.NewOddNamesOf), plainOf(shapes.NewOuterOf), plainOf(shapes.NewCardOf),
	plainOf(shapes.NewSecretsOf), plainOf(shapes.NewRejectedOf), plainOf(shapes.NewNotedOf), plainOf(shapes.NewRowsOf),
}

// fillRandom sets v and everything in it to random values. Pointers deeper than depth are nil.
func fillRandom(r *rand.Rand, v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.Uint64()) >> r.IntN(64))
	case reflect.Float64:
		v.SetFloat([]float64{0, math.Copysign(0, -1), 1.5, math.Inf(1), r.Float64()}[r.IntN(5)])
	case reflect.String:
		n := modelLengths[r.IntN(len(modelLengths))]
		if n > 100 && r.IntN(8) > 0 {
			n %= 50
		}
		v.SetString(strings.Repeat(string(rune('a'+r.IntN(26))), n))
	case reflect.Array:
		for i := range v.Len() {
			v.Index(i).SetUint(r.Uint64() & 255)
		}
	case reflect.Uint8:
		v.SetUint(r.Uint64() & 255)
	case reflect.Slice:
		if depth <= 0 || r.IntN(3) == 0 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), []int{0, 1, 2, 7, 9, 40}[r.IntN(6)], 40))
		for i := range v.Len() {
			fillRandom(r, v.Index(i), depth-2)
		}
		if v.Len() > 0 && v.Type().Elem().Kind() == reflect.Struct && v.Type().Elem().NumField() == 2 && r.IntN(20) > 0 {
			distinctPairs(v)
		}
	case reflect.Pointer:
		if depth > 0 && r.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fillRandom(r, v.Elem(), depth-1)
		}
	case reflect.Struct:
		if set := v.FieldByName("Set"); set.IsValid() && v.NumField() == 2 && set.Kind() == reflect.Bool {
			if r.IntN(2) == 0 {
				set.SetBool(true)
				fillRandom(r, v.FieldByName("Value"), depth)
			}
			return
		}
		for i := range v.NumField() {
			fillRandom(r, v.Field(i), depth)
		}
	default:
		panic(v.Kind())
	}
}

// distinctPairs removes pairs from v whose key an earlier pair has.
func distinctPairs(v reflect.Value) {
	seen := map[string]bool{}
	n := 0
	for i := range v.Len() {
		key := v.Index(i).FieldByName("Key")
		if !key.IsValid() {
			return
		}
		if k := fmt.Sprint(key); !seen[k] {
			seen[k] = true
			v.Index(n).Set(v.Index(i))
			n++
		}
	}
	v.SetLen(n)
}

// TestPlainAppend: AppendTo writes the bytes that a message with the same values sends. Parse
// reads them again, even into used values, and also reads the bytes that the message sends.
func TestPlainAppend(t *testing.T) {
	r := rand.New(rand.NewPCG(testmode.Seed(t), 2))
	for _, typ := range plainTypes {
		t.Run(typ.name, func(t *testing.T) {
			var kept any
			for range testmode.Of(60, 150) {
				v, appended, message := typ.random(r)
				want, err := typ.parse(message, nil, nocopy.Limits{})
				if err != nil {
					t.Fatal(err)
				}
				for _, b := range [][]byte{appended, message} {
					got, err := typ.parse(b, nil)
					if err != nil {
						t.Fatalf("%v\nof %.500s\n%.2000s", err, fmt.Sprint(v), hex.Dump(b))
					}
					if d := cmp.Diff(want, got); d != "" {
						t.Fatalf("-message +bytes\n%.2000s", d)
					}
					if kept, err = typ.parse(b, kept); err != nil {
						t.Fatal(err)
					}
					if d := cmp.Diff(want, kept); d != "" {
						t.Fatalf("used before: %s", d)
					}
				}
			}
		})
	}
}

// TestPlainAgainstMessage: for any bytes, Parse gives the same values and errors as a message.
// With Limits, here the default ones, it always makes a message.
func TestPlainAgainstMessage(t *testing.T) {
	r := rand.New(rand.NewPCG(testmode.Seed(t), 4))
	for _, typ := range plainTypes {
		t.Run(typ.name, func(t *testing.T) {
			var kept any
			for range testmode.Of(300, 800) {
				_, b, _ := typ.random(r)
				b = spoilt(r, b[:min(len(b), 5000)])
				kept = comparePlain(t, typ, b, kept)
			}
		})
	}
}

// TestPlainUsual: Parse needs no message for bytes of AppendTo, unless a key comes twice.
func TestPlainUsual(t *testing.T) {
	lists := shapes.ListsFields{Points: []shapes.PointFields{{}, {X: 1}}, Texts: []string{"a", ""}, Flags: []bool{true}, Keys: []nocopy.UUID{{1}}}
	b := lists.AppendTo(nil)
	var r impl.Reader
	if new(shapes.ListsFields).ThriftRead(&r, r.Read(b, nil)) != len(b) {
		t.Error("lists need a message")
	}
	type pair = nocopy.Pair[string, string]
	for _, n := range []int{0, 1, 2, 8, 9, 100, 1000} {
		m := shapes.MapsFields{ByTexts: make([]pair, n)}
		for i := range m.ByTexts {
			m.ByTexts[i].Key = fmt.Sprint(i)
		}
		for _, twice := range []bool{false, true} {
			if twice && n < 2 {
				continue
			}
			if twice {
				m.ByTexts[n-1].Key = m.ByTexts[n/2-1].Key
			}
			b := m.AppendTo(nil)
			var r impl.Reader
			if usual := new(shapes.MapsFields).ThriftRead(&r, r.Read(b, nil)) == len(b); usual == twice {
				t.Errorf("%d pairs, a key twice: %v: read without a message: %v", n, twice, usual)
			}
			if got, err := shapes.ParseMapsFields(b); err != nil || twice && len(got.ByTexts) != n-1 || !twice && len(got.ByTexts) != n {
				t.Errorf("%d pairs, a key twice: %v: %d, %v", n, twice, len(got.ByTexts), err)
			}
		}
	}
}

// TestPlainBy: functions take the elements of lists after all bytes were checked.
func TestPlainBy(t *testing.T) {
	in := shapes.ListsFields{Texts: []string{"a"}, Points: []shapes.PointFields{{X: 1}, {Y: 2}, {X: 3}}, Refusals: []shapes.RefusedFields{{Code: 4}, {Where: nocopy.Some(shapes.PointFields{X: 5})}, {}}}
	usual := in.AppendTo(nil)
	// An i32 that no IDL knows
	unknown := append(bytes.Clone(usual[:len(usual)-1]), 8, 0x77, 0x77, 0, 0, 0, 1, 0)
	for name, b := range map[string][]byte{"usual": usual, "unknown field": unknown} {
		var v shapes.ListsFields
		var got []shapes.RefusedFields
		by := shapes.ListsBy{Refusals: func(i int, r *shapes.RefusedFields) error {
			if i != len(got) {
				t.Errorf("%s: element %d comes as the one of number %d", name, len(got), i)
			}
			got = append(got, *r)
			return nil
		}}
		if err := shapes.ParseListsBy(&v, by, b); err != nil {
			t.Fatal(err)
		}
		want := in
		want.Refusals = nil
		if d := cmp.Diff(want, v) + cmp.Diff(in.Refusals, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		stop, n := errors.New("stop"), 0
		by.Refusals = func(i int, _ *shapes.RefusedFields) error {
			if n++; i == 1 {
				return stop
			}
			return nil
		}
		if err := shapes.ParseListsBy(&v, by, b); err != stop || n != 2 {
			t.Errorf("%s: %d elements, %v", name, n, err)
		}
		n = 0
		for cut := range b {
			if err := shapes.ParseListsBy(&v, by, b[:cut]); err == nil || n != 0 {
				t.Fatalf("%s cut at %d: %d elements, %v", name, cut, n, err)
			}
		}
		if err := shapes.ParseListsBy(&v, shapes.ListsBy{}, b); err != nil || cmp.Diff(in, v) != "" {
			t.Errorf("%s, no function: %v", name, err)
		}
	}
}

// comparePlain compares the two ways of parsing b. It returns the value to be used the next time.
func comparePlain(t *testing.T, typ plainType, b []byte, kept any) any {
	t.Helper()
	want, wantErr := typ.parse(b, nil, nocopy.Limits{})
	got, err := typ.parse(b, kept)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Fatalf("%v, a message: %v\n%.2000s", err, wantErr, hex.Dump(b))
	}
	if d := cmp.Diff(want, got, cmpopts.EquateNaNs()); d != "" {
		t.Fatalf("-message +bytes\n%.2000s\n%.2000s", d, hex.Dump(b))
	}
	return got
}

// spoilt changes, removes or repeats a few bytes of b.
func spoilt(r *rand.Rand, b []byte) []byte {
	b = bytes.Clone(b)
	for range r.IntN(3) {
		if len(b) == 0 {
			break
		}
		i := r.IntN(len(b))
		switch n := min(r.IntN(16), len(b)-i); r.IntN(4) {
		case 0:
			b[i] = byte(r.Uint32())
		case 1:
			b[i] ^= 1 << r.IntN(8)
		case 2:
			b = append(b[:i], b[i+n:]...)
		case 3:
			b = append(b[:i+n:i+n], b[i:]...)
		}
	}
	return b
}

// FuzzPlain is TestPlainAgainstMessage with the fuzzer's bytes. What they hold is then written,
// with and without a message, and both read as the same values again.
func FuzzPlain(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	for i, typ := range plainTypes {
		for range 3 {
			_, b, _ := typ.random(r)
			f.Add(uint8(i), b[:min(len(b), 4000)])
		}
	}
	f.Fuzz(func(t *testing.T, i uint8, b []byte) {
		typ := plainTypes[int(i)%len(plainTypes)]
		appended, message := typ.written(comparePlain(t, typ, b, nil))
		if d := cmp.Diff(comparePlain(t, typ, message, nil), comparePlain(t, typ, appended, nil), cmpopts.EquateNaNs()); d != "" {
			t.Fatalf("-message +bytes\n%.2000s\n%.2000s", d, hex.Dump(b))
		}
	})
}

// TestPlainDepth: values may be nested as deeply as in a message.
func TestPlainDepth(t *testing.T) {
	v := &shapes.ChainFields{}
	for n := 1; n < 70; n++ {
		b := v.AppendTo(nil)
		_, want := shapes.ParseChain(b)
		_, err := shapes.ParseChainFields(b)
		if fmt.Sprint(err) != fmt.Sprint(want) {
			t.Errorf("%d levels: %v, a message: %v", n, err, want)
		}
		v = &shapes.ChainFields{Next: v}
	}
	loop := &shapes.ChainFields{}
	loop.Next = loop
	defer func() {
		if s, _ := recover().(string); !strings.HasPrefix(s, "nocopy: values that contain themselves") {
			t.Error(s)
		}
	}()
	loop.AppendTo(nil)
}

// TestPlainAllocations: parsing into kept values allocates only the first time.
func TestPlainAllocations(t *testing.T) {
	v := shapes.ListsFields{Points: []shapes.PointFields{{X: 1}, {X: 2}}, Texts: []string{"a", "bb"}, Blobs: [][]byte{{1}}}
	var kept shapes.ListsFields
	buf := make([]byte, 0, 4096)
	n := testing.AllocsPerRun(100, func() {
		buf = v.AppendTo(buf[:0])
		if err := kept.Parse(buf); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 && testmode.Unsafe && !testmode.Instrumented {
		t.Errorf("%v allocations", n)
	}
}
