package shapes_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

func point(x int32) shapes.Point {
	p := shapes.NewPoint()
	p.SetX(x)
	return p
}

// message returns a message with values that TestReplacedValues replaces or removes.
func message() shapes.Maps {
	m := shapes.NewMaps()
	byNumber, byPoint, series := m.NewPointByNumber(3), m.NewByPoints(), m.NewSeries()
	for i := range int32(3) {
		byNumber.PutNew(i).SetX(i)
	}
	for i := range int32(3) {
		byPoint.Append(fmt.Sprint(i)).SetX(i)
	}
	for i := range 3 {
		series.PutNew(fmt.Sprint(i), 1).Set(0, int64(i))
	}
	return m
}

// lists is like message, for lists.
func lists() shapes.Lists {
	l := shapes.NewLists()
	points, matrix := l.NewPoints(3), l.NewMatrix(3)
	for i := range 3 {
		points.At(i).SetX(int32(i))
	}
	for i := range 3 {
		matrix.NewAt(i, 1).Set(0, int64(i))
	}
	return l
}

// inEveryState calls f with messages that were built, finished, received with several options, and
// received in several pieces.
func inEveryState[S nocopy.StructView](t *testing.T, build func() S, parse func(b []byte, opts ...nocopy.Option) (S, error), f func(t *testing.T, s S)) {
	t.Run("built", func(t *testing.T) { f(t, build()) })
	t.Run("finished", func(t *testing.T) {
		s := build()
		nocopy.Struct(s).Message().Finish()
		f(t, s)
	})
	for _, opts := range [][]nocopy.Option{nil, {nocopy.Own}, {nocopy.Lazy}, {nocopy.Recycle}} {
		t.Run(fmt.Sprint("parsed ", opts), func(t *testing.T) {
			s, err := parse(nocopy.Struct(build()).Message().AppendTo(nil), opts...)
			if err != nil {
				t.Fatal(err)
			}
			f(t, s)
		})
	}
	t.Run("in blocks", func(t *testing.T) {
		s := build()
		var blocks [][]byte
		for b := nocopy.Struct(s).Message().AppendTo(nil); len(b) > 0; b = b[min(len(b), 29):] {
			blocks = append(blocks, b[:min(len(b), 29)])
		}
		parsed, err := nocopy.ParseBlocks[S](s.ThriftDesc(), blocks)
		if err != nil {
			t.Fatal(err)
		}
		f(t, parsed)
	})
}

// wantPoint fails unless p, and copies of it, are the point with this x.
func wantPoint(t *testing.T, p shapes.Point, x int32) {
	t.Helper()
	want := point(x)
	to := shapes.NewLists()
	to.NewPoints(0).Append(p)
	sent, err := shapes.ParseLists(to.Message().AppendTo(nil))
	if err != nil {
		t.Fatalf("point %d set in another message: %v", x, err)
	}
	if p.GetX() != x || !p.Equal(want) || !p.Clone().Equal(want) || !sent.GetPoints().At(0).Equal(want) || !bytes.Equal(p.AppendTo(nil), p.Clone().AppendTo(nil)) {
		t.Errorf("want point %d: reads %v, cloned %v, set elsewhere %v", x, p, p.Clone(), sent.GetPoints())
	}
}

// wantNumbers fails unless l, and copies of it, have only this number.
func wantNumbers(t *testing.T, l nocopy.Int64List, x int64) {
	t.Helper()
	want := fmt.Sprintf("[%d]", x)
	to := shapes.NewLists()
	to.NewMatrix(0).Append(l)
	sent, err := shapes.ParseLists(to.Message().AppendTo(nil))
	if err != nil {
		t.Fatalf("%s set in another message: %v", want, err)
	}
	if got := sent.GetMatrix().At(0).String(); l.String() != want || got != want || !l.Equal(sent.GetMatrix().At(0)) {
		t.Errorf("want %s: reads %v, set elsewhere %v", want, l, got)
	}
}

// TestReplacedValues: a handle of a replaced or removed value keeps reading the old value: with
// getters, and when its wire bytes are copied, compared, or set in another message.
func TestReplacedValues(t *testing.T) {
	inEveryState(t, message, shapes.ParseMaps, func(t *testing.T, m shapes.Maps) {
		values := m.GetPointByNumber()
		replaced, _ := values.Get(0)
		renewed, _ := values.Get(1)
		deleted, _ := values.Get(2)
		values.Put(0, point(10))
		values.PutNew(1).SetX(11)
		values.Delete(2)
		wantPoint(t, replaced, 0)
		wantPoint(t, renewed, 1)
		wantPoint(t, deleted, 2)

		series := m.GetSeries()
		renewedList, _ := series.Get("1")
		deletedList, _ := series.Get("2")
		series.PutNew("1", 3)
		series.Delete("2")
		wantNumbers(t, renewedList, 1)
		wantNumbers(t, deletedList, 2)

		var keys []shapes.Point
		for k := range m.GetByPoints().All() {
			keys = append(keys, k)
		}
		m.GetByPoints().Delete(point(0))
		m.GetByPoints().Delete(keys[2])
		for x, k := range keys {
			wantPoint(t, k, int32(x))
		}
		again, err := shapes.ParseMaps(m.AppendTo(nil))
		if err != nil || again.String() != m.String() {
			t.Errorf("the message reads %v and is sent as %v, %v", m, again, err)
		}
	})
	inEveryState(t, lists, shapes.ParseLists, func(t *testing.T, l shapes.Lists) {
		matrix, points := l.GetMatrix(), l.GetPoints()
		var rows []nocopy.Int64List
		for _, row := range matrix.All() {
			rows = append(rows, row)
		}
		matrix.Set(0, rows[2])
		matrix.NewAt(1, 5)
		matrix.Delete(2, 3)
		for x, row := range rows {
			wantNumbers(t, row, int64(x))
		}
		last := points.At(2)
		points.Swap(0, 2)
		points.Delete(0, 1)
		wantPoint(t, last, 2)
		wantPoint(t, points.At(1), 0)
		points.Set(1, point(7))
		wantPoint(t, points.At(1), 7)
		again, err := shapes.ParseLists(l.AppendTo(nil))
		if err != nil || again.String() != l.String() {
			t.Errorf("the message reads %v and is sent as %v, %v", l, again, err)
		}
	})
}
