package versions

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/gen/internal/versions/newer"
	"github.com/nocopythrift/nocopythrift/gen/internal/versions/older"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/apachethrift"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopycmp"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
)

// differing is a struct of the older package that the newer one declares in another way.
type differing struct {
	old              nocopy.AnyStruct
	says             string // how they differ
	set, clone, read func()
	make             func() nocopy.AnyStruct // a new one of the newer package
	json             func() ([]byte, error)
	// Functions that take a message of any type, and get the old one as one of the newer package.
	// The argument is a new one of that package.
	whole     map[string]func(nocopy.AnyStruct)
	unchanged func() bool // nothing was set
}

func differ[N interface {
	nocopy.StructView
	nocopy.AnyStruct
	Clone() N
	Equal(N) bool
}](says string, old nocopy.AnyStruct, set func(newer.All, N), make func(newer.All) N) differing {
	n := N(nocopy.Struct(old.ThriftStruct()))
	a := newer.NewAll()
	return differing{
		old: old, says: says,
		set:       func() { set(a, n) },
		clone:     func() { n.Clone() },
		read:      func() { nocopy.ParseBlocks[N](old.ThriftDesc(), nil) },
		make:      func() nocopy.AnyStruct { return any(make(newer.NewAll())).(nocopy.AnyStruct) },
		json:      func() ([]byte, error) { return json.Marshal(n) },
		unchanged: func() bool { return a.Equal(newer.NewAll()) },
		whole: map[string]func(nocopy.AnyStruct){
			"Merge":         func(made nocopy.AnyStruct) { messages.Merge(made, n) },
			"Merge into":    func(made nocopy.AnyStruct) { messages.Merge(n, made) },
			"CopyInto":      func(made nocopy.AnyStruct) { messages.CopyInto(made, n) },
			"CopyInto it":   func(made nocopy.AnyStruct) { messages.CopyInto(n, made) },
			"Merge of both": func(nocopy.AnyStruct) { messages.Merge(n, n) },
			"Equal":         func(made nocopy.AnyStruct) { messages.Equal(made, n) },
			"Equal first":   func(made nocopy.AnyStruct) { messages.Equal(n, made) },
			"n.Equal":       func(made nocopy.AnyStruct) { n.Equal(made.(N)) },
			"Equal(n)":      func(made nocopy.AnyStruct) { made.(N).Equal(n) },
			"Keep":          func(nocopy.AnyStruct) { firstField(n).Keep(n) },
			"Drop":          func(nocopy.AnyStruct) { firstField(n).Drop(n) },
			"Copy":          func(made nocopy.AnyStruct) { firstField(n).Copy(made, n) },
			"Copy into":     func(made nocopy.AnyStruct) { firstField(n).Copy(n, made) },
			"Mask.Set":      func(nocopy.AnyStruct) { firstField(n).Set(n, int32(1)) },
			"Set to it":     func(made nocopy.AnyStruct) { firstField(n).Set(made, n) },
			"Of":            func(nocopy.AnyStruct) { reflection.Of(n) },
			"nocopycmp":     func(made nocopy.AnyStruct) { cmp.Equal(n, made.(N), nocopycmp.Transform()) },
			"AppendJSON":    func(nocopy.AnyStruct) { nocopyjson.Append(nil, n) },
			"StringAs":      func(made nocopy.AnyStruct) { nocopy.Struct(n.ThriftStruct()).StringAs(made.ThriftDesc()) },
			"Struct.Clone":  func(made nocopy.AnyStruct) { nocopy.Struct(n.ThriftStruct()).Clone(made.ThriftDesc()) },
			"OfStruct": func(made nocopy.AnyStruct) {
				reflection.OfStruct(made.ThriftDesc(), n.ThriftStruct())
			},
			"apachethrift": func(nocopy.AnyStruct) {
				apachethrift.Write(context.Background(), thrift.NewTBinaryProtocolConf(thrift.NewTMemoryBuffer(), nil), n)
			},
		},
	}
}

// firstField returns a mask that selects the first field of messages of m's type.
func firstField(m nocopy.AnyStruct) *messages.Mask {
	return messages.MustMask(m.ThriftDesc(), m.ThriftDesc().FieldDesc(0).Name)
}

// TestDiffering: a root of a struct that the packages declare differently is refused, by a text
// that says where they differ and what to do. The bytes of one are good for the other.
func TestDiffering(t *testing.T) {
	type all = newer.All
	for name, d := range map[string]differing{
		"Grown":     differ("only one Grown has 2: string b", older.NewGrown(), all.SetGrown, all.NewGrown),
		"Shrunk":    differ("only one Shrunk has 2: string b", older.NewShrunk(), all.SetShrunk, all.NewShrunk),
		"Retyped":   differ("Retyped has 1: i32 a, the other 1: i64 a", older.NewRetyped(), all.SetRetyped, all.NewRetyped),
		"Renamed":   differ("Renamed has 1: i32 a, the other 1: i32 b", older.NewRenamed(), all.SetRenamed, all.NewRenamed),
		"Needed":    differ("Needed has 1: i32 a, the other 1: required i32 a", older.NewNeeded(), all.SetNeeded, all.NewNeeded),
		"Defaulted": differ("defaults of Defaulted.a", older.NewDefaulted(), all.SetDefaulted, all.NewDefaulted),
		"Reordered": differ("the order of the fields of Reordered", older.NewReordered(), all.SetReordered, all.NewReordered),
		"Chosen":    differ("only one Chosen is a union or exception", older.NewChosen(), all.SetChosen, all.NewChosen),
		"Armed":     differ("only one Armed has 2: string b", older.NewArmed(), all.SetArmed, all.NewArmed),
		"Old":       differ("", older.NewOld(), all.SetOld, all.NewOld),
		"Recolored": differ("Recolored has 1: Color color, the other 1: Hue color", older.NewRecolored(), all.SetRecolored, all.NewRecolored),
		"Deep":      differ("only one Grown has 2: string b", older.NewDeep(), all.SetDeep, all.NewDeep),
	} {
		other, tail := name, ": two packages declare it differently ("+d.says+"). Parse the bytes of one as the other"
		if d.says == "" { // the names say enough
			other, tail = "Latest", ""
		}
		check := func(what, want string, f func()) {
			t.Helper()
			if got := panicOf(f); got != "nocopy: "+want+tail {
				t.Errorf("%s of %s: %q\nwant %q", what, name, got, want+tail)
			}
		}
		check("SetX", name+" instead of "+other, d.set)
		check("Clone", name+" instead of "+other, d.clone)
		check("MarshalJSON", "descriptor of "+other+" for a handle of "+name, func() { d.json() })
		check("Parse", "descriptor of "+name+" for a handle of "+other, d.read)
		made := d.make()
		for what, f := range d.whole {
			check(what, "descriptor of "+other+" for a handle of "+name, func() { f(made) })
		}
		if name != "Reordered" { // the order of fields does not matter to these
			check("Merge", "Merge: "+other+" and "+name+" are not the same type", func() { messages.Merge(made, d.old) })
			check("CopyInto", "CopyInto: "+other+" and "+name+" are not the same type", func() { messages.CopyInto(made, d.old) })
			if messages.Equal(made, d.old) {
				t.Errorf("%s: Equal", name)
			}
		} else if messages.Merge(made, d.old); !messages.Equal(made, d.old) {
			t.Errorf("%s: %v, %v", name, made, d.old)
		}
		if !d.unchanged() {
			t.Errorf("%s: something was set", name)
		}
		err := reflection.Of(newer.NewAll()).Set(strings.ToLower(name), d.old)
		if err == nil || !strings.HasSuffix(err.Error(), "older."+name+" instead of "+other+tail) {
			t.Errorf("reflection: %v", err)
		}
	}
}

// TestDifferingElements: nor is anything changed in a list or map that refuses an element.
func TestDifferingElements(t *testing.T) {
	g := older.NewGrown()
	a := newer.NewAll()
	a.NewManyGrown(1).At(0).SetB("kept")
	a.NewGrownByName().PutNew("kept")
	before := a.String()
	for name, f := range map[string]func(){
		"Append": func() { a.GetManyGrown().Append(newer.Grown(g)) },
		"Set":    func() { a.GetManyGrown().Set(0, newer.Grown(g)) },
		"Put":    func() { a.GetGrownByName().Put("new", newer.Grown(g)) },
		"again":  func() { a.GetGrownByName().Put("kept", newer.Grown(g)) },
	} {
		if text := panicOf(f); !strings.HasPrefix(text, "nocopy: Grown instead of Grown: two packages declare it differently") {
			t.Errorf("%s: %q", name, text)
		}
		if a.String() != before {
			t.Errorf("%s: %v, before %s", name, a, before)
		}
	}
	if again, err := newer.ParseAll(a.AppendTo(nil)); err != nil || again.String() != before {
		t.Errorf("%v, %v", again, err)
	}
}
