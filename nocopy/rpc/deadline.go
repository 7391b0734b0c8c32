package rpc

import (
	"context"
	"math"
	"strconv"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/header"
)

// TimeoutKey is the name of the header with the time that was left for a call when it was sent.
// Its value has the form of grpc-timeout: one to eight digits and a unit, H, M, S, m, u or n for
// hours to nanoseconds.
const TimeoutKey = header.TimeoutKey

// SendDeadline returns a copy of ctx with the header TimeoutKey: the time until ctx's deadline,
// rounded up to eight digits. If ctx has no deadline, that header is removed: the one of a call
// that is forwarded no longer holds. The option Deadlines does this for each try of a call.
func SendDeadline(ctx context.Context) context.Context {
	if deadline, ok := ctx.Deadline(); ok {
		return SetHeader(ctx, TimeoutKey, formatTimeout(time.Until(deadline)))
	}
	return withoutDeadline(ctx)
}

func withoutDeadline(ctx context.Context) context.Context {
	if Header(ctx, TimeoutKey) != "" {
		ctx = SetHeader(ctx, TimeoutKey, "")
	}
	return ctx
}

// ReceiveDeadline returns a copy of ctx, a handler's, that ends after the time in the header
// TimeoutKey. If ctx ends earlier, or the header is not there or has another form, it ends with
// ctx. The caller must call cancel to free resources, as with context.WithTimeout.
// Server.Deadlines does this for each call.
func ReceiveDeadline(ctx context.Context) (_ context.Context, cancel context.CancelFunc) {
	d, ok := parseTimeout(Header(ctx, TimeoutKey))
	if !ok || d == math.MaxInt64 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d)
}

var timeoutUnits = []struct {
	name byte
	unit time.Duration
}{{'n', time.Nanosecond}, {'u', time.Microsecond}, {'m', time.Millisecond}, {'S', time.Second}, {'M', time.Minute}, {'H', time.Hour}}

const maxDigits = 8

// formatTimeout returns d, rounded up, in the smallest unit in which it has up to eight digits.
func formatTimeout(d time.Duration) string {
	d = max(d, 0)
	for _, u := range timeoutUnits {
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

// parseTimeout returns the time that s is, and whether it is one.
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
	for _, u := range timeoutUnits {
		if u.name == s[len(s)-1] {
			if n > math.MaxInt64/u.unit {
				return math.MaxInt64, true
			}
			return n * u.unit, true
		}
	}
	return 0, false
}

// sendDeadline is the interceptor of the option Deadlines.
func sendDeadline(ctx context.Context, c *Call, next Handler) error {
	if c.Method != nil && !c.Method.Oneway() {
		ctx = SendDeadline(ctx)
	} else {
		ctx = withoutDeadline(ctx)
	}
	return next(ctx, c)
}

// receiveDeadline is the interceptor of a Server's Deadlines.
func receiveDeadline(ctx context.Context, c *Call, next Handler) error {
	if c.Method.Oneway() {
		return next(ctx, c)
	}
	ctx, cancel := ReceiveDeadline(ctx)
	defer cancel()
	return next(ctx, c)
}
