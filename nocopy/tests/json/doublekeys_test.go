package nocopyjson_test

import (
	"errors"
	"math"
	"runtime"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// TestDoubleKeysInJSON: two NaNs as keys are an error in JSON. Other doubles are never the same,
// and writing them takes no memory besides the text.
func TestDoubleKeysInJSON(t *testing.T) {
	d := thriftimpl.NewDesc("Doubles")
	d.Define(thriftimpl.FieldDesc{ID: 1, Name: "m", Type: thriftimpl.MapOf(thriftimpl.TypeDouble, thriftimpl.TypeBool)})
	m := message{thriftimpl.New(d), d}
	pairs := nocopy.Map[float64, bool, engine.AsFloat64, engine.AsBool](m.NewChild(d.Field(0), d, 0))
	for i := range 50_000 {
		pairs.Put(float64(i), true)
	}
	pairs.Put(math.NaN(), true)
	m.Message().Finish()
	text, err := nocopyjson.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = nocopyjson.Append(text[:0], m)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; err != nil || n > 1<<20 {
		t.Errorf("%d bytes are allocated; %v", n, err)
	}
	pairs.Put(math.Float64frombits(math.Float64bits(math.NaN())+1), true)
	var bad *nocopy.Error
	if _, err := nocopyjson.Marshal(m); !errors.As(err, &bad) {
		t.Errorf("two NaNs: %v", err)
	}
	m.Release()
}
