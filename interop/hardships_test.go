// The hardships to which our client puts a server besides calling every method: methods and fields
// that it does not know, errors, large and deep values, many calls at a time.

package interop_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/interop"
	"github.com/nocopythrift/nocopythrift/interop/thrifttest"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// hard are clients of one server.
type hard struct {
	ctx    context.Context
	dialed *atomic.Int32 // connections that were made
	close  func() error  // closes the connections
	caller rpc.Caller    // without a service's name
	test   thrifttest.ThriftTestClient
	second thrifttest.SecondServiceClient
	wide   dynamic.Client // of the service in wide.thrift, under the name ThriftTest
}

func newHard(t *testing.T, port, transport, protocol string, connections int) (*hard, error) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	h := &hard{ctx: ctx, dialed: new(atomic.Int32)}
	opts := append([]rpc.Option{rpc.PoolSize(connections)}, rpc.Dialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
		h.dialed.Add(1)
		var d net.Dialer
		return d.DialContext(ctx, network, addr)
	}))
	c, err := interop.Dial(ctx, "tcp", net.JoinHostPort("127.0.0.1", port), transport, protocol, opts...)
	if err != nil {
		return nil, err
	}
	h.close = c.Close
	t.Cleanup(func() { c.Close() })
	h.caller = c
	first, second := rpc.Caller(c), rpc.Caller(c)
	if interop.Multiplexed(protocol) {
		first, second = rpc.MultiplexedCaller(c, interop.FirstName), rpc.MultiplexedCaller(c, interop.SecondName)
	}
	h.test, h.second = thrifttest.NewThriftTestClient(first), thrifttest.NewSecondServiceClient(second)
	idl, err := os.ReadFile("wide.thrift")
	if err != nil {
		return nil, err
	}
	s, err := dynamic.LoadText(map[string]string{"wide.thrift": string(idl)})
	if err != nil {
		return nil, err
	}
	wide, err := s.Service("Wide")
	if err != nil {
		return nil, err
	}
	h.wide = wide.Client(first)
	return h, nil
}

// number calls testI32, whose reply must be the same number.
func (h *hard) number(v int32) error {
	r, err := h.test.TestI32(h.ctx, func(args thrifttest.ThriftTestTestI32Args) { args.SetThing(v) })
	if err != nil {
		return err
	}
	defer r.Release()
	if got := r.GetSuccess(); got != v {
		return fmt.Errorf("testI32(%d) is %d", v, got)
	}
	return nil
}

func (h *hard) text(v string) error {
	r, err := h.test.TestString(h.ctx, func(args thrifttest.ThriftTestTestStringArgs) { args.SetThing(v) })
	if err != nil {
		return err
	}
	defer r.Release()
	if got := r.GetSuccess(); got != v {
		return fmt.Errorf("testString(%.40q), of %d bytes, is %.40q, of %d", v, len(v), got, len(got))
	}
	return nil
}

// callWide calls a method of wide.thrift's service.
func (h *hard) callWide(method string, fields m) (m, error) {
	args, err := h.wide.NewArgs(method)
	if err != nil {
		return nil, err
	}
	if args, err = dynamic.TypeOf(args).FromMap(fields); err != nil {
		return nil, err
	}
	r, err := h.wide.Call(h.ctx, method, args)
	if err != nil {
		return nil, err
	}
	defer r.Release()
	return dynamic.ToMap(r), nil
}

// isApplication returns an error unless err is an ApplicationException, of the type want unless
// that is 0.
func isApplication(err error, want rpc.ExceptionType) error {
	var app *rpc.ApplicationException
	if !errors.As(err, &app) || want != 0 && app.Type != want {
		return fmt.Errorf("%v instead of an ApplicationException of type %v", err, want)
	}
	return nil
}

// goesOn checks that the connection is the first one, and still good.
func (h *hard) goesOn() error {
	if err := h.number(-7); err != nil {
		return fmt.Errorf("the next call: %w", err)
	}
	if n := h.dialed.Load(); n != 1 {
		return fmt.Errorf("the connection was closed: %d have been made", n)
	}
	return nil
}

func tree(depth int) m {
	t := m{"number": int32(depth), "children": []any{}}
	if depth > 1 {
		t["children"] = []any{tree(depth - 1), m{"number": int32(-depth), "children": []any{}}}
	}
	return t
}

func wide(depth int) m {
	return m{
		"string_thing": "ünknown", "byte_thing": int8(-1), "i32_thing": int32(9), "i64_thing": int64(1) << 40,
		"bool_thing": true, "short_thing": int16(5), "double_thing": math.Inf(-1),
		"lists": []any{[]any{}, []any{"a", ""}},
		"sets":  m{"": []any{}, "b": []any{int32(1), int32(2)}},
		"tree":  tree(depth), "bytes": []byte{0, 255}, "last": "last",
	}
}

// unknownFields sends a struct with fields, and arguments, that the server does not know. The
// fields that it knows come back.
func (h *hard) unknownFields(depth int) error {
	got, err := h.callWide("testStruct", m{"thing": wide(depth), "tree": tree(depth), "text": "an argument more"})
	if err != nil {
		return err
	}
	x, _ := got["success"].(m)
	for _, name := range []string{"string_thing", "byte_thing", "i32_thing", "i64_thing"} {
		if want := wide(1)[name]; x[name] != want {
			return fmt.Errorf("%s is %v, want %v", name, x[name], want)
		}
	}
	return nil
}

// hardships returns what came of each check of a server.
func hardships(t *testing.T, port, transport, protocol string) outcome {
	all := outcome{}
	check := func(name string, connections int, f func(h *hard) error) {
		h, err := newHard(t, port, transport, protocol, connections)
		if err == nil {
			err = f(h)
			h.close() // some servers need a thread for each connection
		}
		all[name] = err
	}
	check("unknown method", 1, func(h *hard) error {
		for _, text := range []string{"", strings.Repeat("x", 1<<20)} {
			_, err := h.callWide("notThere", m{"thing": m{"string_thing": text, "tree": tree(10)}})
			if err := errors.Join(isApplication(err, 0), h.goesOn()); err != nil {
				return err
			}
		}
		return nil
	})
	check("UNKNOWN_METHOD", 1, func(h *hard) error {
		_, err := h.callWide("notThere", m{})
		return isApplication(err, rpc.UnknownMethod)
	})
	check("unknown oneway method", 1, func(h *hard) error {
		if _, err := h.callWide("tellNobody", m{"thing": "hello"}); err != nil {
			return err
		}
		return h.goesOn()
	})
	if interop.Multiplexed(protocol) {
		check("unknown service", 1, func(h *hard) error {
			nobody := thrifttest.NewSecondServiceClient(rpc.MultiplexedCaller(h.caller, "Nobody"))
			_, err := nobody.SecondtestString(h.ctx, func(args thrifttest.SecondServiceSecondtestStringArgs) { args.SetThing("x") })
			return errors.Join(isApplication(err, 0), h.goesOn())
		})
		check("both services on one connection", 1, func(h *hard) error {
			for i := range 20 {
				text := fmt.Sprint("text ", i)
				r, err := h.second.SecondtestString(h.ctx, func(args thrifttest.SecondServiceSecondtestStringArgs) { args.SetThing(text) })
				if err != nil {
					return err
				}
				if got := r.GetSuccess(); got != `testString("`+text+`")` {
					return fmt.Errorf("%q", got)
				}
				r.Release()
				if err := h.text(text); err != nil {
					return err
				}
			}
			return h.goesOn()
		})
	}
	check("calls after errors", 1, func(h *hard) error {
		for range 3 {
			_, err := h.test.TestException(h.ctx, func(args thrifttest.ThriftTestTestExceptionArgs) { args.SetArg("Xception") })
			if !errors.As(err, new(thrifttest.Xception)) {
				return fmt.Errorf("%v instead of an Xception", err)
			}
			if err := h.goesOn(); err != nil {
				return err
			}
			_, err = h.test.TestMultiException(h.ctx, func(args thrifttest.ThriftTestTestMultiExceptionArgs) {
				args.SetArg0("Xception2")
				args.SetArg1("") // Rust's arguments are all required
			})
			if !errors.As(err, new(thrifttest.Xception2)) {
				return fmt.Errorf("%v instead of an Xception2", err)
			}
			if err := h.goesOn(); err != nil {
				return err
			}
		}
		return nil
	})
	undeclared := func(h *hard) error {
		_, err := h.test.TestException(h.ctx, func(args thrifttest.ThriftTestTestExceptionArgs) { args.SetArg("TException") })
		return err
	}
	check("INTERNAL_ERROR", 1, func(h *hard) error { return isApplication(undeclared(h), rpc.InternalError) })
	check("calls after undeclared errors", 1, func(h *hard) error {
		for range 3 {
			if err := errors.Join(isApplication(undeclared(h), 0), h.goesOn()); err != nil {
				return err
			}
		}
		return nil
	})
	check("unknown fields", 1, func(h *hard) error {
		for _, depth := range []int{1, 2, 12} {
			if err := h.unknownFields(depth); err != nil {
				return err
			}
		}
		return h.goesOn()
	})
	deep := func(h *hard) error {
		whole, cancel := h.ctx, context.CancelFunc(nil)
		h.ctx, cancel = context.WithTimeout(whole, 30*time.Second)
		defer cancel()
		err := h.unknownFields(60)
		h.ctx = whole
		return err
	}
	check("fields nested deeper than the server may take are answered, or end the connection", 1, func(h *hard) error {
		if err := deep(h); errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		return nil
	})
	check("after fields nested deeper than the server may take", 2, func(h *hard) error {
		_ = deep(h) // may fail, and the connection with it
		var err error
		for range 3 { // a server that is in the middle of a message may close the connection late
			if err = h.number(60); !errors.Is(err, rpc.ErrConnLost) {
				break
			}
		}
		return err
	})
	check("a string of 1 MiB", 1, func(h *hard) error { return h.text(strings.Repeat("1234567\n", 1<<17)) })
	check("a map of 50,000", 1, func(h *hard) error {
		want := map[int32]int32{}
		for i := range int32(50_000) {
			want[i] = -i
		}
		r, err := h.test.TestMap(h.ctx, func(args thrifttest.ThriftTestTestMapArgs) { args.SetThingMap(want) })
		if err != nil {
			return err
		}
		defer r.Release()
		for k, v := range r.GetSuccess().All() {
			if want[k] != v {
				return fmt.Errorf("%d: %d", k, v)
			}
			delete(want, k)
		}
		if len(want) > 0 {
			return fmt.Errorf("%d entries are missing", len(want))
		}
		return nil
	})
	doubles := func(h *hard, values ...float64) error {
		for _, v := range values {
			r, err := h.test.TestDouble(h.ctx, func(args thrifttest.ThriftTestTestDoubleArgs) { args.SetThing(v) })
			if err != nil {
				return err
			}
			if got := r.GetSuccess(); math.Float64bits(got) != math.Float64bits(v) && !(math.IsNaN(v) && math.IsNaN(got)) {
				return fmt.Errorf("testDouble(%v) is %v", v, got)
			}
			r.Release()
		}
		return nil
	}
	check("NaN and infinities", 1, func(h *hard) error { return doubles(h, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64) })
	check("-0", 1, func(h *hard) error { return doubles(h, math.Copysign(0, -1)) })
	check("8 clients at a time", 8, func(h *hard) error { return h.concurrent(8, 200) })
	check("8 clients on one connection", 1, func(h *hard) error { return h.concurrent(8, 200) })
	return all
}

// concurrent makes calls in many goroutines; each reply must be that of its call.
func (h *hard) concurrent(goroutines, calls int) error {
	errs := make([]error, goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range calls {
				text := fmt.Sprint(g, "/", i, " ", strings.Repeat("y", i*37%5000))
				var err error
				switch i % 4 {
				case 0:
					err = h.text(text)
				case 1:
					err = h.number(int32(1000*g + i))
				case 2:
					_, e := h.test.TestException(h.ctx, func(args thrifttest.ThriftTestTestExceptionArgs) { args.SetArg("Xception") })
					if !errors.As(e, new(thrifttest.Xception)) {
						err = fmt.Errorf("%v instead of an Xception", e)
					}
				case 3:
					r, e := h.test.TestMultiException(h.ctx, func(args thrifttest.ThriftTestTestMultiExceptionArgs) {
						args.SetArg0("success")
						args.SetArg1(text)
					})
					if err = e; err == nil && r.GetSuccess().GetStringThing() != text {
						err = fmt.Errorf("got %.40q, want %.40q", r.GetSuccess().GetStringThing(), text)
					}
					r.Release()
				}
				if err != nil {
					errs[g] = fmt.Errorf("client %d, call %d: %w", g, i, err)
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// callAfterPause calls a server, without frames, that closes connections after 0.3 seconds without
// a request: before and after it has.
func callAfterPause(t *testing.T, port string) error {
	h, err := newHard(t, port, "buffered", "binary", 1)
	if err != nil {
		return err
	}
	giveUp := time.Now().Add(time.Minute)
	for i := int32(0); i < 3 || h.dialed.Load() < 3; i++ {
		if err := h.number(i); err != nil {
			return err
		}
		if time.Now().After(giveUp) {
			return fmt.Errorf("%d connections were made: the server has not closed any", h.dialed.Load())
		}
		time.Sleep(time.Second)
	}
	return nil
}

// largeFrame sends a frame to a server that takes none of more than 64 KiB. The call fails, the
// next one does not.
func largeFrame(t *testing.T, port string) error {
	h, err := newHard(t, port, "framed", "binary", 1)
	if err != nil {
		return err
	}
	if err := h.text(strings.Repeat("x", 60_000)); err != nil {
		return err
	}
	start := time.Now()
	if err := h.text(strings.Repeat("x", 100_000)); !errors.Is(err, rpc.ErrConnLost) && !errors.As(err, new(*rpc.ApplicationException)) {
		return fmt.Errorf("%v after %v instead of a lost connection", err, time.Since(start))
	}
	return h.number(5)
}

// TestHardships: Apache's Go library, so that the checks themselves are checked. The short form
// makes them over one transport only.
func TestHardships(t *testing.T) {
	t.Parallel()
	matrix(t, func(t *testing.T, transport, protocol string) {
		if transport == "http" || !testmode.Long && (transport != "framed" || protocol != "multi") {
			return
		}
		for name, err := range hardships(t, startApache(t, transport, protocol, apacheHandler{}), transport, protocol) {
			// A TMultiplexedProcessor closes the connection
			if err != nil && name != "unknown service" {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
