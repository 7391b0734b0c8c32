package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// methodNamed returns a method of the service Echo.
func methodNamed(t *testing.T, name string) *rpc.Method {
	for _, m := range echo.NewEchoProcessor(&handler{}).Methods() {
		if m.Name == name {
			return m
		}
	}
	t.Fatal("no such method: ", name)
	return nil
}

// TestRetryPolicy: exactly the calls are repeated that Retry's documentation names, as often as
// the policy allows, and the error reports whether the server may have handled the call.
func TestRetryPolicy(t *testing.T) {
	unsent := fmt.Errorf("rpc: add: %w: %w", rpc.ErrNotSent, io.EOF)
	lost := fmt.Errorf("rpc: add: %w: %w", rpc.ErrConnLost, io.EOF)
	closed := fmt.Errorf("rpc: add: %w: %w", rpc.ErrNotSent, rpc.ErrClientClosed)
	large := fmt.Errorf("rpc: add: %w: %w", rpc.ErrConnLost, nocopy.ErrLimit)
	answer := &rpc.ApplicationException{Type: rpc.InternalError}
	refused := fmt.Errorf("rpc: %w", rpc.ErrNotHandled)
	idempotent := []string{"add", "other:put"}
	for _, c := range []struct {
		name   string
		method string
		policy rpc.RetryPolicy
		fails  []error // of the tries; the next one succeeds
		tries  int
		is     error // nil: the call succeeds
	}{
		{"success", "add", rpc.RetryPolicy{}, nil, 1, nil},
		{"not sent", "put", rpc.RetryPolicy{}, []error{unsent}, 2, nil},
		{"not sent, twice", "put", rpc.RetryPolicy{}, []error{unsent, unsent}, 3, nil},
		{"not sent, three times", "put", rpc.RetryPolicy{}, []error{unsent, unsent, unsent}, 3, rpc.ErrNotSent},
		{"not sent, five tries", "put", rpc.RetryPolicy{MaxTries: 5}, []error{unsent, unsent, unsent, unsent}, 5, nil},
		{"not sent, one try", "put", rpc.RetryPolicy{MaxTries: 1}, []error{unsent}, 1, rpc.ErrNotSent},
		{"lost", "put", rpc.RetryPolicy{}, []error{lost}, 1, rpc.ErrConnLost},
		{"lost, another is idempotent", "put", rpc.RetryPolicy{Idempotent: idempotent}, []error{lost}, 1, rpc.ErrConnLost},
		{"lost, idempotent", "add", rpc.RetryPolicy{Idempotent: idempotent}, []error{lost, lost}, 3, nil},
		{"not sent, then lost", "put", rpc.RetryPolicy{}, []error{unsent, lost}, 2, rpc.ErrConnLost},
		{"lost, then not sent", "add", rpc.RetryPolicy{Idempotent: idempotent}, []error{lost, unsent, unsent}, 3, rpc.ErrConnLost},
		{"not handled", "put", rpc.RetryPolicy{}, []error{refused, unsent}, 3, nil},
		{"not handled, three times", "put", rpc.RetryPolicy{}, []error{refused, refused, refused}, 3, rpc.ErrNotHandled},
		{"not handled, then lost", "put", rpc.RetryPolicy{}, []error{refused, lost}, 2, rpc.ErrConnLost},
		{"lost, then not handled", "add", rpc.RetryPolicy{Idempotent: idempotent}, []error{lost, refused, refused}, 3, rpc.ErrConnLost},
		{"lost, then answered", "add", rpc.RetryPolicy{Idempotent: idempotent}, []error{lost, answer}, 2, answer},
		{"answered", "add", rpc.RetryPolicy{Idempotent: idempotent}, []error{answer}, 1, answer},
		{"too large", "add", rpc.RetryPolicy{Idempotent: idempotent}, []error{large}, 1, nocopy.ErrLimit},
		{"the client is closed", "add", rpc.RetryPolicy{Idempotent: idempotent}, []error{closed}, 1, rpc.ErrClientClosed},
		{"the context has ended", "add", rpc.RetryPolicy{Idempotent: idempotent}, []error{context.Canceled}, 1, context.Canceled},
		{"no limit but the budget", "add", rpc.RetryPolicy{MaxTries: -1}, slices.Repeat([]error{unsent}, 20), 11, rpc.ErrNotSent},
		{"no limit", "add", rpc.RetryPolicy{MaxTries: -1, Budget: -1}, slices.Repeat([]error{unsent}, 50), 51, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				err := rpc.Retry(c.policy)(bg, &rpc.Call{Method: methodNamed(t, c.method)}, func(context.Context, *rpc.Call) error {
					if tries++; tries <= len(c.fails) {
						return c.fails[tries-1]
					}
					return nil
				})
				if tries != c.tries || !errors.Is(err, c.is) || (err == nil) != (c.is == nil) {
					t.Errorf("%d tries, %v; want %d, %v", tries, err, c.tries, c.is)
				}
				if c.is == rpc.ErrConnLost && (errors.Is(err, rpc.ErrNotSent) || errors.Is(err, rpc.ErrNotHandled)) {
					t.Errorf("%v: it is said not to have been sent, or handled", err)
				}
				if err != nil && strings.Count(err.Error(), "rpc: ") > 1 {
					t.Errorf("%v: two prefixes", err)
				}
			})
		})
	}
}

// TestRetryPauses: pauses double, are different, and end with the call's context.
func TestRetryPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		unsent := func(context.Context, *rpc.Call) error { return rpc.ErrNotSent }
		call := &rpc.Call{Method: methodNamed(t, "add")}
		retry := rpc.Retry(rpc.RetryPolicy{MaxTries: 7, MinPause: 100 * time.Millisecond, MaxPause: 400 * time.Millisecond, Budget: -1})
		lengths := map[time.Duration]bool{}
		for range 5 {
			var at []time.Time
			retry(bg, call, func(context.Context, *rpc.Call) error {
				at = append(at, time.Now())
				return rpc.ErrNotSent
			})
			for i, most := range []time.Duration{100, 200, 400, 400, 400, 400} {
				d, most := at[i+1].Sub(at[i]), most*time.Millisecond
				if lengths[d] = true; d < most/2 || d > most {
					t.Errorf("pause %d is %v", i+1, d)
				}
			}
		}
		if len(lengths) < 10 {
			t.Errorf("pauses of %d lengths only", len(lengths))
		}
		ctx, cancel := context.WithTimeout(bg, 40*time.Millisecond)
		defer cancel()
		start := time.Now()
		if err := retry(ctx, call, unsent); !errors.Is(err, rpc.ErrNotSent) || time.Since(start) != 40*time.Millisecond {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

// TestRetryBudget: when everything fails, repetitions are a tenth of the calls.
func TestRetryBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		retry, tries := rpc.Retry(rpc.RetryPolicy{}), 0
		for range 1000 {
			retry(bg, &rpc.Call{Method: methodNamed(t, "add")}, func(context.Context, *rpc.Call) error {
				tries++
				return rpc.ErrNotSent
			})
		}
		if tries < 1100 || tries > 1111 {
			t.Errorf("%d tries of 1000 calls", tries)
		}
	})
}

// TestRetrySaves: calls save for at most 10 repetitions, and a repetition needs a whole one.
func TestRetrySaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		retry := rpc.Retry(rpc.RetryPolicy{MaxTries: -1, Budget: 0.25})
		triesOf := func(err error) (tries int) {
			retry(bg, &rpc.Call{Method: methodNamed(t, "add")}, func(context.Context, *rpc.Call) error {
				tries++
				return err
			})
			return tries
		}
		for range 1000 {
			triesOf(nil)
		}
		var got []int
		for range 9 {
			got = append(got, triesOf(rpc.ErrNotSent))
		}
		if want := []int{11, 1, 1, 1, 2, 1, 1, 1, 2}; !slices.Equal(got, want) {
			t.Errorf("%d tries, not %d", got, want)
		}
	})
}

// ExampleRetry repeats calls that were not sent, such as while a server starts anew, and reads
// also if the connection was lost meanwhile.
func ExampleRetry() {
	retry := rpc.Retry(rpc.RetryPolicy{Idempotent: []string{"add"}})
	cl, err := rpc.Dial(context.Background(), "tcp", "127.0.0.1:1", rpc.Interceptors(retry))
	if err != nil {
		fmt.Println("nobody listens there")
		return
	}
	defer cl.Close()
	// Output: nobody listens there
}
