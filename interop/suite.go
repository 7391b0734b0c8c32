package interop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nocopythrift/nocopythrift/interop/thrifttest"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// The bits of the client's exit code, as Apache's test/README.md has them. No bit: all is well.
const (
	FailedBaseTypes  = 1
	FailedStructs    = 2
	FailedContainers = 4
	FailedExceptions = 8
	FailedToPrepare  = 64 // no test could be run
	TimedOut         = 128
)

// The names of the services where several share a connection.
const (
	FirstName  = "ThriftTest"
	SecondName = "SecondService"
)

// Run calls every method of the test service through c, with the names of both services if
// multiplexed, and checks what comes back. It prints a line for each call, and returns the exit
// code. After a call that takes longer than timeout, and after a first call without an answer, no
// more calls are made.
func Run(ctx context.Context, c rpc.Caller, multiplexed bool, timeout time.Duration, out io.Writer) int {
	first := c
	if multiplexed {
		first = rpc.MultiplexedCaller(c, FirstName)
	}
	_, socket := c.(*rpc.Client)
	s := &suite{waits: !socket, ctx: ctx, timeout: timeout, out: out, client: thrifttest.NewThriftTestClient(first)}
	s.baseTypes()
	s.structs()
	s.containers()
	s.exceptions()
	s.oneway()
	if multiplexed {
		s.secondService(thrifttest.NewSecondServiceClient(rpc.MultiplexedCaller(c, SecondName)))
	}
	return s.failed
}

// suite is one run of the tests.
type suite struct {
	ctx     context.Context
	timeout time.Duration // of each call
	out     io.Writer
	client  thrifttest.ThriftTestClient
	failed  int
	called  bool
	waits   bool // oneway calls may: over HTTP, servers answer them when they are handled
	stopped bool // no more calls are to be made
}

// test runs one test. It prints the call and its result, and sets the bit if there was an error.
func (s *suite) test(bit int, call string, f func(context.Context) (string, error)) {
	fmt.Fprint(s.out, abbreviate(call))
	if s.stopped {
		fmt.Fprint(s.out, " was not tested\n*** FAILURE ***\n")
		s.failed |= bit
		return
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.timeout)
	defer cancel()
	got, err := f(ctx)
	first := !s.called
	s.called = true
	if err == nil {
		fmt.Fprintf(s.out, " = %s\n", abbreviate(got))
		return
	}
	fmt.Fprintf(s.out, "\n*** FAILURE ***\n%s\n", abbreviate(err.Error()))
	s.failed |= bit
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		s.failed |= TimedOut
		s.stopped = true
	case first && !errors.As(err, new(*rpc.ApplicationException)):
		s.failed |= FailedToPrepare
		s.stopped = true
	}
}

// abbreviate returns text, shortened if it is long.
func abbreviate(s string) string {
	const most = 400
	if len(s) <= most {
		return s
	}
	return fmt.Sprintf("%s… (%d bytes)", s[:most], len(s))
}

// result is the constraint of the results of a client's methods.
type result interface{ Release() }

// echo tests a method with each of the values, which the reply must hold: set puts one into the
// arguments, get takes it from the result.
func echo[T comparable, A any, R result](s *suite, bit int, name string,
	call func(context.Context, func(A)) (R, error), set func(A, T), get func(R) T, values ...T) {
	for _, v := range values {
		s.test(bit, fmt.Sprintf("%s(%s)", name, show(v)), func(ctx context.Context) (string, error) {
			r, err := call(ctx, func(args A) { set(args, v) })
			if err != nil {
				return "", err
			}
			defer r.Release()
			return same(v, get(r))
		})
	}
}

// same returns got as text, or an error if it differs from want.
func same[T comparable](want, got T) (string, error) {
	if got != want {
		return "", fmt.Errorf("expected %s but got %s", show(want), show(got))
	}
	return show(got), nil
}

func show(v any) string {
	if s, ok := v.(string); ok {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprint(v)
}

func (s *suite) oneway() {
	s.test(FailedBaseTypes, "testOneway(1)", func(ctx context.Context) (string, error) {
		start := time.Now()
		err := s.client.TestOneway(ctx, func(args thrifttest.ThriftTestTestOnewayArgs) { args.SetSecondsToSleep(1) })
		if took := time.Since(start); err == nil && took > 500*time.Millisecond && !s.waits {
			return "", fmt.Errorf("a oneway call took %v", took)
		}
		return "void", err
	})
	// If a server answered a oneway call, the next call would read that reply.
	echo(s, FailedBaseTypes, "testI32", s.client.TestI32,
		thrifttest.ThriftTestTestI32Args.SetThing, thrifttest.ThriftTestTestI32Result.GetSuccess, -1)
}

func (s *suite) secondService(c thrifttest.SecondServiceClient) {
	s.test(FailedBaseTypes, `secondtestString("Test2")`, func(ctx context.Context) (string, error) {
		r, err := c.SecondtestString(ctx, func(args thrifttest.SecondServiceSecondtestStringArgs) { args.SetThing("Test2") })
		if err != nil {
			return "", err
		}
		defer r.Release()
		return same(`testString("Test2")`, r.GetSuccess())
	})
}
