package nocopykitex_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/cloudwego/gopkg/bufiox"
	"github.com/cloudwego/kitex/pkg/serviceinfo"
	"github.com/cloudwego/kitex/pkg/utils"

	names "github.com/nocopythrift/nocopythrift/kitex/internal/names/context"
	namesclient "github.com/nocopythrift/nocopythrift/kitex/internal/names/context/client"
	"github.com/nocopythrift/nocopythrift/kitex/internal/names/context/empty"
	"github.com/nocopythrift/nocopythrift/kitex/internal/names/context/internal_"
	"github.com/nocopythrift/nocopythrift/kitex/internal/names/context/onlystreams"
	"github.com/nocopythrift/nocopythrift/kitex/internal/names/context/select_"
	"github.com/nocopythrift/nocopythrift/kitex/internal/shop"
	shopservice "github.com/nocopythrift/nocopythrift/kitex/internal/shop/shop"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// TestServiceInfo checks the descriptions of services for Kitex.
func TestServiceInfo(t *testing.T) {
	for _, test := range []struct {
		info          *serviceinfo.ServiceInfo
		name, methods string
	}{
		{shopservice.NewServiceInfo(), "Shop", "check colour count echo note numbers ping text"},
		{namesclient.NewServiceInfo(), "client", "Close NewClient Register with_args_result"},
		{internal_.NewServiceInfo(), "Internal", "bytes id raw select"},
		{select_.NewServiceInfo(), "select", "Close NewClient Register chat down one up with_args_result"},
		{empty.NewServiceInfo(), "Empty", ""},
		{onlystreams.NewServiceInfo(), "OnlyStreams", "chat"},
	} {
		if test.info.ServiceName != test.name || len(test.info.Methods) != len(strings.Fields(test.methods)) {
			t.Errorf("service %s has %d methods", test.info.ServiceName, len(test.info.Methods))
		}
		for name := range strings.FieldsSeq(test.methods) {
			m := test.info.MethodInfo(context.Background(), name)
			if m == nil {
				t.Errorf("%s has no method %s", test.name, name)
				continue
			}
			want := map[string]serviceinfo.StreamingMode{
				"chat": serviceinfo.StreamingBidirectional, "up": serviceinfo.StreamingClient,
				"down": serviceinfo.StreamingServer, "one": serviceinfo.StreamingUnary,
			}[name]
			if m.StreamingMode() != want || m.OneWay() != (name == "note" || name == "Register") {
				t.Errorf("%s.%s: mode %v, oneway %v", test.name, name, m.StreamingMode(), m.OneWay())
			}
			if m.OneWay() != (m.NewResult() == nil) && want == 0 {
				t.Errorf("%s.%s: result %v", test.name, name, m.NewResult())
			}
		}
	}
}

// received returns args that were received with these bytes.
func received(t *testing.T, info *serviceinfo.ServiceInfo, method string, wire []byte) utils.KitexArgs {
	t.Helper()
	args := info.MethodInfo(context.Background(), method).NewArgs().(utils.KitexArgs)
	in := args.(interface {
		Read(context.Context, string, int, bufiox.Reader) error
	})
	if err := in.Read(context.Background(), method, len(wire), bufiox.NewBytesReader(wire)); err != nil {
		t.Fatal(err)
	}
	return args
}

// TestKitexArgs uses arguments and results as middlewares do.
func TestKitexArgs(t *testing.T) {
	info := shopservice.NewServiceInfo()
	echo := shop.NewShopEchoArgs()
	echo.NewOrder().SetID(8)
	if o := received(t, info, "echo", echo.Message().Bytes()).GetFirstArgument().(*shop.Order); o.GetID() != 8 {
		t.Errorf("order %v", o)
	}
	text := shop.NewShopTextArgs()
	text.SetS("text")
	if s := received(t, info, "text", text.Message().Bytes()).GetFirstArgument(); s != "text" {
		t.Errorf("text %v", s)
	}
	if v := received(t, info, "ping", []byte{0}).GetFirstArgument(); v != nil {
		t.Errorf("first of no arguments: %v", v)
	}

	order := shop.NewOrder()
	order.SetID(9)
	numbers := shop.NewShopNumbersResult()
	numbers.SetSuccess([]int64{4, 5})
	set := names.NewInternalBytesResult()
	set.SetSuccess([]string{"x"})
	handler := names.NewHandler()
	for _, test := range []struct {
		info   *serviceinfo.ServiceInfo
		method string
		value  any
		show   func(p any) any
		want   any
	}{
		{info, "echo", order, func(p any) any { return p.(*shop.Order).GetID() }, int64(9)},
		{info, "count", int64(7), func(p any) any { return *p.(*int64) }, int64(7)},
		{info, "text", "ab", func(p any) any { return *p.(*string) }, "ab"},
		{info, "numbers", numbers.GetSuccess(), func(p any) any { return p.(*nocopy.Int64List).At(1) }, int64(5)},
		{info, "colour", shop.Colour_BLUE, func(p any) any { return *p.(*shop.Colour) }, shop.Colour_BLUE},
		{internal_.NewServiceInfo(), "bytes", set.GetSuccess(), func(p any) any { return reflect.ValueOf(p).Elem().MethodByName("Len").Call(nil)[0].Interface() }, 1},
		{internal_.NewServiceInfo(), "id", nocopy.UUID{3}, func(p any) any { return *p.(*nocopy.UUID) }, nocopy.UUID{3}},
		{internal_.NewServiceInfo(), "raw", []byte{1, 2}, func(p any) any { return string(*p.(*[]byte)) }, "\x01\x02"},
		{internal_.NewServiceInfo(), "select", handler, func(p any) any { return p.(*names.Handler).Valid() }, true},
	} {
		newResult := func() utils.KitexResult {
			return test.info.MethodInfo(context.Background(), test.method).NewResult().(utils.KitexResult)
		}
		r := newResult()
		if v := reflect.ValueOf(r.GetResult()); v.Kind() != reflect.Pointer || !v.IsNil() {
			t.Errorf("%s: result that is not set: %v", test.method, r.GetResult())
		}
		r.SetSuccess(test.value)
		if got := test.show(r.GetResult()); got != test.want {
			t.Errorf("%s: result %v, want %v", test.method, got, test.want)
		}
		again := newResult() // as Kitex does after retries
		again.SetSuccess(r.GetResult())
		if got := test.show(again.GetResult()); got != test.want {
			t.Errorf("%s: result %v, want %v", test.method, got, test.want)
		}
		again.SetSuccess(newResult().GetResult())
		if v := reflect.ValueOf(again.GetResult()); !v.IsNil() {
			t.Errorf("%s: result that was removed: %v", test.method, again.GetResult())
		}
		func() {
			defer func() {
				if v, ok := recover().(string); !ok || !strings.HasPrefix(v, "nocopy: SetSuccess of a ") {
					t.Errorf("%s: a value of another type: %v", test.method, v)
				}
			}()
			r.SetSuccess(struct{}{})
		}()
	}
	ping := info.MethodInfo(context.Background(), "ping").NewResult().(utils.KitexResult)
	if ping.SetSuccess(nil); ping.GetResult() != nil {
		t.Errorf("result of nothing: %v", ping.GetResult())
	}
}
