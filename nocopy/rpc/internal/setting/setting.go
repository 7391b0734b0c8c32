// Package setting has what settings of servers and clients have in common: 0 is the default, and a
// negative time is no limit.
package setting

import (
	"context"
	"time"
)

// Timeout is the value of time limits of 0, unless their comments say otherwise.
const Timeout = 30 * time.Second

// Or returns the value of a setting: def if it is 0, and 0, for no limit, if it is negative.
func Or[T int | time.Duration](v, def T) T {
	if v == 0 {
		return def
	}
	return max(v, 0)
}

// WithTimeout returns a copy of ctx that ends after d, 0 for no limit, with this cause. nil is the
// usual cause.
func WithTimeout(ctx context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, d, cause)
}
