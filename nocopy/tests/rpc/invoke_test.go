package rpc_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// invoke calls put of h with an item in mode "m" and returns the result, which is written.
func invoke(t *testing.T, h putHandler, args []byte) (result echo.EchoPutResult, written bool, err error) {
	t.Helper()
	err = putMethod(t, h).Invoke(t.Context(), args, nocopy.Limits{}, func(b []byte) error {
		written = true
		r, err := echo.ParseEchoPutResult([]byte(string(b)))
		result = r
		return err
	})
	return result, written, err
}

// putMethod returns the method put, handled by h.
func putMethod(t *testing.T, h putHandler) *rpc.Method {
	t.Helper()
	for name, m := range echo.NewEchoProcessor(&custom{put: h}).Methods() {
		if name == "put" {
			return m
		}
	}
	t.Fatal("there is no put")
	return nil
}

func putArgs() []byte {
	args := echo.NewEchoPutArgs()
	args.SetMode("m")
	args.NewItem().SetName("7")
	return args.Message().Bytes()
}

// isPanic is an error that panics when a caller asks what it is.
type isPanic struct{}

func (isPanic) Error() string { return "is" }
func (isPanic) Is(error) bool { panic("a secret") }

// TestInvoke: for all outcomes of a handler, Invoke returns the answer that a server would send.
func TestInvoke(t *testing.T) {
	missing := echo.NewNotFound()
	missing.SetKey("k")
	gone := echo.NewNotFound()
	gone.Release()
	own := echo.NewEchoPutResult()
	own.NewSuccess().SetName("9")
	var kept echo.EchoPutArgs
	internal := func(err error) bool {
		var e *rpc.ApplicationException
		return errors.As(err, &e) && e.Type == rpc.InternalError && strings.HasPrefix(e.Message, "the server has failed; its log tells why under id ")
	}
	isMissing := func(err error) bool {
		var e echo.NotFound
		return errors.As(err, &e) && e.GetKey() == "k"
	}
	plain := errors.New("plain")
	for _, c := range []struct {
		name    string
		handler putHandler
		written bool
		want    func(r echo.EchoPutResult, err error) bool
	}{
		{"result", func(_ context.Context, args echo.EchoPutArgs, r echo.EchoPutResult) error {
			kept = args
			r.SetSuccess(args.GetItem())
			return nil
		}, true, func(r echo.EchoPutResult, err error) bool { return err == nil && r.GetSuccess().GetName() == "7" }},
		{"exception returned", func(context.Context, echo.EchoPutArgs, echo.EchoPutResult) error { return missing },
			true, func(r echo.EchoPutResult, err error) bool { return isMissing(err) && r.GetMissing().GetKey() == "k" }},
		{"exception put", func(_ context.Context, _ echo.EchoPutArgs, r echo.EchoPutResult) error {
			r.NewMissing().SetKey("k")
			return nil
		}, true, func(r echo.EchoPutResult, err error) bool { return isMissing(err) && r.GetMissing().GetKey() == "k" }},
		{"error", func(context.Context, echo.EchoPutArgs, echo.EchoPutResult) error { return plain },
			false, func(_ echo.EchoPutResult, err error) bool { return err == plain }},
		{"error whose Is panics", func(context.Context, echo.EchoPutArgs, echo.EchoPutResult) error { return isPanic{} },
			false, func(_ echo.EchoPutResult, err error) bool { return internal(err) }},
		{"released exception", func(context.Context, echo.EchoPutArgs, echo.EchoPutResult) error { return gone },
			false, func(_ echo.EchoPutResult, err error) bool { return internal(err) }},
		{"panic", func(context.Context, echo.EchoPutArgs, echo.EchoPutResult) error { panic("a secret") },
			false, func(_ echo.EchoPutResult, err error) bool {
				return internal(err) && !strings.Contains(err.Error(), "secret")
			}},
		{"released args", func(_ context.Context, args echo.EchoPutArgs, _ echo.EchoPutResult) error {
			args.Release()
			return nil
		}, false, func(_ echo.EchoPutResult, err error) bool { return internal(err) }},
		{"released result", func(_ context.Context, _ echo.EchoPutArgs, r echo.EchoPutResult) error {
			r.Release()
			return nil
		}, false, func(_ echo.EchoPutResult, err error) bool { return internal(err) }},
		{"released message", func(_ context.Context, args echo.EchoPutArgs, r echo.EchoPutResult) error {
			args.Message().Release()
			r.Message().Release()
			return plain
		}, false, func(_ echo.EchoPutResult, err error) bool { return err == plain }},
	} {
		r, written, err := invoke(t, c.handler, putArgs())
		if written != c.written || !c.want(r, err) {
			t.Errorf("%s: %v, written %v, %v", c.name, r, written, err)
		}
	}
	if missing.GetKey() != "k" || own.GetSuccess().GetName() != "9" {
		t.Error("a handler's own exception was released")
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("args outlive the call")
			}
		}()
		kept.GetMode()
	}()
	var e *rpc.ApplicationException
	if _, written, err := invoke(t, nil, putArgs()[:3]); written || !errors.As(err, &e) || e.Type != rpc.ProtocolError {
		t.Errorf("malformed arguments: %v", err)
	}
	args := echo.NewEchoPutArgs()
	args.SetMode("m")
	b := args.Message().Bytes()
	for name, m := range echo.NewEchoProcessor(&custom{put: func(_ context.Context, _ echo.EchoPutArgs, r echo.EchoPutResult) error {
		r.NewSuccess()
		return nil
	}}).Methods() {
		if name == "put" {
			if err := m.Invoke(t.Context(), b, nocopy.Limits{}, func([]byte) error { return plain }); err != plain {
				t.Errorf("%v, not the error of write", err)
			}
		}
	}
}

// Invoking a method is as safe as serving it: no handler's mistake is a panic, and the error can
// be printed.
func TestInvokeCareless(t *testing.T) {
	for name, h := range careless {
		done := make(chan error, 1)
		go func() {
			defer close(done) // also if the handler ends its goroutine
			_, written, err := invoke(t, h, putArgs())
			if err == nil || written {
				t.Errorf("%s: written %v, %v", name, written, err)
				return
			}
			done <- err
		}()
		if err := <-done; err != nil && strings.Contains(err.Error(), "panics: secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
