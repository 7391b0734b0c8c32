package underscores_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/internal/underscores"
	"github.com/nocopythrift/nocopythrift/gen/internal/underscores/other"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// shop is a handler in another package: all methods of the interface are exported.
type shop struct {
	underscores.UnimplementedX_shopHandler
	logged chan int32
}

func (shop) X_version(context.Context, other.X_baseX_versionArgs, other.X_baseX_versionResult) error {
	return errors.New("not called")
}

func (shop) X_get(_ context.Context, args underscores.X_shopX_getArgs, result underscores.X_shopX_getResult) error {
	result.NewSuccess().New_parts(1).At(0).Set_text("part")
	return nil
}

func (s shop) X_log(_ context.Context, args underscores.X_shopX_logArgs) error {
	s.logged <- args.Get__1().Get_count()
	return nil
}

var (
	_ underscores.X_level       = underscores.X_level__low
	_ underscores.X_text        = ""
	_ underscores.X_Taken_      = underscores.NewX_Taken_()
	_ int32                     = underscores.X_LIMIT
	_ error                     = underscores.X_failed{}
	_ underscores.X_shopHandler = shop{}
	_                           = underscores.X_underFields{X_count: 1, X_parts: []other.X_partFields{{X_text: "a"}}}
)

// TestUnderscores: what begins with an underscore in the IDL can be used in other packages.
func TestUnderscores(t *testing.T) {
	if n := underscores.X_Ids().At(0); n != 1 {
		t.Errorf("constant %d", n)
	}
	choice := underscores.NewX_choice()
	choice.Set_number(1)
	if choice.Which() != underscores.X_choice__number {
		t.Errorf("arm %v", choice.Which())
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := shop{logged: make(chan int32, 1)}
	server := &rpc.Server{Processor: underscores.NewX_shopProcessor(s)}
	go server.Serve(l)
	defer server.Close()
	client, err := rpc.Dial(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	c := underscores.NewX_shopClient(client)
	result, err := c.X_get(t.Context(), nil)
	if err != nil || result.GetSuccess().Get_parts().At(0).Get_text() != "part" {
		t.Errorf("%v, %v", result, err)
	}
	if err := c.X_log(t.Context(), func(args underscores.X_shopX_logArgs) { args.New__1().Set_count(3) }); err != nil {
		t.Error(err)
	}
	if n := <-s.logged; n != 3 {
		t.Errorf("logged %d", n)
	}
	if _, err := c.X_version(t.Context(), nil); err == nil {
		t.Error("no error of the method of the extended service")
	}
}
