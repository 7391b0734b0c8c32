package shapes_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	_ "github.com/nocopythrift/nocopythrift/gen/internal/services" // which registers itself
	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/descriptor"
)

// told has the facts that descriptors say about a declaration, in a comparable form.
type told struct {
	Kind, Name, Doc, Type, Req, Default string
	ID                                  int
	Annotations                         []descriptor.Annotation
	Parts                               []told
}

func annotations(all func(func(descriptor.Annotation) bool)) []descriptor.Annotation {
	return slices.Collect(all)
}

func toldStruct(s descriptor.Struct) told {
	x := told{Kind: s.Shape().String(), Name: s.Name(), Doc: s.Doc(), Annotations: annotations(s.Annotations())}
	for f := range s.Fields() {
		x.Parts = append(x.Parts, told{
			Kind: "field", Name: f.Name(), Doc: f.Doc(), Type: f.Type().String(), ID: int(f.ID()),
			Req:     [...]string{"", "required", "optional"}[f.Requiredness()],
			Default: f.DefaultWire(), Annotations: annotations(f.Annotations()),
		})
	}
	return x
}

func modelStruct(s *schema.Struct) told {
	x := told{Kind: [...]string{"struct", "union", "exception"}[s.Shape], Name: s.Name, Doc: s.Doc, Annotations: annotated(s.Annotations)}
	for _, f := range s.Fields {
		part := told{
			Kind: "field", Name: f.Name, Doc: f.Doc, Type: idlType(f.Type), ID: int(f.ID),
			Req: [...]string{"", "required", "optional"}[f.Req], Annotations: annotated(f.Annotations),
		}
		if f.Default != nil {
			part.Default = f.Default.Wire
		}
		x.Parts = append(x.Parts, part)
	}
	return x
}

func annotated(a schema.Annotations) (all []descriptor.Annotation) {
	for _, x := range a {
		all = append(all, descriptor.Annotation{Name: x.Key, Value: x.Value})
	}
	return all
}

// idlType returns the type in the syntax of the IDL, with names without their files.
func idlType(t *schema.Type) string {
	switch t.Kind {
	case schema.StructKind:
		return t.Struct.Name
	case schema.EnumKind:
		return t.Enum.Name
	case schema.List:
		return "list<" + idlType(t.Elem) + ">"
	case schema.SetKind:
		return "set<" + idlType(t.Elem) + ">"
	case schema.Map:
		return "map<" + idlType(t.Key) + ", " + idlType(t.Elem) + ">"
	}
	return map[schema.Kind]string{schema.Bool: "bool", schema.I8: "i8", schema.I16: "i16", schema.I32: "i32", schema.I64: "i64",
		schema.Double: "double", schema.String: "string", schema.Binary: "binary", schema.UUID: "uuid"}[t.Kind]
}

// TestDescriptors: the descriptors that generated code registers agree with its IDL.
func TestDescriptors(t *testing.T) {
	set, err := schema.Load([]string{"shapes.thrift", "../services/services.thrift"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var want, got []told
	for _, p := range set.Programs {
		for _, s := range p.Structs {
			x := modelStruct(s)
			x.Name = p.Name + "." + x.Name
			want = append(want, x)
		}
		for _, e := range p.Enums {
			x := told{Kind: "enum", Name: p.Name + "." + e.Name, Doc: e.Doc, Annotations: annotated(e.Annotations)}
			for _, v := range e.Values {
				x.Parts = append(x.Parts, told{Name: v.Name, ID: int(v.Value), Doc: v.Doc, Annotations: annotated(v.Annotations)})
			}
			want = append(want, x)
		}
		for _, c := range p.Consts {
			want = append(want, told{Kind: "const", Name: p.Name + "." + c.Name, Doc: c.Doc, Type: idlType(c.Type), Default: c.Value.Wire})
		}
		for _, s := range p.Services {
			want = append(want, modelService(p, s))
		}
	}
	for name, s := range descriptor.Structs() {
		x := toldStruct(s)
		x.Name = name
		got = append(got, x)
	}
	for name, e := range descriptor.Enums() {
		x := told{Kind: "enum", Name: name, Doc: e.Doc(), Annotations: annotations(e.Annotations())}
		for v := range e.Values() {
			x.Parts = append(x.Parts, told{Name: v.Name(), ID: int(v.Number()), Doc: v.Doc(), Annotations: annotations(v.Annotations())})
		}
		got = append(got, x)
	}
	for name, c := range descriptor.Consts() {
		got = append(got, told{Kind: "const", Name: name, Doc: c.Doc(), Type: c.Type().String(), Default: c.Wire()})
	}
	for name, s := range descriptor.Services() {
		got = append(got, toldService(name, s))
	}
	for _, list := range [][]told{want, got} {
		slices.SortFunc(list, func(a, b told) int { return strings.Compare(a.Name, b.Name) })
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-the IDL +the descriptors:\n%s", diff)
	}
}

func modelService(p *schema.Program, s *schema.Service) told {
	x := told{Kind: "service", Name: p.Name + "." + s.Name, Doc: s.Doc, Annotations: annotated(s.Annotations)}
	if s.Extends != nil {
		x.Type = s.Extends.Program.Name + "." + s.Extends.Name
	}
	for _, f := range s.Functions {
		m := told{Name: f.Name, Doc: f.Doc, Annotations: annotated(f.Annotations), Parts: []told{modelStruct(f.Args)}}
		if f.Oneway {
			m.Kind = "oneway"
		} else {
			m.Parts = append(m.Parts, modelStruct(f.Result))
		}
		if f.Returns != nil {
			m.Type = idlType(f.Returns)
		}
		x.Parts = append(x.Parts, m)
	}
	return x
}

func toldService(name string, s descriptor.Service) told {
	x := told{Kind: "service", Name: name, Doc: s.Doc(), Type: s.Extends(), Annotations: annotations(s.Annotations())}
	for m := range s.Methods() {
		part := told{Name: m.Name(), Doc: m.Doc(), Annotations: annotations(m.Annotations()), Parts: []told{toldStruct(m.Args())}}
		if m.Oneway() {
			part.Kind = "oneway"
		} else {
			part.Parts = append(part.Parts, toldStruct(m.Result()))
		}
		if typ, ok := m.Returns(); ok {
			part.Type = typ.String()
		}
		x.Parts = append(x.Parts, part)
	}
	return x
}

func TestEnumFunctions(t *testing.T) {
	if got := shapes.ColorValues(); !slices.Equal(got, []shapes.Color{shapes.Color_RED, shapes.Color_GREEN, shapes.Color_BLUE, shapes.Color_NONE}) {
		t.Errorf("values: %v", got)
	}
	for _, c := range []struct {
		name  string
		value shapes.Color
		text  string
	}{{"RED", 1, "RED"}, {"VERT", 2, "GREEN"}, {"NONE", -1, "NONE"}} {
		if v, err := shapes.ParseColor(c.name); err != nil || v != c.value || v.String() != c.text {
			t.Errorf("%s: %d %v, %v", c.name, v, v, err)
		}
	}
	if _, err := shapes.ParseColor("red"); err == nil || err.Error() != `"red" is not a Color` {
		t.Error(err)
	}
	if got := shapes.Color(5).String(); got != "Color(5)" {
		t.Error(got)
	}
}

// TestRepeatedAnnotations: annotations are in the IDL's order. If several have the same name, a
// search finds the last.
func TestRepeatedAnnotations(t *testing.T) {
	loaded, err := loadShapes(t).Struct("Noted")
	if err != nil {
		t.Fatal(err)
	}
	want := []descriptor.Annotation{{Name: "b", Value: "2"}, {Name: "a", Value: "1"}, {Name: "b", Value: "3"}}
	for _, s := range []descriptor.Struct{descriptor.StructOfDesc(shapes.NotedDesc), loaded.Struct} {
		f, _ := s.ByName("color")
		if diff := cmp.Diff(want, slices.Collect(f.Annotations())); diff != "" {
			t.Error(diff)
		}
		if v, ok := f.Annotation("b"); v != "3" || !ok {
			t.Errorf("b is %q, %t", v, ok)
		}
	}
}
