package nocopyotel

import (
	"context"
	"math"
	"strconv"
	"time"
)

// TimeoutKey is the key of the time that is left for a call when it is sent, in the form of
// grpc-timeout: one to eight digits and a unit, H, M, S, m, u or n for hours to nanoseconds. The
// server's context has a deadline that long after the arguments were parsed, unless it ends
// earlier; a value of another form is ignored. Oneway calls have none: nobody waits for them.
const TimeoutKey = "thrift-timeout"

var units = []struct {
	name byte
	unit time.Duration
}{{'n', time.Nanosecond}, {'u', time.Microsecond}, {'m', time.Millisecond}, {'S', time.Second}, {'M', time.Minute}, {'H', time.Hour}}

const maxDigits = 8

// formatTimeout returns d, rounded up, in the smallest unit in which it has up to eight digits.
func formatTimeout(d time.Duration) string {
	d = max(d, 0)
	for _, u := range units {
		n := d / u.unit
		if d%u.unit > 0 {
			n++
		}
		if n < 1e8 {
			return strconv.FormatInt(int64(n), 10) + string(u.name)
		}
	}
	panic("unreachable: a Duration has fewer than 1e8 hours")
}

// parseTimeout returns the time that s is, and whether it is one. More than a Duration holds is
// its maximum.
func parseTimeout(s string) (time.Duration, bool) {
	if len(s) < 2 || len(s) > maxDigits+1 {
		return 0, false
	}
	n := time.Duration(0)
	for _, c := range []byte(s[:len(s)-1]) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + time.Duration(c-'0')
	}
	for _, u := range units {
		if u.name == s[len(s)-1] {
			if n > math.MaxInt64/u.unit {
				return math.MaxInt64, true
			}
			return n * u.unit, true
		}
	}
	return 0, false
}

// withTimeout returns ctx with the deadline that the map has, if it has one.
func withTimeout(ctx context.Context, c *carrier) (context.Context, context.CancelFunc) {
	d, ok := parseTimeout(c.Get(TimeoutKey))
	if !ok || d == math.MaxInt64 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d)
}
