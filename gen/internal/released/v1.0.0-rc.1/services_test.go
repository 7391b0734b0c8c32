package released_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/internal/released/v1.0.0-rc.1/fields/services"
	"github.com/nocopythrift/nocopythrift/gen/internal/released/v1.0.0-rc.1/fields/services/parent"
	"github.com/nocopythrift/nocopythrift/gen/internal/released/v1.0.0-rc.1/fields/shapes"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// handler returns its arguments, where that makes sense.
type handler struct{ told chan string }

func (handler) Ping(context.Context, parent.RootPingArgs, parent.RootPingResult) error { return nil }

func (handler) Count(_ context.Context, args parent.MiddleCountArgs, result parent.MiddleCountResult) error {
	if args.GetWhat() == "secrets" {
		result.NewDenied().SetWhy("none of your business")
		return nil
	}
	result.SetSuccess(int32(len(args.GetWhat())))
	return nil
}

func (handler) ABool(_ context.Context, args services.AllABoolArgs, result services.AllABoolResult) error {
	result.SetSuccess(args.GetV())
	return nil
}

func (handler) AnI8(_ context.Context, args services.AllAnI8Args, result services.AllAnI8Result) error {
	result.SetSuccess(args.GetV())
	return nil
}

func (handler) AnI16(_ context.Context, args services.AllAnI16Args, result services.AllAnI16Result) error {
	result.SetSuccess(args.GetV())
	return nil
}

func (handler) AnI32(_ context.Context, args services.AllAnI32Args, result services.AllAnI32Result) error {
	result.SetSuccess(args.GetV())
	return nil
}

func (handler) AnI64(_ context.Context, args services.AllAnI64Args, result services.AllAnI64Result) error {
	result.SetSuccess(args.GetV())
	return nil
}

func (handler) ADouble(_ context.Context, args services.AllADoubleArgs, result services.AllADoubleResult) error {
	result.SetSuccess(args.GetV())
	return nil
}

func (handler) AString(_ context.Context, args services.AllAStringArgs, result services.AllAStringResult) error {
	result.SetSuccess(args.GetV())
	return nil
}

func (handler) ABinary(_ context.Context, args services.AllABinaryArgs, result services.AllABinaryResult) error {
	result.SetSuccess(args.GetV())
	return nil
}

func (handler) AUuid(_ context.Context, args services.AllAUuidArgs, result services.AllAUuidResult) error {
	result.SetSuccess(args.GetV())
	return nil
}

func (handler) AnEnum(_ context.Context, args services.AllAnEnumArgs, result services.AllAnEnumResult) error {
	result.SetSuccess(args.GetV())
	return nil
}

func (handler) AStruct(_ context.Context, args services.AllAStructArgs, result services.AllAStructResult) error {
	result.SetSuccess(args.GetV())
	return nil
}

func (handler) AUnion(_ context.Context, args services.AllAUnionArgs, result services.AllAUnionResult) error {
	result.SetSuccess(args.GetV())
	return nil
}

func (handler) AnException(_ context.Context, args services.AllAnExceptionArgs, result services.AllAnExceptionResult) error {
	result.SetSuccess(args.GetV())
	return nil
}

func (handler) ATypedef(_ context.Context, args services.AllATypedefArgs, result services.AllATypedefResult) error {
	result.SetSuccess(args.GetV())
	return nil
}

func (handler) APath(_ context.Context, args services.AllAPathArgs, result services.AllAPathResult) error {
	result.SetSuccess(args.GetV())
	return nil
}

func (handler) AMap(_ context.Context, args services.AllAMapArgs, result services.AllAMapResult) error {
	result.SetSuccess(args.GetV())
	return nil
}

func (handler) ADeepMap(_ context.Context, args services.AllADeepMapArgs, result services.AllADeepMapResult) error {
	result.SetSuccess(args.GetV())
	return nil
}

func (handler) AList(_ context.Context, args services.AllAListArgs, result services.AllAListResult) error {
	result.SetSuccess(args.GetV().AppendTo(nil))
	return nil
}

func (handler) ASet(_ context.Context, args services.AllASetArgs, result services.AllASetResult) error {
	result.SetSuccess(args.GetV().AppendTo(nil))
	return nil
}

func (handler) Many(_ context.Context, args services.AllManyArgs, result services.AllManyResult) error {
	switch args.GetType() {
	case "refused", "again":
		e := shapes.NewRefused()
		e.SetReason(args.GetType())
		if args.GetType() == "refused" {
			return fmt.Errorf("for a reason: %w", e)
		}
		result.SetAgain(e)
	case "denied":
		e := parent.NewDenied()
		e.SetWhy("just so")
		return e
	default:
		result.SetSuccess(fmt.Sprint(args))
	}
	return nil
}

func (h handler) Tell(_ context.Context, args services.AllTellArgs) error {
	h.told <- args.GetV()
	return nil
}

func (handler) Nothing(context.Context, services.AllNothingArgs, services.AllNothingResult) error {
	return nil
}

func (handler) Maybe(_ context.Context, args services.AllMaybeArgs, result services.AllMaybeResult) error {
	if args.GetV() < 0 {
		result.NewDenied()
	}
	return nil
}

func (handler) NewThing_(_ context.Context, _ services.AllNewThing_Args, result services.AllNewThing_Result) error {
	result.SetSuccess(1)
	return nil
}

func (handler) NewThing__(_ context.Context, _ services.AllNewThing__Args, result services.AllNewThing__Result) error {
	result.SetSuccess(2)
	return nil
}

func (handler) GetAllClient(_ context.Context, _ services.AllGetAllClientArgs, result services.AllGetAllClientResult) error {
	result.SetSuccess(3)
	return nil
}

var bg = context.Background()

func client(t *testing.T, h services.SameHandler) services.SameClient {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &rpc.Server{Processor: services.NewSameProcessor(h)}
	go srv.Serve(l)
	c, err := rpc.Dial(bg, "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		srv.Shutdown(bg)
	})
	return services.NewSameClient(c)
}

// TestArguments sends a value of every type to the server and back.
func TestArguments(t *testing.T) {
	c := client(t, handler{})
	check := func(method string, got, want any, err error) {
		if fmt.Sprint(got) != fmt.Sprint(want) || err != nil {
			t.Errorf("%s: %v, %v; want %v", method, got, err, want)
		}
	}
	point := shapes.NewPoint()
	point.SetX(1)
	point.SetY(2)
	shape := shapes.NewShape()
	shape.SetLabel("round")
	refused := shapes.NewRefused()
	refused.SetReason("why not")
	{
		r, err := c.ABool(bg, func(args services.AllABoolArgs) { args.SetV(true) })
		check("ABool", r.GetSuccess(), true, err)
	}
	{
		r, err := c.AnI8(bg, func(args services.AllAnI8Args) { args.SetV(-8) })
		check("AnI8", r.GetSuccess(), -8, err)
	}
	{
		r, err := c.AnI16(bg, func(args services.AllAnI16Args) { args.SetV(-16) })
		check("AnI16", r.GetSuccess(), -16, err)
	}
	{
		r, err := c.AnI32(bg, func(args services.AllAnI32Args) { args.SetV(-32) })
		check("AnI32", r.GetSuccess(), -32, err)
	}
	{
		r, err := c.AnI64(bg, func(args services.AllAnI64Args) { args.SetV(-1 << 40) })
		check("AnI64", r.GetSuccess(), int64(-1<<40), err)
	}
	{
		r, err := c.ADouble(bg, func(args services.AllADoubleArgs) { args.SetV(0.5) })
		check("ADouble", r.GetSuccess(), 0.5, err)
	}
	{
		r, err := c.AString(bg, func(args services.AllAStringArgs) { args.SetV("text") })
		check("AString", r.GetSuccess(), "text", err)
	}
	{
		r, err := c.ABinary(bg, func(args services.AllABinaryArgs) { args.SetV([]byte{0, 255}) })
		check("ABinary", r.GetSuccess(), []byte{0, 255}, err)
	}
	{
		r, err := c.AUuid(bg, func(args services.AllAUuidArgs) { args.SetV(nocopy.UUID{1, 2, 3}) })
		check("AUuid", r.GetSuccess(), nocopy.UUID{1, 2, 3}, err)
	}
	{
		r, err := c.AnEnum(bg, func(args services.AllAnEnumArgs) { args.SetV(shapes.Color_BLUE) })
		check("AnEnum", r.GetSuccess(), shapes.Color_BLUE, err)
	}
	{
		r, err := c.AStruct(bg, func(args services.AllAStructArgs) { args.SetV(point) })
		check("AStruct", r.GetSuccess(), point, err)
	}
	{
		r, err := c.AUnion(bg, func(args services.AllAUnionArgs) { args.SetV(shape) })
		check("AUnion", r.GetSuccess(), shape, err)
	}
	{
		r, err := c.AnException(bg, func(args services.AllAnExceptionArgs) { args.SetV(refused) })
		check("AnException", r.GetSuccess(), refused, err)
	}
	{
		r, err := c.ATypedef(bg, func(args services.AllATypedefArgs) { args.SetV(64) })
		check("ATypedef", r.GetSuccess(), 64, err)
	}
	{
		r, err := c.APath(bg, func(args services.AllAPathArgs) {
			for i := range 3 {
				args.GetV() // a getter does no harm
				if i == 0 {
					args.NewV(0)
				}
				args.GetV().AppendNew().SetX(int32(i))
			}
		})
		check("APath", r.GetSuccess().At(2), "{x: 2, y: 0}", err)
	}
	{
		want := []int32{3, 1, 2}
		r, err := c.AList(bg, func(args services.AllAListArgs) { args.SetV(want) })
		check("AList", r.GetSuccess().AppendTo(nil), want, err)
	}
	{
		r, err := c.ASet(bg, func(args services.AllASetArgs) { args.SetV([]string{"a", "b"}) })
		got := r.GetSuccess().AppendTo(nil)
		slices.Sort(got)
		check("ASet", got, []string{"a", "b"}, err)
	}
	{
		r, err := c.AMap(bg, func(args services.AllAMapArgs) { args.NewV().PutNew("a").SetX(7) })
		p, ok := r.GetSuccess().Get("a")
		check("AMap", p.GetX(), 7, err)
		check("AMap", ok, true, err)
	}
	{
		r, err := c.ADeepMap(bg, func(args services.AllADeepMapArgs) {
			k, v := args.NewV().AppendNew()
			k.SetX(5)
			v.AppendNew(0).Append(6)
		})
		for k, v := range r.GetSuccess().All() {
			check("ADeepMap", fmt.Sprint(k.GetX(), v.At(0).At(0)), "5 6", err)
		}
		check("ADeepMap", r.GetSuccess().Len(), 1, err)
	}
}

func TestMethods(t *testing.T) {
	h := handler{told: make(chan string, 1)}
	c := client(t, h)
	if _, err := c.Ping(bg, nil); err != nil {
		t.Errorf("inherited from the base of the base: %v", err)
	}
	if n, err := c.Count(bg, func(args parent.MiddleCountArgs) { args.SetWhat("four") }); err != nil || n.GetSuccess() != 4 {
		t.Errorf("inherited: %v, %v", n, err)
	}
	var denied parent.Denied
	if _, err := c.Count(bg, func(args parent.MiddleCountArgs) { args.SetWhat("secrets") }); !errors.As(err, &denied) || denied.GetWhy() != "none of your business" {
		t.Errorf("an exception of an inherited method: %v", err)
	}
	if _, err := c.Nothing(bg, nil); err != nil {
		t.Error(err)
	}
	if _, err := c.Maybe(bg, nil); err != nil {
		t.Error(err)
	}
	if _, err := c.Maybe(bg, func(args services.AllMaybeArgs) { args.SetV(-1) }); !errors.As(err, &denied) {
		t.Errorf("an exception of a void method: %v", err)
	}
	if err := c.Tell(bg, func(args services.AllTellArgs) { args.SetV("all") }); err != nil || <-h.told != "all" {
		t.Error(err)
	}
	one, _ := c.NewThing_(bg, nil)
	two, _ := c.NewThing__(bg, nil)
	three, _ := c.GetAllClient(bg, nil)
	if one.GetSuccess() != 1 || two.GetSuccess() != 2 || three.GetSuccess() != 3 {
		t.Errorf("names that resemble each other: %v %v %v", one, two, three)
	}
	many := func(typ string) (services.AllManyResult, error) {
		return c.Many(bg, func(args services.AllManyArgs) { args.SetType(typ); args.SetErr(true) })
	}
	r, err := many("x")
	if want := `{type: "x", func: 7, range: ["a", "b"], err: true, ctx: 0, c: 0, success: 0, args: 0}`; err != nil || r.GetSuccess() != want {
		t.Errorf("the handler sees %s (%v)", r.GetSuccess(), err)
	}
	var refused shapes.Refused
	for _, typ := range []string{"refused", "again"} {
		if _, err := many(typ); !errors.As(err, &refused) || refused.GetReason() != typ {
			t.Errorf("%s: %v", typ, err)
		}
	}
	if _, err := many("denied"); !errors.As(err, &denied) || denied.GetWhy() != "just so" {
		t.Error(err)
	}
}
