package contract

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/idlfiles"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/invoke"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

const idlText = `
enum Colour { RED = 1 }
union Choice { 1: i32 a, 2: list<string> b }
struct Item { 1: required string name, 2: i32 count (vt.gt = "0"), 3: Colour colour, 4: list<i32> sizes, 5: map<string, Item> parts, 6: Choice choice, 7: set<binary> raw,
  8: uuid id, 9: map<i16, map<bool, double>> deep, 10: i64 long, 11: i8 small }
service Store { Item get(1: required Item item) }`

// verifier returns a Verifier of an IDL with one method, and the method.
func verifier(t *testing.T) (*Verifier, *invoke.Method) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "store.thrift")
	if err := os.WriteFile(name, []byte(idlText), 0o600); err != nil {
		t.Fatal(err)
	}
	idl, err := (&idlfiles.Files{IDL: []string{name}}).Load()
	if err != nil {
		t.Fatal(err)
	}
	m, err := invoke.Find(idl, "Store.get", "", 0)
	if err != nil {
		t.Fatal(err)
	}
	v, errs := New(idl, func(*Finding) {})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return v, m
}

// TestAnyBytes: whatever is a message is compared to its end. What the library refuses has a
// finding, and no required field is missing in what it accepts.
func TestAnyBytes(t *testing.T) {
	v, m := verifier(t)
	whole, err := m.Args([]byte(`{"item": {"name": "lamp", "count": 1, "colour": "RED", "sizes": [1, 2], "parts": {"a": {"name": "b", "count": 2, "choice": {"b": ["x"]}}},
		"choice": {"a": 1}, "raw": ["AQ=="], "id": "01234567-89ab-cdef-0123-456789abcdef", "deep": {"1": {"true": 2.5}}, "long": 7, "small": 1}}`))
	if err != nil {
		t.Fatal(err)
	}
	v.Call("get", m, nil, false, whole)
	if r := v.Report(); len(r.Findings) > 0 || r.Calls != 1 {
		t.Fatal(r.Lines())
	}
	raw := rpc.RawMethod("get", false).Args
	random := rand.New(rand.NewPCG(1, 2))
	messages, refused := 0, 0
	for range 30_000 {
		wire := append([]byte(nil), whole...)
		for range 1 + random.IntN(3) {
			switch at := random.IntN(len(wire)); random.IntN(3) {
			case 0:
				wire[at] = byte(random.IntN(17))
			case 1:
				wire[at] ^= 1 << random.IntN(8)
			case 2:
				wire = append(wire[:at], wire[min(at+random.IntN(8), len(wire)):]...)
			}
			if len(wire) == 0 {
				break
			}
		}
		s, err := thriftimpl.Parse(raw, wire)
		if err != nil {
			continue
		}
		s.Message().Release()
		messages++
		v := &Verifier{rules: v.rules, first: v.first, known: map[Finding]*Finding{}}
		v.Call("get", m, nil, false, wire)
		v.Reply("", "get", m, wire, nil, false)
		msg, err := m.ArgsType().Parse(wire)
		missing := false
		for _, f := range v.report.Findings {
			missing = missing || f.Kind == missingRequired && f.Side == client
		}
		if err != nil {
			refused++
			if len(v.report.Findings) == 0 {
				t.Fatalf("no finding in %x: %v", wire, err)
			}
			continue
		}
		msg.Release()
		if missing {
			t.Fatalf("a field is missing in %x", wire)
		}
	}
	if messages < 3000 || refused < 300 {
		t.Errorf("%d messages, %d refused", messages, refused)
	}
}
