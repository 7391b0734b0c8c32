package steps_test

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/internal/steps"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// TestEmptySteps: operations on a list of empty structs, which are one byte each on the wire, take
// few steps per byte, however many fields the structs could have. The test runs in a separate
// program, whose library counts its steps. In the short form only the packages with masks and
// reflection count.
func TestEmptySteps(t *testing.T) {
	t.Parallel()
	if steps.Counting {
		countEmptySteps(t)
		countUnsortedSteps(t)
		return
	}
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		return // this is the program itself
	}
	folders := []string{"nocopy/messages", "nocopy/reflection"}
	if testmode.Long { // all packages must be compiled
		folders = append(folders, "nocopy", "internal/chain", "nocopy/internal/parse", "nocopy/nocopyjson")
	}
	overlay, err := steps.Overlay("../../../..", t.TempDir(), folders...)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "test", "-vet=off", "-overlay", overlay, "-run", "^TestEmptySteps$", "-v", ".").CombinedOutput()
	switch {
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	case testing.Verbose():
		t.Logf("%s", out)
	}
}

// anyMessage is a message that is known only by its descriptor.
type anyMessage struct {
	d *thriftimpl.Desc
	s thriftimpl.Struct
}

func (m anyMessage) ThriftDesc() *thriftimpl.Desc    { return m.d }
func (m anyMessage) ThriftStruct() thriftimpl.Struct { return m.s }

// manyFields returns a struct with a list of structs or, if union is true, of unions, which have n
// optional fields.
func manyFields(n int, union bool) *thriftimpl.Desc {
	in, out := thriftimpl.NewDesc("In"), thriftimpl.NewDesc("Out")
	if union {
		in = thriftimpl.NewUnionDesc("In")
	}
	var fields []thriftimpl.FieldDesc
	for i := range n {
		fields = append(fields, thriftimpl.FieldDesc{ID: int16(i + 1), Name: fmt.Sprint("f", i), Type: thriftimpl.TypeI32, Req: thriftimpl.Optional})
	}
	impl.Define(in, fields)
	out.Define(thriftimpl.FieldDesc{ID: 1, Name: "list", Type: thriftimpl.ListOf(thriftimpl.StructOf(in)), Req: thriftimpl.Optional})
	return out
}

func countEmptySteps(t *testing.T) {
	const empties = 2000
	wire := binary.BigEndian.AppendUint32([]byte{byte(nocopy.WireList), 0, 1, byte(nocopy.WireStruct)}, empties)
	wire = slices.Concat(wire, make([]byte, empties), []byte{0})
	for _, union := range []bool{false, true} {
		for _, n := range []int{3, 57, 58, 200, 1022} {
			d := manyFields(n, union)
			parse := func() anyMessage {
				s, err := thriftimpl.Parse(d, wire)
				if err != nil {
					t.Fatal(err)
				}
				return anyMessage{d, s}
			}
			var each []string
			for i := range n {
				each = append(each, fmt.Sprintf("list[*].f%d", i))
			}
			one, all := messages.MustMask(d, "list[*].f1"), messages.MustMask(d, each...)
			for _, op := range []struct {
				name string
				do   func(m, o anyMessage)
			}{
				{"Keep one field", func(m, _ anyMessage) { one.Keep(m) }},
				{"Keep all fields", func(m, _ anyMessage) { all.Keep(m) }},
				{"Drop one field", func(m, _ anyMessage) { one.Drop(m) }},
				{"Drop all fields", func(m, _ anyMessage) { all.Drop(m) }},
				{"Copy one field", func(m, o anyMessage) { _ = one.Copy(m, o) }},
				{"Copy all fields", func(m, o anyMessage) { _ = all.Copy(m, o) }},
				{"Set one field", func(m, _ anyMessage) { _ = one.Set(m, 7) }},
				{"Equal", func(m, o anyMessage) { set(m, d); messages.Equal(m, o) }},
				{"Equal, with defaults", func(m, o anyMessage) { set(m, d); messages.Equal(m, o, messages.EquateDefaults) }},
				{"Merge", func(m, o anyMessage) { messages.Merge(m, o) }},
				{"CopyInto", func(m, o anyMessage) { set(o, d); messages.CopyInto(m, o) }},
				{"JSON", func(m, _ anyMessage) { _, _ = nocopyjson.Marshal(m) }},
				{"String", func(m, _ anyMessage) { _ = render.Text(m.s, d) }},
				{"a log's value", func(m, _ anyMessage) { slog.AnyValue(render.LogValue(m.s, d)).Resolve() }},
				{"Range", func(m, _ anyMessage) {
					for _, list := range reflection.Of(m).All() {
						for _, x := range list.List().All() {
							for range x.Message().All() {
								t.Error("a field is set")
							}
						}
					}
				}},
			} {
				m, o := parse(), parse()
				steps.N = 0
				op.do(m, o)
				limit := 300
				if strings.HasPrefix(op.name, "Set") {
					limit = 1000 // each struct gets a field of 7 bytes and a place for it in the index
				}
				if !wide(n) {
					limit += 50 * n // each field has a word of the index, set or not
				}
				if each := steps.N / len(wire); each > limit {
					t.Errorf("%d fields, union %v: %s takes %d steps per byte, more than %d", n, union, op.name, each, limit)
				}
			}
		}
	}
}

// countUnsortedSteps parses a struct of many fields that come in any order, each several times.
func countUnsortedSteps(t *testing.T) {
	const n = 30_000
	d := thriftimpl.NewDesc("D")
	var fields []thriftimpl.FieldDesc
	var wire []byte
	for i := range n {
		fields = append(fields, thriftimpl.FieldDesc{ID: int16(i + 1), Name: fmt.Sprint("f", i), Type: thriftimpl.TypeBool, Req: thriftimpl.Optional})
	}
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(3 * n) {
		wire = append(binary.BigEndian.AppendUint16(append(wire, byte(nocopy.WireBool)), uint16(i%n+1)), 1)
	}
	impl.Define(d, fields)
	steps.N = 0
	if _, err := thriftimpl.Parse(d, append(wire, 0)); err != nil {
		t.Fatal(err)
	}
	if each := steps.N / (3 * n); each > 40 {
		t.Errorf("fields of a wide struct in any order take %d steps each", each)
	}
}

// wide reports whether the index of a struct of n fields holds only the set fields.
func wide(n int) bool { return n > entry.MaxDirect }

// set sets a field of the first struct in the list of m, of type d.
func set(m anyMessage, d *thriftimpl.Desc) {
	first := m.s.Value(d.Field(0), d).Struct().Element(0)
	in := first.Type().Struct()
	first.Struct().SetValue(in.Field(0), in, impl.ValueOfInt(in.FieldDesc(0).Type, 7))
}
