// Package valuerules_test compares package valuerules with generated Validate methods.
package valuerules_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/internal/rules"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/internal/valuerules"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
	"github.com/nocopythrift/nocopythrift/nocopy/validate"
)

type validator interface{ Validate() error }

// parse returns the functions that parse messages of generated types with rules.
func parse[S validator](f func([]byte, ...nocopy.Option) (S, error)) func([]byte) (validator, error) {
	return func(b []byte) (validator, error) { return f(b) }
}

var types = map[string]func([]byte) (validator, error){
	"Numbers": parse(rules.ParseNumbers), "Texts": parse(rules.ParseTexts), "Enums": parse(rules.ParseEnums), "Item": parse(rules.ParseItem),
	"Containers": parse(rules.ParseContainers), "Order": parse(rules.ParseOrder), "Choice": parse(rules.ParseChoice), "Failed": parse(rules.ParseFailed),
	"References": parse(rules.ParseReferences), "Asserted": parse(rules.ParseAsserted), "Exact": parse(rules.ParseExact), "Twice": parse(rules.ParseTwice),
	"Secrets": parse(rules.ParseSecrets), "Pin": parse(rules.ParsePin),
}

// maker makes up values that are near the bounds of rules.
type maker struct {
	*rand.Rand
	rules *valuerules.Rules
}

func pick[T any](m maker, list ...T) T { return list[m.IntN(len(list))] }

// value makes up a value.
func (m maker) value(t descriptor.Type, depth int) any {
	switch {
	case t.Struct().Valid():
		if depth > 2 {
			return nil
		}
		return m.structure(dynamic.Type{Struct: t.Struct()}, depth+1)
	case t.Enum().Valid():
		return m.IntN(5)
	}
	switch t.WireType() {
	case nocopy.WireBool:
		return m.IntN(2) == 0
	case nocopy.WireI8:
		return m.IntN(20) - 5
	case nocopy.WireI16, nocopy.WireI32:
		return pick(m, m.IntN(25)-12, 100, 399, 400, 1234)
	case nocopy.WireI64:
		return pick(m, int64(m.IntN(10)-2), math.MaxInt64, 1<<53+1, 1<<53)
	case nocopy.WireDouble:
		return pick(m, 0, 0.25, 0.5, 1.5, 1000, 1001, math.NaN(), math.Inf(1), 1<<53, float64(m.IntN(5)))
	case nocopy.WireUUID:
		return nocopy.UUID{1}
	case nocopy.WireList, nocopy.WireSet:
		list := []any{}
		for i := range m.IntN(4) {
			if e := m.value(t.Elem(), depth); e != nil && (t.WireType() == nocopy.WireList || i == 0) {
				list = append(list, e)
			}
		}
		return list
	case nocopy.WireMap:
		pairs := []reflection.Pair{}
		for range m.IntN(4) {
			key, e := m.value(t.Key(), depth), m.value(t.Elem(), depth)
			if key != nil && e != nil {
				pairs = append(pairs, reflection.Pair{Key: key, Value: e})
			}
		}
		return pairs
	}
	middle := strings.Repeat("0123456789", 4)
	return pick(m, "", "a", "b", "x\"y", "bb", "cc", "cç", "é", "éééé", "abc1", "abmmyz", "!", "@x", "k", "mm", "ab"+middle+"yz", "ab"+middle+"!yz", "t1", "x || y", "z", "12-a!%")
}

// structure makes up a struct. Mostly its fields obey their own rules, so that those after them
// decide, too.
func (m maker) structure(t dynamic.Type, depth int) map[string]any {
	fields := map[string]any{}
	for f := range t.Fields() {
		if m.IntN(8) == 0 && f.Requiredness() != descriptor.Required {
			continue
		}
		careful := m.IntN(10) > 0
		for range 12 {
			v := m.value(f.Type(), depth)
			if v == nil {
				break
			}
			fields[f.Name()] = v
			if !careful || !m.breaks(t, fields, f.Name()) {
				break
			}
		}
		if fields[f.Name()] != nil && t.Shape() == descriptor.ShapeUnion {
			break
		}
	}
	return fields
}

// breaks reports whether a field breaks a rule.
func (m maker) breaks(t dynamic.Type, fields map[string]any, name string) (broken bool) {
	msg, err := t.FromMap(fields)
	if err != nil {
		return true
	}
	defer msg.Release()
	m.rules.Check(msg, func(v valuerules.Violation) { broken = broken || strings.HasPrefix(v.Path, name) })
	return broken
}

var (
	index  = regexp.MustCompile(`\[("[^"]*"…?|[^\]]*)\]`)
	noName = regexp.MustCompile(`^\w+\((-?\d+)\)$`) // an enum's value
)

// TestAsGenerated: for any message, the first violation that Check reports is the error of the
// generated method.
func TestAsGenerated(t *testing.T) {
	s, err := dynamic.Load("../../rules/rules.thrift")
	if err != nil {
		t.Fatal(err)
	}
	rounds := 200
	if testmode.Long {
		rounds = 1000
	}
	for name, parse := range types {
		typ, err := s.Struct(name)
		if err != nil {
			t.Fatal(err)
		}
		read, errs := valuerules.New(typ.Struct)
		if len(errs) > 0 {
			t.Errorf("%s: %v", name, errs)
		}
		m := maker{rand.New(rand.NewPCG(1, 2)), read}
		valid, texts := 0, map[string]bool{}
		for range rounds {
			msg, err := typ.FromMap(m.structure(typ, 0))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			wire := msg.AppendTo(nil)
			msg.Release()
			if msg, err = typ.Parse(wire); err != nil { // as it comes from outside
				t.Fatalf("%s: %v", name, err)
			}
			made, err := parse(wire)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			var want *validate.Error
			err = made.Validate()
			errors.As(err, &want)
			var have []valuerules.Violation
			if !read.Check(msg, func(v valuerules.Violation) { have = append(have, v) }) {
				t.Errorf("%s: the check of %v is not complete", name, msg)
			}
			switch {
			case want == nil && len(have) == 0:
				valid++
			case want == nil || len(have) == 0:
				t.Fatalf("%s of %v\nhave %v\nwant %v", name, msg, have, err)
			case have[0].Path != index.ReplaceAllString(want.Path, "[*]") || strings.TrimPrefix(have[0].Got, "size ") != noName.ReplaceAllString(want.Got, "$1"):
				t.Errorf("%s of %v\nhave %q\nwant %v", name, msg, have[0], err)
			default:
				texts[have[0].Path+have[0].Rule] = true
			}
		}
		hardly := slices.Contains([]string{"References", "Exact"}, name)
		if valid == 0 && !hardly || len(texts) < 2 && !slices.Contains([]string{"Failed", "Pin", "Choice"}, name) {
			t.Errorf("%s: %d of %d messages are valid, the others break %v", name, valid, rounds, texts)
		}
	}
}
