package versions

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/internal/versions/newer"
	"github.com/nocopythrift/nocopythrift/gen/internal/versions/older"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// gate returns exceptions of the other package, or, if it is asked for "forward", what another
// server has returned.
type gate struct{ next older.GateClient }

func (g gate) Send(ctx context.Context, args newer.GateSendArgs, result newer.GateSendResult) error {
	all := older.NewAll()
	all.NewDenied().SetWhy("part")
	denied, refused, shuffled := older.NewDenied(), older.NewRefused(), older.NewShuffled()
	denied.SetWhy("root")
	refused.SetWhy("differs")
	shuffled.SetWhy("another order")
	own := newer.NewDenied()
	own.SetWhy("own")
	switch args.GetHow() {
	case "point":
		p := older.NewPoint()
		p.SetX(3)
		result.SetSuccess(newer.Point(p))
		return nil
	case "root":
		return denied
	case "part":
		return fmt.Errorf("wrapped: %w", all.GetDenied())
	case "joined":
		return errors.Join(refused, errors.New("and"), denied)
	case "both":
		return errors.Join(denied, own)
	case "set":
		result.SetDenied(newer.Denied(denied))
		return nil
	case "differs":
		return refused
	case "another order":
		return shuffled
	case "converted":
		return newer.Shuffled(shuffled)
	case "set converted":
		result.SetShuffled(newer.Shuffled(shuffled))
		return nil
	case "released":
		denied.Release()
		return denied
	}
	r, err := g.next.Send(ctx, func(a older.GateSendArgs) { a.SetHow(strings.TrimPrefix(args.GetHow(), "forward ")) })
	if err == nil {
		result.SetSuccess(newer.Point(r.GetSuccess()))
	}
	return err
}

// TestExceptions: an exception of the other package that a handler returns is sent as declared if
// both packages declare it alike.
func TestExceptions(t *testing.T) {
	serve := func(h newer.GateHandler) *rpc.Client {
		l := must(net.Listen("tcp", "127.0.0.1:0"))
		s := &rpc.Server{Processor: newer.NewGateProcessor(h)}
		go s.Serve(l)
		c := must(rpc.Dial(t.Context(), "tcp", l.Addr().String()))
		t.Cleanup(func() {
			c.Close()
			s.Shutdown(context.Background())
		})
		return c
	}
	back := older.NewGateClient(serve(gate{}))
	front := newer.NewGateClient(serve(gate{back}))
	for how, want := range map[string]string{
		"root": "root", "part": "part", "joined": "root", "both": "own", "set": "root", "forward root": "root", "forward part": "part",
	} {
		_, err := front.Send(t.Context(), func(args newer.GateSendArgs) { args.SetHow(how) })
		if e, ok := errors.AsType[newer.Denied](err); !ok || e.GetWhy() != want {
			t.Errorf("%s: %v", how, err)
		}
		if e, ok := errors.AsType[older.Denied](err); ok {
			t.Errorf("%s: a client of the newer package gets the older one's %v", how, e)
		}
	}
	for how, want := range map[string]string{
		"differs": `{why: "differs"}`, "another order": `{why: "another order", code: 0}`,
		"converted": "", "set converted": "", "released": "",
	} {
		_, err := front.Send(t.Context(), func(args newer.GateSendArgs) { args.SetHow(how) })
		e, ok := errors.AsType[*rpc.ApplicationException](err)
		if !ok || e.Type != rpc.InternalError || !strings.Contains(e.Message, want) {
			t.Errorf("%s: %v", how, err)
		}
	}
	for _, how := range []string{"point", "forward point"} {
		r, err := front.Send(t.Context(), func(args newer.GateSendArgs) { args.SetHow(how) })
		if err != nil || r.GetSuccess().GetX() != 3 {
			t.Errorf("%s: %v, %v", how, r, err)
		}
	}
}

// TestExceptionsOfTwoFiles: of two declared exceptions that are alike, the one of the Go type that
// was returned counts.
func TestExceptionsOfTwoFiles(t *testing.T) {
	d := older.GateSendResultDesc
	denied := d.NumberByName("denied")
	method := func(first, second rpc.Exception) *rpc.Method {
		return &rpc.Method{Service: "Gate", Name: "send", Args: older.GateSendArgsDesc, Result: d, Throws: []rpc.Exception{first, second}}
	}
	field := d.Field(denied)
	other := d.Field(d.NumberByName("refused"))
	e := older.NewDenied()
	e.SetWhy("w")
	for name, m := range map[string]*rpc.Method{
		"first":  method(rpc.Throws[older.Denied](field, older.DeniedDesc), rpc.Throws[newer.Denied](other, newer.DeniedDesc)),
		"second": method(rpc.Throws[newer.Denied](other, newer.DeniedDesc), rpc.Throws[older.Denied](field, older.DeniedDesc)),
	} {
		result := older.NewGateSendResult()
		ok, err := m.SetException(nocopy.Struct(result), e)
		if !ok || err != nil || !result.IsSetDenied() || result.IsSetRefused() {
			t.Errorf("%s: %v, %v, %v", name, result, ok, err)
		}
	}
}

// TestInterceptors: arguments and results that an interceptor puts into a Call must be of the type
// of the method's package.
func TestInterceptors(t *testing.T) {
	for name, f := range map[string]rpc.Interceptor{
		"Args": func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			if _, ok := rpc.ArgsOf[older.GateSendArgs](c); ok {
				t.Error("ArgsOf finds the other package's type")
			}
			c.Args = nocopy.Struct(older.NewGateSendArgs())
			return next(ctx, c)
		},
		"Result": func(ctx context.Context, c *rpc.Call, next rpc.Handler) error {
			r := older.NewGateSendResult()
			r.NewSuccess().SetX(1)
			c.Result = nocopy.Struct(r)
			return nil
		},
	} {
		c := rpc.NewCaller(func(context.Context, *rpc.Method, []byte) ([]byte, error) { panic("called") }, rpc.Interceptors(f))
		_, err := newer.NewGateClient(c).Send(t.Context(), nil)
		if err == nil || !strings.Contains(err.Error(), " of this type") && !strings.Contains(err.Error(), "not of the method's type") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMasks: masks work on messages of the other package by the same rule.
func TestMasks(t *testing.T) {
	p := older.NewPoint()
	p.SetX(1)
	p.SetY(2)
	messages.MustMask(newer.PointDesc, "x").Keep(p)
	if p.IsSetY() {
		t.Error(p)
	}
	text := panicOf(func() { messages.MustMask(newer.GrownDesc, "a").Keep(older.NewGrown()) })
	if !strings.Contains(text, "not of the same type: two packages declare it differently (only one Grown has 2: string b)") {
		t.Error(text)
	}
}
