package valuerules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/valuerules"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
)

// load returns the struct S of an IDL, its rules, and the errors about these.
func load(t *testing.T, text string) (dynamic.Type, *valuerules.Rules, []error) {
	t.Helper()
	s, err := dynamic.LoadText(map[string]string{"a.thrift": text})
	if err != nil {
		t.Fatal(err)
	}
	typ, err := s.Struct("S")
	if err != nil {
		t.Fatal(err)
	}
	r, errs := valuerules.New(typ.Struct)
	return typ, r, errs
}

// TestNotChecked: rules that mean nothing, or are too large, are left out, and there is an error.
// Other rules are checked.
func TestNotChecked(t *testing.T) {
	for _, c := range [][2]string{
		{"i32 x (vt.min_size = '1')", "vt.min_size: there is no such rule for this type"}, {"i32 x (vt.lt = 'y')", "invalid syntax"}, {"i32 x (vt.lt)", ""},
		{"i32 x (vt = '1')", "no such rule"}, {"i32 x (vt.elem.lt = '1')", "no such rule"}, {"list<i32> x (vt.elem = '1')", "no such rule"},
		{"bool x (vt.lt = '1')", "no such rule"}, {"bool x (vt.const = '$a')", "can't be compared with $a"}, {"string x (vt.pattern = '(')", "missing closing )"},
		{"i32 x (vt.lt = '$none')", "has no field \"none\""}, {"i32 x (vt.lt = '$l')", "can't be compared"}, {"i32 x (vt.lt = '@len($a)')", "has no length"},
		{"string x (vt.const = '@sprintf($t)')", "a text in quotes"}, {"string x (vt.const = '@sprintf(\"%999999d\", $a)')", "does not fit"},
		{"string x (vt.min_size = '$d')", "is not an integer"}, {"S x (vt.const = '1')", "no such rule"}, {"i32 x (vt.not_nil = 'x')", "invalid syntax"},
		{"i32 x (vt.in = '" + strings.Repeat("1", 5000) + "')", "more than 4096 bytes"}, {"string x (vt.pattern = '" + strings.Repeat("(x{1000})", 11) + "')", "too large"},
		{"i32 x (vt.lt = '9'" + strings.Repeat(", vt.lt = '9'", 1000) + ")", "too many rules"},
	} {
		typ, r, errs := load(t, "struct S { 1: i32 a (vt.gt = '0'), 2: list<i32> l, 3: string t, 4: double d, 9: "+c[0]+" }")
		if c[1] != "" && (len(errs) != 1 || !strings.Contains(errs[0].Error(), c[1]) || !strings.HasPrefix(errs[0].Error(), "S.x: ")) {
			t.Errorf("%.100s: %.300v", c[0], errs)
		}
		msg := typ.New()
		var found []valuerules.Violation
		if complete := r.Check(msg, func(v valuerules.Violation) { found = append(found, v) }); !complete || len(found) == 0 || found[0] != (valuerules.Violation{Path: "a", Rule: `vt.gt = "0"`, Got: "0"}) {
			t.Errorf("%.100s: %v", c[0], found)
		}
	}
	_, _, errs := load(t, "struct S { 1: i32 a } (vt.assert = '@add($a, 1)', vt.other = '1')")
	if len(errs) != 2 || !strings.Contains(errs[0].Error(), "S: vt.assert: it is not true or false") {
		t.Error(errs)
	}
	var many strings.Builder
	for i := range 500 {
		fmt.Fprintf(&many, "%d: i32 f%d (vt.min_size = '1') ", i+1, i)
	}
	if _, _, errs := load(t, "struct S { "+many.String()+" }"); len(errs) != 100 {
		t.Errorf("%d errors", len(errs))
	}
}

// TestBounded: rules of an IDL, and messages, that would take very long or much memory end the
// check, which reports nothing that was not found.
func TestBounded(t *testing.T) {
	long := strings.Repeat("x", 4<<20)
	pattern := strings.Repeat("(x+x+)+", 200) + "y"
	for _, c := range []struct {
		field    string
		value    any
		complete bool
	}{
		{"string x (vt.pattern = '" + pattern + "')", long, false},
		{"string x (vt.pattern = '^x*$')", long, true},
		{"string x (vt.const = '" + strings.Repeat("@add($x, ", 10) + "$x" + strings.Repeat(")", 10) + "')", long[:1<<19], false},
		{"string x (vt.const = '@sprintf(\"" + strings.Repeat("%s", 300) + "\"" + strings.Repeat(", $x", 300) + ")')", long[:1<<19], false},
		{"list<string> x (vt.elem.pattern = '" + pattern + "')", []string{long[:1000] + "y", long}, false},
		{"list<i32> x (vt.elem.lt = '1')", make([]int32, 1000), true},
	} {
		typ, r, errs := load(t, "struct S { 1: "+c.field+" }")
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		msg, err := typ.FromMap(map[string]any{"x": c.value})
		if err != nil {
			t.Fatal(err)
		}
		if complete := r.Check(msg, func(v valuerules.Violation) { t.Errorf("%.100s: %v", c.field, v) }); complete != c.complete {
			t.Errorf("%.100s: complete is %v", c.field, complete)
		}
	}
}
