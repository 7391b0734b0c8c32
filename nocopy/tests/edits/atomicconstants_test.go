package edits_test

import (
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// TestSettersOfConstants: no setter changes a constant.
func TestSettersOfConstants(t *testing.T) {
	holdsGigabytes(t)
	wire := string(newAtomic().Message().AppendTo(nil))
	s := engine.NewConst(schema.StructOf(atomicDesc), wire).View()
	setters := atomicSetters()
	for _, name := range []string{"a", "t", "l", "u"} {
		setters = append(setters, atomicSetter{"good value of " + name, func(s engine.Struct, _ func(string) engine.Struct) {
			f := atomicField(name)
			s.SetValue(f, atomicDesc, newAtomic().Value(f, atomicDesc))
		}})
	}
	for _, x := range setters {
		if !x.refuses(t, "constant", s) {
			t.Errorf("%s: no panic", x.name)
		}
		if string(s.AppendStruct(nil, atomicDesc)) != wire {
			t.Fatalf("%s has changed a constant", x.name)
		}
	}
}
