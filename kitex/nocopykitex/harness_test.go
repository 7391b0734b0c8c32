package nocopykitex_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/kerrors"
	"github.com/cloudwego/kitex/pkg/klog"
	"github.com/cloudwego/kitex/pkg/remote/trans/gonet"
	"github.com/cloudwego/kitex/pkg/transmeta"
	"github.com/cloudwego/kitex/server"
	"github.com/cloudwego/kitex/transport"

	"github.com/nocopythrift/nocopythrift/kitex/internal/shop"
	shopservice "github.com/nocopythrift/nocopythrift/kitex/internal/shop/shop"
	"github.com/nocopythrift/nocopythrift/kitex/nocopykitex"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

func TestMain(m *testing.M) {
	klog.SetLevel(klog.LevelFatal)
	os.Exit(m.Run())
}

// carrier is a combination of transport and options that carries calls.
type carrier struct {
	name   string
	client []client.Option
	server []server.Option
	mux    bool // replies are sent after Kitex's Write has returned
}

func protocol(p transport.Protocol) []client.Option {
	return []client.Option{
		client.WithTransportProtocol(p), client.WithMetaHandler(transmeta.ClientTTHeaderHandler),
	}
}

var gonetServer = []server.Option{
	server.WithTransServerFactory(gonet.NewTransServerFactory()),
	server.WithTransHandlerFactory(gonet.NewSvrTransHandlerFactory()),
}

func gonetClient(p transport.Protocol) []client.Option {
	return append(protocol(p), client.WithTransHandlerFactory(gonet.NewCliTransHandlerFactory()),
		client.WithDialer(gonet.NewDialer()))
}

// carriers has all combinations for calling methods without streams.
var carriers = []carrier{
	{name: "framed", client: protocol(transport.Framed)},
	{name: "TTHeader", client: protocol(transport.TTHeader)},
	{name: "TTHeaderFramed", client: protocol(transport.TTHeaderFramed)},
	{name: "unframed", client: protocol(transport.PurePayload)},
	{
		name: "mux", client: append(protocol(transport.TTHeader), client.WithMuxConnection(1)),
		server: []server.Option{server.WithMuxTransport()}, mux: true,
	},
	{name: "gonet framed", client: gonetClient(transport.Framed), server: gonetServer},
	{name: "gonet TTHeader", client: gonetClient(transport.TTHeader), server: gonetServer},
	{name: "gonet unframed", client: gonetClient(transport.PurePayload), server: gonetServer},
	{name: "gRPC", client: []client.Option{client.WithTransportProtocol(transport.GRPC)}},
}

// place is the listener of a server, and the channel that ends the server.
type place struct {
	net.Listener
	exit chan error
}

// listen returns a free place.
func listen(t testing.TB) place {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return place{l, make(chan error, 1)}
}

// run runs a server, made with the options for l, until the test ends.
func run(t testing.TB, s server.Server, l place) string {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- s.Run() }()
	t.Cleanup(func() {
		l.exit <- nil
		<-ended // an error if clients are still connected, on some transports
	})
	return l.Addr().String()
}

func serverOptions(l place, opts []server.Option) []server.Option {
	return append([]server.Option{
		server.WithListener(l.Listener), server.WithExitWaitTime(time.Millisecond),
		server.WithExitSignal(func() <-chan error { return l.exit }),
		server.WithMetaHandler(transmeta.ServerTTHeaderHandler),
	}, opts...)
}

// serve serves h over c until the test ends, and returns the address.
func (c carrier) serve(t testing.TB, h shop.ShopHandler, opts ...server.Option) string {
	t.Helper()
	l := listen(t)
	return run(t, shopservice.NewServer(h, serverOptions(l, slices.Concat(c.server, opts))...), l)
}

// dial returns a client over c.
func (c carrier) dial(t testing.TB, addr string, opts ...client.Option) shopservice.Client {
	t.Helper()
	cl, err := shopservice.NewClient("shop", append(append([]client.Option{client.WithHostPorts(addr), patient}, c.client...), opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return cl
}

// Negative order ids, which tell the test's handler what to do.
const (
	throwMissing = -1 - iota // returns the exception
	throwBusy                // puts the exception into the result
	failPlainly
	panics
	failApplication
	failBusiness
	stall
	releasesArgs
)

// givesUp is the timeout of calls that arrive, on a busy machine, too, and are not answered.
const givesUp = 3 * time.Second

// handler is the handler that the tests call. It knows nothing of Kitex.
type handler struct {
	calls, notes atomic.Int64
	release      chan struct{} // closing it ends stalled calls
	noted        chan int64
}

func newHandler(t testing.TB) *handler {
	h := &handler{release: make(chan struct{}), noted: make(chan int64, 100)}
	t.Cleanup(func() { close(h.release) })
	return h
}

func (h *handler) Ping(context.Context, shop.HealthPingArgs, shop.HealthPingResult) error { return nil }

func (h *handler) Echo(ctx context.Context, args shop.ShopEchoArgs, result shop.ShopEchoResult) error {
	h.calls.Add(1)
	switch args.GetOrder().GetID() {
	case throwMissing:
		e := shop.NewNotFound()
		e.SetWhat(args.GetNote())
		return fmt.Errorf("wrapped: %w", e)
	case throwBusy:
		result.NewBusy().SetSeconds(42)
		return nil
	case failPlainly:
		return errors.New("plainly failed")
	case panics:
		panic("handler's panic")
	case failApplication:
		return &rpc.ApplicationException{Type: rpc.InvalidTransform, Message: "of another type"}
	case failBusiness:
		return kerrors.NewBizStatusError(404, "no business")
	case stall:
		<-h.release
		return nil
	case releasesArgs:
		args.Release()
		return nil
	}
	result.SetSuccess(args.GetOrder())
	if note := args.GetNote(); note != "" {
		result.GetSuccess().SetID(int64(len(note)))
	}
	return nil
}

func (h *handler) Count(_ context.Context, args shop.ShopCountArgs, result shop.ShopCountResult) error {
	result.SetSuccess(int64(args.GetN()) * 2)
	return nil
}

func (h *handler) Text(_ context.Context, args shop.ShopTextArgs, result shop.ShopTextResult) error {
	result.SetSuccess(strings.ToUpper(args.GetS()))
	return nil
}

func (h *handler) Numbers(_ context.Context, args shop.ShopNumbersArgs, result shop.ShopNumbersResult) error {
	result.SetSuccess(args.GetValues().AppendTo(nil))
	return nil
}

func (h *handler) Colour(_ context.Context, args shop.ShopColourArgs, result shop.ShopColourResult) error {
	result.SetSuccess(args.GetC())
	return nil
}

func (h *handler) Check(_ context.Context, args shop.ShopCheckArgs, result shop.ShopCheckResult) error {
	if len(args.GetData()) == 0 {
		result.NewMissing().SetWhat("data")
	}
	return nil
}

func (h *handler) Note(_ context.Context, args shop.ShopNoteArgs) error {
	h.notes.Add(1)
	h.noted <- args.GetOrder().GetID()
	return nil
}

// fillOrder makes o an order with about n bytes in names of at most 100 bytes each.
func fillOrder(o shop.Order, id int64, n int) {
	o.SetID(id)
	items := o.NewItems(n/100 + 1)
	for i, item := range items.All() {
		item.SetName(strings.Repeat(string(rune('a'+i%26)), min(n-100*i, 100)))
		item.SetPrice(int64(i))
	}
}

// fillPicture makes o an order with n bytes in one piece.
func fillPicture(o shop.Order, id int64, n int) {
	o.SetID(id)
	p := o.NewFirst().NewPicture(n)
	for i := range p {
		p[i] = byte(i * 7)
	}
}

// sizes returns the sizes of calls in bytes.
func sizes() []int { return []int{1, 1 << 10, 5 << 10, 9 << 10, 70 << 10, 1 << 20, 8 << 20} }

var _ = nocopykitex.ServerRecycle

// patient gives clients time to connect on a busy machine: Kitex's own is 50 ms.
var patient = client.WithConnectTimeout(time.Minute)
