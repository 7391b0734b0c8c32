//go:build !nocopydebug

// With the tag, memory is not used again.

package dynamic_test

import (
	"runtime"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
)

const releasedIDL = `
struct K { 1: optional i32 a, 2: optional K k }
struct R {
  1: map<K,i32> m, 2: K k, 3: list<i32> l, 4: list<K> ks, 5: set<K> s, 6: map<list<i32>,K> ml, 7: map<K,map<K,K>> deep, 8: set<list<i32>> sl,
  9: map<set<K>,i32> ms
}`

// TestGoValuesReleased: messages that are made for Go values are released, also after errors:
// their memory is used again for the next one.
func TestGoValuesReleased(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	s, err := dynamic.LoadText(map[string]string{"released.thrift": releasedIDL})
	if err != nil {
		t.Fatal(err)
	}
	typ, _ := s.Struct("R")
	type fields = map[string]any
	key := fields{"a": 1, "k": fields{"a": 2}}
	m, err := typ.FromMap(fields{
		"m": []dynamic.Pair{{Key: key, Value: 5}}, "ks": []any{key}, "s": []any{key}, "ml": []dynamic.Pair{{Key: []int{1}, Value: key}},
		"deep": []dynamic.Pair{{Key: key, Value: []dynamic.Pair{{Key: key, Value: key}}}}, "sl": [][]int{{1}},
		"ms": []dynamic.Pair{{Key: []any{key, fields{}}, Value: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Release()
	mapOf := func(name string) interface {
		Put(k, v any) error
		Delete(k any) (bool, error)
	} {
		v, _ := m.Get(name)
		return v.Map()
	}
	for name, f := range map[string]func() error{
		"Set a struct": func() error { return m.Set("k", key) }, "Set a list": func() error { return m.Set("l", []int{1, 2}) },
		"Set a map": func() error { return m.Set("m", []dynamic.Pair{{Key: key, Value: 5}}) },
		"Set a set": func() error { return m.Set("s", []any{key}) },
		"Set maps in maps": func() error {
			return m.Set("deep", []dynamic.Pair{{Key: key, Value: []dynamic.Pair{{Key: key, Value: key}}}})
		},
		"Set a wrong struct": func() error { wrong(t, m.Set("k", fields{"a": 1, "b": 2})); return nil },
		"Set a wrong list":   func() error { wrong(t, m.Set("l", []any{1, "x"})); return nil },
		"Set a wrong key": func() error {
			wrong(t, m.Set("m", []dynamic.Pair{{Key: key, Value: 1}, {Key: fields{"k": fields{"a": "x"}}, Value: 5}}))
			return nil
		},
		"Set a wrong value": func() error {
			wrong(t, m.Set("ml", []dynamic.Pair{{Key: []int{1}, Value: fields{"a": "x"}}}))
			return nil
		},
		"List.Set": func() error { v, _ := m.Get("ks"); return v.List().Set(0, key) },
		"List.Set of a wrong value": func() error {
			v, _ := m.Get("ks")
			wrong(t, v.List().Set(0, fields{"x": 1}))
			return nil
		},
		"List.Append": func() error {
			v, _ := m.Get("ks")
			defer v.List().Delete(1, 2)
			return v.List().Append(key)
		},
		"Map.Get": func() error {
			v, _ := m.Get("m")
			x, ok, err := v.Map().Get(key)
			if !ok || x.Int() != 5 {
				t.Fatal("there is no such key")
			}
			return err
		},
		"Map.Get of a wrong key": func() error {
			v, _ := m.Get("m")
			_, _, err := v.Map().Get(fields{"a": "x"})
			wrong(t, err)
			return nil
		},
		"Map.Put":               func() error { return mapOf("ml").Put([]int{1}, key) },
		"Map.Put a wrong value": func() error { wrong(t, mapOf("ml").Put([]int{1}, fields{"a": "x"})); return nil },
		"Map.PutNew": func() error {
			v, _ := m.Get("ml")
			x, err := v.Map().PutNew([]int{1})
			if err == nil {
				err = x.Message().Set("a", 1)
			}
			return err
		},
		"Map.Delete": func() error { _, err := mapOf("m").Delete(fields{"a": 77}); return err },
		"FromMap":    func() error { x, err := typ.FromMap(dynamic.ToMap(m)); x.Release(); return err },
		"FromMap of a wrong value": func() error {
			_, err := typ.FromMap(fields{"m": []dynamic.Pair{{Key: key, Value: 5}, {Key: key, Value: "x"}}})
			wrong(t, err)
			return nil
		},
		"Merge with itself": func() error { x := m.Clone(); messages.Merge(x, x); x.Release(); return nil },
		"CopyInto of nothing": func() error {
			x, absent := m.Clone(), typ.New()
			v, _ := absent.Get("k")
			y, _ := x.New("k")
			messages.CopyInto(y.Message(), v.Message())
			x.Release()
			absent.Release()
			return nil
		},
	} {
		const n = 300
		f()
		var m0, m1 runtime.MemStats
		runtime.ReadMemStats(&m0)
		for range n {
			if err := f(); err != nil {
				t.Fatal(name, err)
			}
		}
		runtime.ReadMemStats(&m1)
		if got := (m1.TotalAlloc - m0.TotalAlloc) / n; got > 16<<10 {
			t.Errorf("%s: %d bytes a time", name, got)
		}
	}
}

func wrong(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("a wrong value is accepted")
	}
}

// TestManyGoKeys: very many keys that are structs or containers take memory in proportion to the
// message.
func TestManyGoKeys(t *testing.T) {
	if !testmode.InOwnProcess(t) {
		return
	}
	s, err := dynamic.LoadText(map[string]string{"released.thrift": releasedIDL})
	if err != nil {
		t.Fatal(err)
	}
	typ, _ := s.Struct("R")
	const n = 5_000
	for _, field := range []string{"m", "ml", "ms"} {
		var pairs []dynamic.Pair
		for i := range n {
			k := map[string]any{"a": i}
			switch field {
			case "m":
				pairs = append(pairs, dynamic.Pair{Key: k, Value: 1})
			case "ml":
				pairs = append(pairs, dynamic.Pair{Key: []int{i}, Value: k})
			default:
				pairs = append(pairs, dynamic.Pair{Key: []any{k}, Value: 1})
			}
		}
		var m0, m1 runtime.MemStats
		runtime.ReadMemStats(&m0)
		m, err := typ.FromMap(map[string]any{field: pairs})
		runtime.ReadMemStats(&m1)
		if got := (m1.TotalAlloc - m0.TotalAlloc) / n; err != nil || got > 4<<10 {
			t.Errorf("%s: %d bytes for each pair, %v", field, got, err)
		}
		if v, _ := m.Get(field); v.Map().Len() != n {
			t.Errorf("%s: %d pairs", field, v.Map().Len())
		}
		again, err := typ.Parse(m.Message().AppendTo(nil), nocopy.Limits{})
		if err != nil || !messages.Equal(m, again) {
			t.Errorf("%s: sent it is another message, %v", field, err)
		}
		m.Release()
		again.Release()
	}
}
