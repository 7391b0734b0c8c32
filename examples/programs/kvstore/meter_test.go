package main

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestBuckets(t *testing.T) {
	last := -1
	for d := time.Duration(0); d < time.Hour; d += 1 + d/200 {
		b := bucket(d)
		if b < last || b > last+1 {
			t.Fatalf("bucket(%d) = %d after %d", d, b, last)
		}
		last = b
		if u := upper(b); u < d || float64(u) > float64(d)*1.02+1 {
			t.Fatalf("upper(bucket(%d)) = %d", d, u)
		}
		if upper(b) >= upper(b+1) || bucket(upper(b)) != b || bucket(upper(b)+1) != b+1 {
			t.Fatalf("bucket %d ends at %d", b, upper(b))
		}
	}
	// A clock that went back, and none that ever comes
	for _, d := range []time.Duration{-1, 1<<63 - 1} {
		if b := bucket(d); b != 0 && b != 40<<subBits-1 {
			t.Errorf("bucket(%d) = %d", d, b)
		}
	}
}

func TestQuantiles(t *testing.T) {
	m := new(meter)
	m.add(time.Hour, 1) // before the first reading: it must not count
	before := m.read()
	var all []time.Duration
	for range 10_000 {
		d := time.Duration(rand.ExpFloat64() * float64(time.Millisecond))
		m.add(d, 10)
		all = append(all, d)
	}
	slices.Sort(all)
	after := m.read()
	for _, share := range []float64{0.01, 0.5, 0.99, 0.9999} {
		want := all[int(share*float64(len(all)))]
		if got := after.quantile(before, share); got < want || float64(got) > 1.02*float64(want)+1 {
			t.Errorf("quantile %v is %v, want %v", share, got, want)
		}
	}
	if n := after.bytes - before.bytes; n != 100_000 {
		t.Errorf("%d bytes", n)
	}
}

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0s", 999: "999ns", 123456: "123µs", 1999999: "2ms", 12345678901: "12.3s"} {
		if got := short(d).String(); got != want {
			t.Errorf("short(%d) = %s, want %s", d, got, want)
		}
	}
}
