package jsonvalue

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
)

func TestJSONInts(t *testing.T) {
	check := func(v int64) {
		if got, want := string(appendInt([]byte("x"), v)), "x"+strconv.FormatInt(v, 10); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
	for v := range int64(testmode.Of(20_000, 100_000)) {
		check(v)
		check(99_999_999 - v)
		check(-v * 1009)
	}
	for p := int64(1); ; p *= 10 {
		for d := int64(-11); d <= 11; d++ {
			check(p + d)
			check(-p - d)
		}
		if p > math.MaxInt64/10 {
			break
		}
	}
	check(math.MinInt64)
	check(math.MaxInt64)
	r := rand.New(rand.NewPCG(1, 2))
	for range testmode.Of(20_000, 200_000) {
		check(r.Int64() >> r.IntN(63))
		check(-r.Int64() >> r.IntN(63))
	}
	for v := uint64(0); v < 1e8; v += 97 {
		x := digitsOfEight(v)
		for i := range 8 {
			if want := strconv.FormatUint(1e8+v, 10)[1+i]; byte(x>>(8*i)) != want {
				t.Fatalf("%d: digit %d is %c, want %c", v, i, byte(x>>(8*i)), want)
			}
		}
	}
}
