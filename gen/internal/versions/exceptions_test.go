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
	}
	for how, want := range map[string]string{
		"differs": `{why: "differs"}`, "another order": `{why: "another order", code: 0}`, "released": "",
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
