package shapes_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// byType has functions for one type whose lists of structs functions can take, for the tests
// below.
type byType struct {
	plainType
	message func(b []byte, opts ...nocopy.Option) error // ParseX
	// parseBy is ParseXBy, with functions for the lists among take. Their elements are put into the
	// lists again.
	parseBy func(b []byte, take func(list string) bool, opts ...nocopy.Option) (v any, err error)
	lists   []string
}

func byOf[V, By any, P plainValues[V], S nocopy.StructView](newOf func(V, ...nocopy.Option) S, parse func([]byte, ...nocopy.Option) (S, error),
	parseBy func(P, By, []byte, ...nocopy.Option) error) byType {
	by := byType{plainType: plainOf[V, P](newOf)}
	by.message = func(b []byte, opts ...nocopy.Option) error {
		s, err := parse(b, opts...)
		nocopy.Struct(s).Release()
		return err
	}
	for f := range reflect.TypeFor[By]().Fields() {
		by.lists = append(by.lists, f.Name)
	}
	by.parseBy = func(b []byte, take func(string) bool, opts ...nocopy.Option) (any, error) {
		v, lists := new(V), map[string]reflect.Value{}
		var functions By
		for _, name := range by.lists {
			if !take(name) {
				continue
			}
			list := reflect.New(reflect.ValueOf(v).Elem().FieldByName(name).Type()).Elem()
			lists[name] = list
			f := reflect.ValueOf(&functions).Elem().FieldByName(name)
			f.Set(reflect.MakeFunc(f.Type(), func(args []reflect.Value) []reflect.Value {
				if int(args[0].Int()) != list.Len() {
					panic(fmt.Sprintf("element %v of %s after %d", args[0], name, list.Len()))
				}
				list.Set(reflect.Append(list, copied(args[1].Elem())))
				return []reflect.Value{reflect.Zero(f.Type().Out(0))}
			}))
		}
		err := parseBy(v, functions, b, opts...)
		for name, list := range lists {
			f := reflect.ValueOf(v).Elem().FieldByName(name)
			if !f.IsNil() {
				panic(name + " was set, although a function takes its elements")
			}
			f.Set(list)
		}
		return v, err
	}
	return by
}

// copied returns a copy of v, which shares no slice or pointer with it.
func copied(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			c.Field(i).Set(copied(v.Field(i)))
		}
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		c = reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			c.Index(i).Set(copied(v.Index(i)))
		}
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		c = reflect.New(v.Type().Elem())
		c.Elem().Set(copied(v.Elem()))
	default:
		return v
	}
	return c
}

// byTypes has all types with a ParseXBy.
var byTypes = []byType{
	byOf(shapes.NewRequiredFieldsOf, shapes.ParseRequiredFields, shapes.ParseRequiredFieldsBy),
	byOf(shapes.NewRequiredDefaultsOf, shapes.ParseRequiredDefaults, shapes.ParseRequiredDefaultsBy),
	byOf(shapes.NewOptionalFieldsOf, shapes.ParseOptionalFields, shapes.ParseOptionalFieldsBy),
	byOf(shapes.NewOptionalDefaultsOf, shapes.ParseOptionalDefaults, shapes.ParseOptionalDefaultsBy),
	byOf(shapes.NewPlainFieldsOf, shapes.ParsePlainFields, shapes.ParsePlainFieldsBy),
	byOf(shapes.NewPlainDefaultsOf, shapes.ParsePlainDefaults, shapes.ParsePlainDefaultsBy),
	byOf(shapes.NewListsOf, shapes.ParseLists, shapes.ParseListsBy),
	byOf(shapes.NewTreeOf, shapes.ParseTree, shapes.ParseTreeBy),
	byOf(shapes.NewRowsOf, shapes.ParseRows, shapes.ParseRowsBy),
	byOf(shapes.NewSecretsOf, shapes.ParseSecrets, shapes.ParseSecretsBy),
}

// TestPlainByAgainstParse: for any bytes, ParseXBy gives the same values and errors as Parse, and
// refuses what ParseX refuses, with functions for all lists, for some and for none.
func TestPlainByAgainstParse(t *testing.T) {
	r := rand.New(rand.NewPCG(testmode.Seed(t), 9))
	for _, typ := range byTypes {
		t.Run(typ.name, func(t *testing.T) {
			for range testmode.Of(100, 250) {
				_, b, message := typ.random(r)
				if r.IntN(2) == 0 {
					b = message
				}
				b = spoilt(r, b[:min(len(b), 5000)])
				for _, opts := range [][]nocopy.Option{nil, {nocopy.Limits{}}} {
					compareBy(t, typ, b, opts)
				}
			}
		})
	}
}

// compareBy compares ParseXBy of b with Parse and ParseX.
func compareBy(t *testing.T, typ byType, b []byte, opts []nocopy.Option) {
	t.Helper()
	want, wantErr := typ.parse(b, nil, opts...)
	if err := typ.message(b, opts...); fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Fatalf("Parse: %v, ParseX: %v\n%.2000s", wantErr, err, hex.Dump(b))
	}
	for taken := range 1 << len(typ.lists) {
		take := func(name string) bool { return taken&(1<<slices.Index(typ.lists, name)) != 0 }
		got, err := typ.parseBy(b, take, opts...)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("functions %b of %v: %v, Parse: %v\n%.2000s", taken, typ.lists, err, wantErr, hex.Dump(b))
		}
		// No function tells an empty list from an absent one
		same := cmp.Options{cmpopts.EquateNaNs()}
		if taken != 0 {
			same = append(same, cmpopts.EquateEmpty())
		}
		if d := cmp.Diff(want, got, same); err == nil && d != "" {
			t.Fatalf("functions %b of %v: -Parse +ParseBy\n%.2000s\n%.2000s", taken, typ.lists, d, hex.Dump(b))
		}
	}
}

// TestPlainByFields: each field of a struct is left out, comes twice, or is of another type, and
// containers have elements of another type. ParseXBy gives the values and errors of Parse.
func TestPlainByFields(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	for _, typ := range byTypes {
		for range testmode.Of(2, 3) {
			_, appended, message := typ.random(r)
			for _, b := range [][]byte{appended, message} {
				for _, at := range fieldsIn(t, b) {
					compareBy(t, typ, slices.Concat(b[:at[0]], b[at[1]:]), nil)
					compareBy(t, typ, slices.Concat(b[:at[1]], b[at[0]:]), nil)
					for _, i := range []int{0, 3} { // the field's type, and that of its elements
						other := bytes.Clone(b)
						other[at[0]+i] ^= 4
						compareBy(t, typ, other, nil)
					}
				}
			}
		}
	}
}

// fieldsIn returns the places of the fields of a struct, headers included.
func fieldsIn(t *testing.T, b []byte) (fields [][2]int) {
	t.Helper()
	left := &thrift.TMemoryBuffer{Buffer: bytes.NewBuffer(b)}
	p := thrift.NewTBinaryProtocolConf(left, nil)
	for {
		start := len(b) - left.Len()
		_, typ, _, err := p.ReadFieldBegin(t.Context())
		if err == nil && typ == thrift.STOP {
			return fields
		}
		if err = errors.Join(err, p.Skip(t.Context(), typ)); err != nil {
			t.Fatal(err)
		}
		fields = append(fields, [2]int{start, len(b) - left.Len()})
	}
}

// TestPlainByDepth: elements may be nested as deeply as in Parse.
func TestPlainByDepth(t *testing.T) {
	var v shapes.TreeFields
	for n := range 70 {
		b := v.AppendTo(nil)
		var got shapes.TreeFields
		want := got.Parse(b)
		for name, by := range map[string]shapes.TreeBy{"none": {}, "one": {Children: func(int, *shapes.TreeFields) error { return nil }}} {
			if err := shapes.ParseTreeBy(&got, by, b); fmt.Sprint(err) != fmt.Sprint(want) {
				t.Errorf("%d levels, functions: %s: %v, Parse: %v", n, name, err, want)
			}
		}
		v = shapes.TreeFields{Children: []shapes.TreeFields{v, {}}}
	}
}
