package shapes_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopycmp"
)

// modelLengths has lengths at which the way of copying texts changes, and lengths of texts that
// are referred to.
var modelLengths = []int{0, 1, 3, 4, 7, 8, 9, 16, 17, 31, 32, 33, 100, 4095, 4096, 4097, 9000}

// rowsModel has the expected contents of a message in plain Go: a list of structs, and lists of
// texts next to it.
type rowsModel struct {
	*rand.Rand
	refusals []shapes.RefusedFields
	texts    []string
	blobs    [][]byte
	points   []shapes.PointFields
}

func (m *rowsModel) text() string {
	n := modelLengths[m.IntN(len(modelLengths))]
	if n > 1000 && m.IntN(4) > 0 {
		n %= 50
	}
	return strings.Repeat(string(rune('a'+m.IntN(26))), n)
}

func (m *rowsModel) refused() shapes.RefusedFields {
	v := shapes.RefusedFields{Reason: m.text(), Code: int32(m.Uint32())}
	if m.IntN(2) == 0 {
		v.Where = nocopy.Some(shapes.PointFields{X: int32(m.IntN(9)), Y: -1})
	}
	return v
}

func many[T any](m *rowsModel, f func() T) []T {
	v := make([]T, []int{0, 1, 5, 40, 400}[m.IntN(5)])
	for i := range v {
		v[i] = f()
	}
	return v
}

// check compares a message with the model: the results of getters and, with send, the values that
// Apache's library reads from the sent bytes.
func (m *rowsModel) check(s shapes.Lists, send bool) error {
	if n := s.GetRefusals().Len(); n != len(m.refusals) {
		return fmt.Errorf("%d refusals, want %d", n, len(m.refusals))
	}
	for i, x := range s.GetRefusals().All() {
		want := m.refusals[i]
		where := nocopy.Opt[shapes.PointFields]{Set: x.IsSetWhere()}
		if where.Set {
			where.Value = shapes.PointFields{X: x.GetWhere().GetX(), Y: x.GetWhere().GetY()}
		}
		if got := (shapes.RefusedFields{Reason: x.GetReason(), Code: x.GetCode(), Where: where}); got != want {
			return fmt.Errorf("element %d is %.60v, want %.60v", i, got, want)
		}
	}
	var texts []string
	for _, x := range s.GetTexts().All() {
		texts = append(texts, x)
	}
	var blobs [][]byte
	for _, x := range s.GetBlobs().All() {
		blobs = append(blobs, x)
	}
	if !slices.Equal(texts, m.texts) || !slices.EqualFunc(blobs, m.blobs, bytes.Equal) {
		return fmt.Errorf("texts or blobs are others")
	}
	if n := s.GetPoints().Len(); n != len(m.points) {
		return fmt.Errorf("%d points, want %d", n, len(m.points))
	}
	for i, x := range s.GetPoints().All() {
		if x.GetX() != m.points[i].X || x.GetY() != m.points[i].Y {
			return fmt.Errorf("point %d is %v", i, x)
		}
	}
	if !send {
		return nil
	}
	wire := s.Message().AppendTo(nil)
	parsed, err := shapes.ParseLists(wire)
	if err != nil {
		return err
	}
	if !parsed.Equal(s) {
		return fmt.Errorf("what is sent is another: %s", cmp.Diff(s, parsed, nocopycmp.Transform()))
	}
	p := thrift.NewTBinaryProtocolConf(&thrift.TMemoryBuffer{Buffer: bytes.NewBuffer(wire)}, nil)
	if err := thrift.SkipDefaultDepth(context.Background(), p, thrift.STRUCT); err != nil {
		return fmt.Errorf("Apache's library: %w", err)
	}
	if left := p.Transport().RemainingBytes(); left != 0 {
		return fmt.Errorf("Apache's library leaves %d bytes", left)
	}
	return m.check(parsed, false)
}

// change changes the message and the model, and returns a description of the change.
func (m *rowsModel) change(s shapes.Lists) string {
	n := len(m.refusals)
	k := m.IntN(14)
	if n == 0 && k >= 6 {
		k %= 6
	}
	switch k {
	case 0:
		m.refusals = many(m, m.refused)
		s.SetRefusalsOf(m.refusals)
		return "SetRefusalsOf"
	case 1:
		m.refusals = many(m, m.refused)
		s.SetRefusalsBy(len(m.refusals), func(i int) shapes.RefusedFields { return m.refusals[i] })
		return "SetRefusalsBy"
	case 2:
		m.points = many(m, func() shapes.PointFields { return shapes.PointFields{X: int32(m.IntN(9))} })
		s.SetPointsOf(m.points)
		return "SetPointsOf"
	case 3:
		m.texts, m.blobs = many(m, m.text), many(m, func() []byte { return []byte(m.text()) })
		m.refusals, m.points = many(m, m.refused), nil
		s.Set(shapes.ListsFields{Refusals: m.refusals, Texts: m.texts, Blobs: m.blobs})
		return "Set"
	case 4:
		of := m.refused()
		m.refusals = append(m.refusals, of)
		if !s.IsSetRefusals() {
			s.NewRefusals(0)
		}
		s.GetRefusals().AppendNew().Set(of)
		return "AppendNew().Set"
	case 5:
		s.Message().Finish()
		return "Finish"
	case 6:
		i := m.IntN(n)
		m.refusals[i] = m.refused()
		s.GetRefusals().At(i).Set(m.refusals[i])
		return fmt.Sprint("At().Set ", i)
	case 7:
		i := m.IntN(n)
		m.refusals[i].Reason = m.text()
		s.GetRefusals().At(i).SetReason(m.refusals[i].Reason)
		return fmt.Sprint("SetReason ", i)
	case 8:
		i := m.IntN(n)
		m.refusals[i].Where = nocopy.Some(shapes.PointFields{X: 4})
		s.GetRefusals().At(i).NewWhere().Set(m.refusals[i].Where.Value)
		return fmt.Sprint("NewWhere ", i)
	case 9:
		i := m.IntN(n)
		m.refusals[i].Where = nocopy.Opt[shapes.PointFields]{}
		s.GetRefusals().At(i).UnsetWhere()
		return fmt.Sprint("UnsetWhere ", i)
	case 10:
		i, j := m.IntN(n), m.IntN(n)
		m.refusals[i], m.refusals[j] = m.refusals[j], m.refusals[i]
		s.GetRefusals().Swap(i, j)
		return fmt.Sprint("Swap ", i, j)
	case 11:
		i := m.IntN(n)
		m.refusals = slices.Delete(m.refusals, i, i+1)
		s.GetRefusals().Delete(i, i+1)
		return fmt.Sprint("Delete ", i)
	case 12:
		i, j := m.IntN(n), m.IntN(n)
		m.refusals[i] = m.refusals[j]
		s.GetRefusals().Set(i, s.GetRefusals().At(j))
		return fmt.Sprint("Set ", i, j)
	}
	i := m.IntN(n)
	func() {
		defer func() { recover() }()
		s.SetRefusalsBy(n, func(k int) shapes.RefusedFields {
			if k == i {
				panic("enough")
			}
			return m.refused()
		})
	}()
	return fmt.Sprint("SetRefusalsBy panics ", i)
}

// replace sets the lists of a message and in the model anew, and returns a description of that.
func (m *rowsModel) replace(s shapes.Outer) (done string) {
	if m.IntN(3) == 0 {
		s.UnsetLists()
		done = "UnsetLists, "
	}
	m.refusals, m.texts, m.blobs, m.points = many(m, m.refused), many(m, m.text), nil, nil
	s.NewLists().Set(shapes.ListsFields{Refusals: m.refusals, Texts: m.texts})
	return done + "NewLists().Set"
}

// TestFieldsModel compares messages with the model. Structs are set as a whole and field by field,
// in any order, in messages that are built, received, finished, lazy, recycled, owned and shared.
func TestFieldsModel(t *testing.T) {
	r := rand.New(rand.NewPCG(testmode.Seed(t), 2))
	for round := range testmode.Of(60, 800) {
		m := &rowsModel{Rand: r}
		m.refusals, m.texts = many(m, m.refused), many(m, m.text)
		opts := [][]nocopy.Option{nil, {nocopy.Recycle}, {nocopy.Lazy}, {nocopy.Own}, {nocopy.Lazy, nocopy.Recycle}}[r.IntN(5)]
		if r.IntN(2) == 0 {
			opts = slices.DeleteFunc(slices.Clone(opts), func(o nocopy.Option) bool { return o == nocopy.Lazy || o == nocopy.Own })
		}
		s := shapes.NewListsOf(shapes.ListsFields{Refusals: m.refusals, Texts: m.texts}, opts...)
		done := []string{"NewListsOf"}
		root := nocopy.Struct(s)
		var outer shapes.Outer // has s, if nested
		switch r.IntN(4) {
		case 0: // received
			parsed, err := shapes.ParseLists(s.Message().AppendTo(nil), opts...)
			if err != nil {
				t.Fatal(err)
			}
			s.Release()
			s, root, done = parsed, nocopy.Struct(parsed), append(done, "parsed")
		case 1: // nested
			outer = shapes.NewOuter(opts...)
			outer.NewLists().Set(shapes.ListsFields{Refusals: m.refusals, Texts: m.texts})
			outer.NewOrigin().Set(shapes.PointFields{X: 1})
			s.Release()
			s, root, done = outer.GetLists(), nocopy.Struct(outer), append(done, "nested")
		case 2: // shared
			other := shapes.NewOuter()
			other.SetLists(s)
			done = append(done, "shared")
			defer func(want rowsModel, refusals []shapes.RefusedFields) {
				want.refusals = refusals
				if err := want.check(other.GetLists(), false); err != nil {
					t.Errorf("round %d, %v: what it was shared with: %v", round, opts, err)
				}
			}(*m, slices.Clone(m.refusals))
		}
		for range 1 + r.IntN(12) {
			if nocopy.Struct(s) == root || r.IntN(4) > 0 {
				done = append(done, m.change(s))
			} else {
				done = append(done, m.replace(outer))
				s = outer.GetLists()
			}
			if err := m.check(s, r.IntN(3) == 0 && nocopy.Struct(s) == root); err != nil {
				t.Fatalf("round %d, %v, %v: %v", round, opts, done, err)
			}
		}
		wire := root.Message().AppendTo(nil)
		if nocopy.Struct(s) != root {
			parsed, err := shapes.ParseOuter(wire)
			if err != nil {
				t.Fatal(err)
			}
			s = parsed.GetLists()
		}
		if err := m.check(s, false); err != nil {
			t.Fatalf("round %d, %v, %v: %v", round, opts, done, err)
		}
		root.Release()
	}
}
