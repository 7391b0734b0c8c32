package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/cloudwego/kitex/client"
	"github.com/cloudwego/kitex/pkg/circuitbreak"
	"github.com/cloudwego/kitex/pkg/kerrors"
	"github.com/cloudwego/kitex/pkg/klog"
	"github.com/cloudwego/kitex/pkg/loadbalance"
	"github.com/cloudwego/kitex/pkg/loadbalance/lbcache"
	"github.com/cloudwego/kitex/pkg/registry"
	"github.com/cloudwego/kitex/pkg/retry"
	"github.com/cloudwego/kitex/pkg/rpcinfo"
	"github.com/cloudwego/kitex/server"
	"github.com/cloudwego/kitex/transport"
	"github.com/kitex-contrib/obs-opentelemetry/tracing"
	etcd "github.com/kitex-contrib/registry-etcd"

	"github.com/nocopythrift/nocopythrift/kitex/examples/kitexproxy/orders"
	service "github.com/nocopythrift/nocopythrift/kitex/examples/kitexproxy/orders/orders"
)

const (
	// roleEnv is the environment variable that makes a process a back end or a proxy: what newBackend
	// or newProxy takes, with spaces between.
	roleEnv = "KITEXPROXY_ROLE"

	// serviceName is the name under which back ends are registered.
	serviceName = "orders"

	// leaseSeconds is how long a back end stays registered that was killed.
	leaseSeconds = 2
)

// process is a back end or a proxy.
type process struct {
	cmd  *exec.Cmd
	in   io.Closer
	addr string
}

// start starts a process with this role and waits until it listens.
func start(role ...string) (*process, error) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"="+strings.Join(role, " "),
		fmt.Sprint("KITEX_ETCD_REGISTRY_LEASE_TTL=", leaseSeconds))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, in: in}
	if _, err := fmt.Fscanln(out, &p.addr); err != nil {
		p.kill()
		return nil, fmt.Errorf("%s did not start: %w", role[0], err)
	}
	return p, nil
}

// kill ends the process at once, and returns when it is gone.
func (p *process) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait() // its error is that it was killed
}

// stop has the process end, which it does when its standard input ends.
func (p *process) stop() {
	p.in.Close()
	p.cmd.Wait() // it may have been killed before
}

// play does what a process with this role does, until standard input ends.
func play(role string) error {
	klog.SetLevel(klog.LevelFatal) // Kitex warns of each connection to a back end that is gone
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	var svr server.Server
	switch f := strings.Fields(role); {
	case len(f) == 4 && f[0] == "backend":
		weight, err := strconv.Atoi(f[2])
		if err != nil {
			return err
		}
		svr, err = newBackend(l, f[1], weight, f[3])
		if err != nil {
			return err
		}
	case len(f) == 2 && f[0] == "proxy":
		if svr, err = newProxy(l, f[1]); err != nil {
			return err
		}
	default:
		return errors.New("no such role")
	}
	ended := make(chan error, 1)
	go func() { ended <- svr.Run() }()
	fmt.Println(l.Addr())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		ended <- svr.Stop()
	}()
	return <-ended
}

// newBackend returns a server that is registered in the etcd at registryAddr.
func newBackend(l net.Listener, name string, weight int, registryAddr string) (server.Server, error) {
	r, err := etcd.NewEtcdRegistry([]string{registryAddr})
	if err != nil {
		return nil, err
	}
	return service.NewServer(&backend{name}, server.WithListener(l), server.WithRegistry(r),
		server.WithRegistryInfo(&registry.Info{ServiceName: serviceName, Weight: weight}),
		server.WithServerBasicInfo(&rpcinfo.EndpointBasicInfo{ServiceName: serviceName}),
		server.WithExitWaitTime(10*time.Millisecond)), nil
}

type backend struct{ name string }

func (b *backend) Place(_ context.Context, args orders.OrdersPlaceArgs, result orders.OrdersPlaceResult) error {
	order := args.GetOrder()
	n := len(order.GetDocument())
	for _, line := range order.GetLines().All() {
		n += len(line)
	}
	receipt := result.NewSuccess()
	receipt.SetID(order.GetID())
	receipt.SetBackend(b.name)
	receipt.SetHeader(order.GetHeader())
	receipt.SetBytes(int64(n))
	return nil
}

// newProxy returns a server that passes calls on to the back ends that the etcd at registryAddr
// knows.
func newProxy(l net.Listener, registryAddr string) (server.Server, error) {
	backends, err := newBackends(registryAddr)
	if err != nil {
		return nil, err
	}
	return service.NewServer(&proxy{backends}, server.WithListener(l), server.WithSuite(tracing.NewServerSuite()),
		server.WithExitWaitTime(10*time.Millisecond)), nil
}

// newBackends returns a client of the back ends that the etcd at registryAddr knows.
func newBackends(registryAddr string) (service.Client, error) {
	r, err := etcd.NewEtcdResolver([]string{registryAddr})
	if err != nil {
		return nil, err
	}
	balancer := client.WithLoadBalancer(loadbalance.NewWeightedRoundRobinBalancer(),
		&lbcache.Options{RefreshInterval: 200 * time.Millisecond})
	policy := retry.NewFailurePolicy()
	policy.WithMaxRetryTimes(5)
	policy.WithFixedBackOff(10)
	policy.WithRetryBreaker(0.3) // by default it stops once 10 % of the calls have failed
	breaker := circuitbreak.NewCBSuite(circuitbreak.RPCInfo2Key)
	return service.NewClient(serviceName, client.WithResolver(r), balancer,
		client.WithFailureRetry(policy), client.WithSpecifiedResultRetry(again),
		client.WithCircuitBreaker(breaker), client.WithSuite(tracing.NewClientSuite()),
		client.WithTransportProtocol(transport.Framed), longConnections)
}

// again says which calls are made again. Where there is no connection to a back end, or its
// circuit breaker is open, Kitex picks another one by itself, a few times, and may pick the same
// again. A call whose connection broke may have been carried out: it is made again since that does
// no harm here.
var again = &retry.ShouldResultRetry{
	ErrorRetryWithCtx: func(_ context.Context, err error, _ rpcinfo.RPCInfo) bool {
		return errors.Is(err, kerrors.ErrGetConnection) || errors.Is(err, kerrors.ErrRemoteOrNetwork) ||
			errors.Is(err, kerrors.ErrCircuitBreak)
	},
	NotRetryForTimeout: true,
}

type proxy struct{ backends service.Client }

func (p *proxy) Place(ctx context.Context, args orders.OrdersPlaceArgs, result orders.OrdersPlaceResult) error {
	order := args.GetOrder()
	order.GetHeader().SetVia(via) // the other bytes stay where they were received
	res, err := p.backends.Place(ctx, func(args orders.OrdersPlaceArgs) { args.SetOrder(order) })
	if err != nil {
		return err
	}
	defer res.Release()
	result.SetSuccess(res.GetSuccess())
	return nil
}

// via is the value that the proxy sets order.header.via to.
const via = "kitexproxy"
