package parse_test

import (
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// TestOddBools: a bool byte that is neither 0 nor 1 is true, as a field, element, key or value. It
// is sent unchanged. As a key it equals the key true.
func TestOddBools(t *testing.T) {
	wire := []byte("\x02\x00\x01\xff" +
		"\x0f\x00\x19\x02\x00\x00\x00\x03\x02\x00\x80" +
		"\x0d\x00\x22\x02\x02\x00\x00\x00\x03\x07\x00\x00\x05\x01\x03\x00")
	for _, w := range ways(len(wire)) {
		t.Run(w.Name, func(t *testing.T) {
			s, err := w.Parse(allDesc, wire)
			if err != nil {
				t.Fatalf("%s: %v", w.Name, err)
			}
			if !s.Bool(fieldNamed(allDesc, "flag")) {
				t.Errorf("%s: the field is false", w.Name)
			}
			l := nocopy.BoolList(s.Child(fieldNamed(allDesc, "flags"), allDesc))
			if !l.At(0) || l.At(1) || !l.At(2) || !l.Contains(true) || !l.Contains(false) {
				t.Errorf("%s: the list is %v", w.Name, l.AppendTo(nil))
			}
			m := nocopy.Map[bool, bool, thriftimpl.AsBool, thriftimpl.AsBool](s.Child(fieldNamed(allDesc, "pairs"), allDesc))
			yes, ok := m.Get(true)
			no, okNo := m.Get(false)
			if !ok || !okNo || !yes || !no || m.Len() != 2 { // the keys 7 and 1 are equal: the last counts
				t.Errorf("%s: %d keys, true: %v %v, false: %v %v", w.Name, m.Len(), yes, ok, no, okNo)
			}
			checkOutput(t, w.Name, nocopy.Struct(s).Message(), wire)
			if !m.Delete(true) || m.Len() != 1 {
				t.Errorf("%s: after Delete(true) %d keys are left", w.Name, m.Len())
			}
			s.Release()
		})
	}
	odd := mustParse(t, allDesc, []byte("\x0f\x00\x19\x02\x00\x00\x00\x01\x02\x00"))
	if l := nocopy.BoolList(odd.Child(fieldNamed(allDesc, "flags"), allDesc)); !l.Contains(true) || l.Contains(false) {
		t.Error("a list with a bool of 2 does not contain true")
	}
}
