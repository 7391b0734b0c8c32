package engine

import (
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// TestSettersOfConstants: whatever is set in a constant, it stays as it is.
func TestSettersOfConstants(t *testing.T) {
	holdsGigabytes(t)
	wire := string(newAtomic().m.AppendTo(nil))
	s := NewConst(schema.StructOf(atomicDesc), wire).view
	setters := atomicSetters()
	for _, name := range []string{"a", "t", "l", "u"} {
		setters = append(setters, atomicSetter{"good value of " + name, func(s Struct, _ func(string) Struct) {
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
