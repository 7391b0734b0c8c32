package fields_test

import (
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// TestStrangeArm: an unknown arm stays while the union is only read, linked or cloned, and is
// removed when a known arm is set, wherever the union is and however it got there.
func TestStrangeArm(t *testing.T) {
	const (
		label   = "\x0b\x00\x03\x00\x00\x00\x01l"
		strange = "\x08\x00\x63\x00\x00\x00\x07" // 99: i32 7
		union   = strange + label + "\x0c\x00\x64\x0b\x00\x01\x00\x00\x00\x02hi\x00" + "\x00"
		// Text, shape, shapes
		inner = "\x0b\x00\x07\x00\x00\x00\x01x\x0c\x00\x0c" + union + "\x0f\x00\x1e\x0c\x00\x00\x00\x02" + union + union + "\x00"
		// Self
		wire = "\x0c\x00\x17" + inner + inner
	)
	f := namedIn(allDesc)
	shapes := func(s thriftimpl.Struct) (all []thriftimpl.Struct) {
		for _, s := range []thriftimpl.Struct{s, s.Child(f("self"), allDesc)} {
			list := nocopy.StructList[thriftimpl.Struct](s.Child(f("shapes"), allDesc))
			all = append(all, s.Child(f("shape"), allDesc), list.At(0), list.At(1))
		}
		return all
	}
	filler := longText[:referSize] // makes linked parts large enough for linking
	list := []way{cloned}
	for i, w := range ways(len(wire)) {
		if i < 12 || i%7 == 0 {
			list = append(list, w)
		}
	}
	for _, w := range list {
		for _, how := range []struct {
			name string
			get  func(s thriftimpl.Struct) thriftimpl.Struct
		}{
			{"as it came", func(s thriftimpl.Struct) thriftimpl.Struct { return s }},
			{"edited", func(s thriftimpl.Struct) thriftimpl.Struct {
				s.SetText(f("text"), filler)
				s.Child(f("self"), allDesc).SetText(f("text"), "t")
				for _, u := range shapes(s) {
					u.UnsetArm(fieldNamed(shapeDesc, "label"))
				}
				return s
			}},
			{"rewritten", func(s thriftimpl.Struct) thriftimpl.Struct {
				s.SetText(f("text"), "longer")
				s.Child(f("self"), allDesc).SetText(f("text"), "longer still")
				if n := s.Message().Nodes(); n > 0 && w.Name == inOnePiece.Name {
					t.Errorf("%d nodes", n)
				}
				return s
			}},
			{"linked", func(s thriftimpl.Struct) thriftimpl.Struct {
				s.SetText(f("text"), filler)
				other := newStruct(allDesc)
				other.SetChild(f("self"), allDesc, s)
				other.SetText(f("text"), filler)
				s.Release()
				return other.Child(f("self"), allDesc)
			}},
			{"copied", func(s thriftimpl.Struct) thriftimpl.Struct {
				other := newStruct(allDesc)
				other.SetChild(f("self"), allDesc, s)
				s.Release()
				return other.Child(f("self"), allDesc)
			}},
			{"set in lists", func(s thriftimpl.Struct) thriftimpl.Struct {
				list := nocopy.StructList[thriftimpl.Struct](s.Child(f("shapes"), allDesc))
				list.Set(0, s.Child(f("shape"), allDesc))
				list.Append(list.At(1))
				list.Set(1, list.At(2))
				return s
			}},
		} {
			s, err := w.Parse(allDesc, []byte(wire))
			if err != nil {
				t.Fatal(err)
			}
			s = how.get(s)
			check := func(when string, of thriftimpl.Struct, want int) {
				t.Helper()
				n := 0
				for _, u := range shapes(of) {
					n += len(unknownOf(u, shapeDesc))
				}
				if n != want {
					t.Errorf("%s, %s, %s: %d unknown arms, want %d", w.Name, how.name, when, n, want)
				}
			}
			check("untouched", s, 12)
			for i, u := range shapes(s) {
				switch i % 3 {
				case 0:
					u.Arm(fieldNamed(shapeDesc, "radius"), shapeDesc).SetFloat64(fieldNamed(shapeDesc, "radius"), 2)
				case 1:
					u.Arm(fieldNamed(shapeDesc, "label"), shapeDesc).SetText(fieldNamed(shapeDesc, "label"), "new")
				case 2:
					u.SetChild(fieldNamed(shapeDesc, "corner"), shapeDesc, newStruct(pointDesc))
				}
				check("setting arms", s, 10-2*i)
			}
			again := mustParse(t, allDesc, s.Clone(allDesc).Message().Bytes())
			check("sent", again, 0)
			for i, u := range shapes(again) {
				if got, want := render.Text(u, shapeDesc), []string{"{radius: 2}", `{label: "new"}`, "{corner: {x: 0, y: 0}}"}[i%3]; got != want {
					t.Errorf("%s, %s: %s is sent, not %s", w.Name, how.name, got, want)
				}
			}
			if got, want := render.Text(again, allDesc), render.Text(s, allDesc); got != want {
				t.Errorf("%s, %s:\n%s\nis sent as\n%s", w.Name, how.name, want, got)
			}
			again.Release()
			s.Message().Release()
		}
	}
}

// TestArmFromItself: an arm may be set to the contents of another arm, of the same arm, or of the
// struct around the union.
func TestArmFromItself(t *testing.T) {
	a, sh, p := namedIn(allDesc), namedIn(shapeDesc), namedIn(pointDesc)
	for _, c := range []struct {
		name string
		set  func(s, u thriftimpl.Struct) // s contains the union u
		want string
	}{
		{"outline of points around", func(s, u thriftimpl.Struct) {
			u.SetChild(sh("outline"), shapeDesc, s.Child(a("points"), allDesc))
		}, "{outline: [{x: 1, y: 0}]}"},
		{"corner of the outline", func(s, u thriftimpl.Struct) {
			u.SetChild(sh("corner"), shapeDesc, nocopy.StructList[thriftimpl.Struct](u.Child(sh("outline"), shapeDesc)).At(1))
		}, "{corner: {x: 0, y: 3}}"},
		{"outline of itself", func(s, u thriftimpl.Struct) {
			u.SetChild(sh("outline"), shapeDesc, u.Child(sh("outline"), shapeDesc))
		}, "{outline: [{x: 0, y: 0}, {x: 0, y: 3}]}"},
		{"weights that are absent", func(s, u thriftimpl.Struct) {
			u.SetChild(sh("weights"), shapeDesc, u.Child(sh("weights"), shapeDesc))
		}, "{weights: {}}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			build := func() thriftimpl.Struct {
				s := newStruct(allDesc)
				nocopy.StructList[thriftimpl.Struct](s.NewChild(a("points"), allDesc, 1)).At(0).SetInt32(p("x"), 1)
				u := s.NewChild(a("shape"), allDesc, 0)
				outline := nocopy.StructList[thriftimpl.Struct](u.Arm(sh("outline"), shapeDesc).NewChild(sh("outline"), shapeDesc, 2))
				outline.At(1).SetInt32(p("y"), 3)
				return s
			}
			for name, s := range map[string]thriftimpl.Struct{
				"built": build(), "parsed": mustParse(t, allDesc, build().Message().Bytes()), "lazy": mustParse(t, allDesc, build().Message().Bytes(), nocopy.Lazy), "cloned": build().Clone(allDesc),
			} {
				u := s.Child(a("shape"), allDesc)
				c.set(s, u)
				if got := render.Text(u, shapeDesc); got != c.want {
					t.Errorf("%s, %s: %s, want %s", c.name, name, got, c.want)
				}
				again := mustParse(t, allDesc, s.Message().Bytes())
				if got := render.Text(again.Child(a("shape"), allDesc), shapeDesc); got != c.want {
					t.Errorf("%s, %s: sent as %s, want %s", c.name, name, got, c.want)
				}
			}
		})
	}
}

// TestArmOfWhatIsAround: if the arm is set to the struct around the union, it becomes a copy of
// that struct with the union's old contents.
func TestArmOfWhatIsAround(t *testing.T) {
	around, choice := newStructDesc("Around"), newUnionDesc("Choice")
	around.Define(thriftimpl.FieldDesc{ID: 1, Name: "v", Type: typeI32}, thriftimpl.FieldDesc{ID: 2, Name: "u", Type: structTypeOf(choice)})
	choice.Define(
		thriftimpl.FieldDesc{ID: 1, Name: "r", Type: structTypeOf(around)}, thriftimpl.FieldDesc{ID: 2, Name: "i", Type: typeI32},
		thriftimpl.FieldDesc{ID: 3, Name: "l", Type: listTypeOf(structTypeOf(around))},
	)
	build := func() thriftimpl.Struct {
		s := newStruct(around)
		s.SetInt32(fieldNamed(around, "v"), 1)
		s.NewChild(fieldNamed(around, "u"), around, 0).Arm(fieldNamed(choice, "i"), choice).SetInt32(fieldNamed(choice, "i"), 5)
		return s
	}
	for name, s := range map[string]thriftimpl.Struct{"built": build(), "parsed": mustParse(t, around, build().Message().Bytes()), "cloned": build().Clone(around)} {
		t.Run(name, func(t *testing.T) {
			s.Child(fieldNamed(around, "u"), around).SetChild(fieldNamed(choice, "r"), choice, s)
			const want = "{v: 1, u: {r: {v: 1, u: {i: 5}}}}"
			if got := render.Text(s, around); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
			if got := render.Text(mustParse(t, around, s.Message().Bytes()), around); got != want {
				t.Errorf("%s: sent as %s, want %s", name, got, want)
			}
		})
	}
}

// TestArmFromDeadHandle: a union is unchanged after a setter panics because of a handle that must
// not be used.
func TestArmFromDeadHandle(t *testing.T) {
	sh := namedIn(shapeDesc)
	dead := newStruct(allDesc)
	handles := map[string]thriftimpl.Struct{
		"corner":  dead.NewChild(fieldNamed(allDesc, "point"), allDesc, 0),
		"outline": dead.NewChild(fieldNamed(allDesc, "points"), allDesc, 1),
		"weights": dead.NewChild(fieldNamed(allDesc, "counts"), allDesc, 0),
	}
	dead.Release()
	for arm, h := range handles {
		for _, h := range []thriftimpl.Struct{h} {
			u := newStruct(shapeDesc)
			u.Arm(sh("label"), shapeDesc).SetText(sh("label"), "as it was")
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: no panic", arm)
					}
				}()
				u.SetChild(sh(arm), shapeDesc, h)
			}()
			if got := render.Text(u, shapeDesc); got != `{label: "as it was"}` || u.Which() != armNumber(sh("label")) || u.Has(sh(arm)) {
				t.Errorf("%s: %s, %d, %v", arm, got, u.Which(), u.Has(sh(arm)))
			}
			checkOutput(t, arm, nocopy.Struct(u).Message(), []byte("\x0b\x00\x03\x00\x00\x00\x09as it was\x00"))
			u.Release()
		}
	}
}
