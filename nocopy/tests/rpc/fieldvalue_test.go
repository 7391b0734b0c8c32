package rpc_test

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestFieldValues: a server's interceptor reads the values that a client's interceptor sets in
// fields that no IDL knows. Both sides can read them before they are sent, too. Fields that the
// IDL declares do not change. Values of another type, and absent ones, are not read.
func TestFieldValues(t *testing.T) {
	t.Parallel()
	uuid := nocopy.UUID{1, 15: 2}
	large := strings.Repeat("x", 100_000)
	set := func(c *rpc.Call) {
		for i, ok := range []bool{
			c.SetBool(100, true), c.SetInt8(101, -8), c.SetInt16(102, math.MinInt16), c.SetInt32(103, -32), c.SetInt64(104, math.MaxInt64),
			c.SetFloat64(105, math.Inf(-1)), c.SetUUID(106, uuid), c.SetText(107, "ключ"), c.SetBytes(108, []byte{0, 255}), c.SetText(-109, large),
			c.SetText(110, ""), c.SetText(111, "first"), c.SetText(111, "second"), !c.SetInt64(1, 7), !c.SetText(2, "x"),
		} {
			if !ok {
				t.Errorf("field %d", i)
			}
		}
	}
	get := func(c *rpc.Call) {
		t.Helper()
		v0, ok0 := c.Bool(100)
		v1, ok1 := c.Int8(101)
		v2, ok2 := c.Int16(102)
		v3, ok3 := c.Int32(103)
		v4, ok4 := c.Int64(104)
		v5, ok5 := c.Float64(105)
		v6, ok6 := c.UUID(106)
		v7, ok7 := c.Text(107)
		v8, ok8 := c.Bytes(108)
		v9, ok9 := c.Text(-109)
		v10, ok10 := c.Text(110)
		v11, ok11 := c.Text(111)
		declared, ok12 := c.Int64(1)
		if !(ok0 && ok1 && ok2 && ok3 && ok4 && ok5 && ok6 && ok7 && ok8 && ok9 && ok10 && ok11 && ok12) || !v0 || v1 != -8 || v2 != math.MinInt16 || v3 != -32 ||
			v4 != math.MaxInt64 || !math.IsInf(v5, -1) || v6 != uuid || v7 != "ключ" || !bytes.Equal(v8, []byte{0, 255}) || v9 != large || v10 != "" ||
			v11 != "second" || declared != 40 {
			t.Errorf("%v %v %v %v %v %v %v %v %v %d %q %q %d", v0, v1, v2, v3, v4, v5, v6, v7, v8, len(v9), v10, v11, declared)
		}
		if v, ok := c.Int64(107); ok || v != 0 {
			t.Errorf("an i64 instead of a string: %d", v)
		}
		if v, ok := c.Text(104); ok || v != "" {
			t.Errorf("a string instead of an i64: %q", v)
		}
		if v, ok := c.Text(112); ok || v != "" {
			t.Errorf("a field that is absent: %q", v)
		}
	}
	called := 0
	client := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		set(c)
		get(c)
		return next(ctx, c)
	}
	server := func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
		called++
		get(c)
		set(c) // again, in Args this time
		get(c)
		return next(ctx, c)
	}
	for _, srv := range []*rpc.Server{{}, {Recycle: true}, {Lazy: true}} {
		srv.Interceptors = []rpc.Interceptor{server}
		for _, opts := range tryOpts {
			c := echo.NewEchoClient(dial(t, serve(t, srv2of(srv), &handler{}), append(opts[:len(opts):len(opts)], rpc.Interceptors(client))...))
			res, err := c.Add(bg, func(args echo.EchoAddArgs) { args.SetA(40); args.SetB(2) })
			if err != nil || res.GetSuccess() != 42 {
				t.Error(res, err)
			}
		}
	}
	if called != 3*len(tryOpts) {
		t.Errorf("called %d times", called)
	}
}

func srv2of(s *rpc.Server) *rpc.Server {
	return &rpc.Server{Recycle: s.Recycle, Lazy: s.Lazy, Interceptors: s.Interceptors}
}
