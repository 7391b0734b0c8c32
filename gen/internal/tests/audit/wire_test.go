package audit_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/audit"
	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
)

// A site identifies a definition by its file and line. No two definitions share a line.
type site struct {
	file string
	line int
}

func siteOf(p idl.Position) site { return site{filepath.Base(p.Filename), p.Line} }

// A version has random files and indexes of their definitions.
type version struct {
	set      *schema.Set
	structs  map[site]*schema.Struct
	enums    map[site]*schema.Enum
	services map[site]*schema.Service
	named    map[string]any // the same definitions by "FILE NAME"
}

func loadVersion(t *testing.T, dir string, text *idlText) *version {
	for i, name := range fileNames {
		write(t, dir, name+".thrift", text.write(i))
	}
	set, err := schema.Load([]string{dir + "/m.thrift"}, nil)
	if err != nil {
		t.Fatalf("%v in\n%s", err, everything(text))
	}
	v := &version{set, map[site]*schema.Struct{}, map[site]*schema.Enum{}, map[site]*schema.Service{}, map[string]any{}}
	for _, p := range set.Programs {
		for _, s := range p.Structs {
			v.structs[siteOf(s.Pos)], v.named[p.Name+" "+s.Name] = s, s
		}
		for _, e := range p.Enums {
			v.enums[siteOf(e.Pos)], v.named[p.Name+" "+e.Name] = e, e
		}
		for _, s := range p.Services {
			v.services[siteOf(s.Pos)], v.named[p.Name+" "+s.Name] = s, s
		}
	}
	return v
}

func everything(t *idlText) string {
	return fmt.Sprintf("-- m\n%s-- x\n%s-- y\n%s", t.write(0), t.write(1), t.write(2))
}

// reach adds the sites of all definitions in a type.
func reach(t *schema.Type, into map[site]bool) {
	switch {
	case t == nil:
	case t.Kind == schema.EnumKind:
		into[siteOf(t.Enum.Pos)] = true
	case t.Kind == schema.StructKind && !into[siteOf(t.Struct.Pos)]:
		into[siteOf(t.Struct.Pos)] = true
		for _, f := range t.Struct.Fields {
			reach(f.Type, into)
		}
	default:
		reach(t.Key, into)
		reach(t.Elem, into)
	}
}

// A pairOf has the old and the new version of some files, and the definitions that are read
// differently.
type pairOf struct {
	old, new         *version
	forward, back    transfer
	tries, persevere int // messages in each direction; more if a break was reported
}

// structs reports whether messages of a struct are read differently.
func (p *pairOf) structs(old, new *schema.Struct, tries int) bool {
	for range tries {
		if p.forward.strct(old, new) || p.back.strct(new, old) {
			return true
		}
	}
	return false
}

// enums reports whether numbers of an enum have another meaning.
func (p *pairOf) enums(old, new *schema.Enum) bool {
	return slices.ContainsFunc(old.Values, func(v *schema.EnumValue) bool { return p.forward.enum(old, new, v.Value) }) ||
		slices.ContainsFunc(new.Values, func(v *schema.EnumValue) bool { return p.back.enum(new, old, v.Value) })
}

// methods returns all methods of a service by name.
func methods(s *schema.Service) map[string]*schema.Function {
	all := map[string]*schema.Function{}
	for ; s != nil; s = s.Extends {
		for _, f := range s.Functions {
			if all[f.Name] == nil {
				all[f.Name] = f
			}
		}
	}
	return all
}

// method reports whether calls of a method are read differently.
func (p *pairOf) method(f, g *schema.Function, tries int) bool {
	if g == nil || f.Oneway != g.Oneway || p.structs(f.Args, g.Args, tries) {
		return true
	}
	for range tries {
		if !f.Oneway && (p.forward.result(f, g) || p.back.result(g, f)) {
			return true
		}
	}
	return false
}

// TestWire compares the reported breaks with Apache's library. Random files are changed at random,
// and messages of the old files are read with the new ones, and the other way round. If a
// definition is read differently, a break of the wire must have been reported for it or for a part
// of it. Every reported break must show in a message.
func TestWire(t *testing.T) {
	seed := testmode.Seed(t)
	r := rand.New(rand.NewPCG(seed, 1))
	dir := t.TempDir()
	differ, reported, kinds := 0, 0, map[string]int{}
	for round := range testmode.Of(120, 500) {
		text := newText(r)
		next := text.changed(r, 1+round%3)
		p := &pairOf{old: loadVersion(t, dir+"/old", text), new: loadVersion(t, dir+"/new", next), tries: 40, persevere: 20000}
		m := newMessages(r.Uint64())
		p.forward, p.back = transfer{m, false}, transfer{m, true}
		in := audit.Input{Old: dir + "/old", New: dir + "/new"}
		single := round%4 == 0
		if single {
			in.Old, in.New = in.Old+"/m.thrift", in.New+"/m.thrift"
		}
		found := slices.DeleteFunc(load(t, in, audit.Options{}), func(f audit.Finding) bool { return f.Breaks&audit.Wire == 0 })
		reported += len(found)
		for _, f := range found {
			kinds[f.Kind]++
		}
		for _, what := range append(p.missed(found, single, &differ), p.invented(found)...) {
			t.Errorf("seed %d, round %d: %s\nold\n%s\nnew\n%s\n%v", seed, round, what, everything(text), everything(next), found)
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d definitions are read as something else, %d findings: %v", differ, reported, kinds)
	if differ < 50 || reported < 50 || len(kinds) < 9 {
		t.Error("too few")
	}
}

// missed returns the definitions that are read differently without a report. With single only
// m.thrift was given, and only its definitions count.
func (p *pairOf) missed(found []audit.Finding, single bool, differ *int) (missed []string) {
	check := func(name string, differs bool, in map[site]bool) {
		if !differs {
			return
		}
		*differ++
		if !slices.ContainsFunc(found, func(f audit.Finding) bool { return in[siteOf(f.Old)] }) {
			missed = append(missed, name+" is read as something else")
		}
	}
	for name, d := range p.old.named {
		if single && !strings.HasPrefix(name, "m ") {
			continue
		}
		in := map[site]bool{}
		switch old := d.(type) {
		case *schema.Struct:
			reach(&schema.Type{Kind: schema.StructKind, Struct: old}, in)
			if new, ok := p.new.named[name].(*schema.Struct); ok {
				check(name, p.structs(old, new, p.tries), in)
			}
		case *schema.Enum:
			reach(&schema.Type{Kind: schema.EnumKind, Enum: old}, in)
			if new, ok := p.new.named[name].(*schema.Enum); ok {
				check(name, p.enums(old, new), in)
			}
		case *schema.Service:
			new, ok := p.new.named[name].(*schema.Service)
			if !ok {
				continue
			}
			for s := old; s != nil; s = s.Extends {
				in[siteOf(s.Pos)] = true
			}
			after := methods(new)
			for method, f := range methods(old) {
				all := map[site]bool{}
				for s := range in {
					all[s] = true
				}
				reach(f.Returns, all)
				for _, x := range f.Args.Fields {
					reach(x.Type, all)
				}
				if f.Result != nil {
					for _, x := range f.Result.Fields {
						reach(x.Type, all)
					}
				}
				check(name+"."+method, p.method(f, after[method], p.tries), all)
			}
		}
	}
	return missed
}

// invented returns the findings that show in no message.
func (p *pairOf) invented(found []audit.Finding) (invented []string) {
	for _, f := range found {
		old, new := siteOf(f.Old), siteOf(f.New)
		shown := f.Kind == "service-removed"
		if s, to := p.old.structs[old], p.new.structs[new]; s != nil && to != nil {
			shown = p.structs(s, to, p.persevere)
		} else if e, to := p.old.enums[old], p.new.enums[new]; e != nil && to != nil {
			shown = p.enums(e, to)
		} else if !shown { // a method: its service may extend the service at that place
			service, name, _ := strings.Cut(f.Symbol, ".")
			shown = p.anyMethod(service, name)
		}
		if !shown {
			invented = append(invented, "reported, but nothing is read as something else: "+f.String())
		}
	}
	return invented
}

// anyMethod reports whether calls of the method name of services with this name are read
// differently, or, if only METHOD_args or METHOD_exception is known, of any service.
func (p *pairOf) anyMethod(service, name string) bool {
	for _, s := range p.old.named {
		old, ok := s.(*schema.Service)
		if !ok {
			continue
		}
		method := name
		if before, found := strings.CutSuffix(service, "_args"); found {
			method = before
		} else if before, found := strings.CutSuffix(service, "_exception"); found {
			method = before
		} else if old.Name != service {
			continue
		}
		for _, to := range p.new.named { // it may have moved
			new, ok := to.(*schema.Service)
			if !ok || new.Name != old.Name {
				continue
			}
			after := methods(new)
			for n, f := range methods(old) {
				if (n == method || method == "") && p.method(f, after[n], p.persevere) {
					return true
				}
			}
		}
	}
	return false
}
