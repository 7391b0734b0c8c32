// Package zookeeper finds the servers that HiveServer2 registers in ZooKeeper, where
// hive.server2.support.dynamic.service.discovery is true. JDBC's URLs say
// serviceDiscoveryMode=zooKeeper for it.
//
//	d := zookeeper.Discovery{Ensemble: []string{"zk1:2181", "zk2:2181"}}
//	conn, err := hive.Connect(ctx, hive.Config{Discover: d.Servers})
//
// Programs that import it may use data source names such as
//
//	hive://ada:secret@zk1:2181,zk2:2181/sales?discovery=zookeeper
//
// ZooKeeper says where servers are, not how they speak: transport, TLS and login are those of the
// Config. Logins at ZooKeeper are not supported: its nodes must be readable by anyone, as they
// usually are.
package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/nocopythrift/nocopythrift/hive/internal/discovery"
)

func init() {
	discovery.ZooKeeper = func(ensemble []string, namespace string) func(context.Context) ([]string, error) {
		return Discovery{Ensemble: ensemble, Namespace: namespace}.Servers
	}
}

// Discovery says where servers are registered.
type Discovery struct {
	// Ensemble is the addresses of ZooKeeper's servers, such as "zk1:2181". One that answers is
	// enough: see Servers.
	Ensemble []string
	// Namespace is hive.server2.zookeeper.namespace. "" means "hiveserver2".
	Namespace string
	// Dial connects instead of a net.Dialer's DialContext, by TLS for example.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Limits of what is read. ZooKeeper's own limit for a node and for a list of nodes is 1 MiB.
const (
	mostBytes = 1 << 20
	mostNodes = 64 // whose data is read
)

const sessionTimeout = 10 * time.Second

// patience is how long a server of the ensemble may take if the context has no deadline.
const patience = 30 * time.Second

// Servers returns the addresses of the servers that are registered now. It asks the servers of the
// ensemble in random order, each once, until one answers. They share the time until ctx's
// deadline; without a deadline each may take 30 seconds. The error names each one that did not
// answer. It is a function for hive.Config.Discover.
func (d Discovery) Servers(ctx context.Context) ([]string, error) {
	if len(d.Ensemble) == 0 {
		return nil, errors.New("zookeeper: Ensemble is empty")
	}
	namespace := path.Join("/", d.Namespace)
	if namespace == "/" {
		namespace = "/hiveserver2"
	}
	var failed error
	for n, i := range rand.Perm(len(d.Ensemble)) {
		server := d.Ensemble[i]
		addrs, err := d.ask(ctx, server, namespace, len(d.Ensemble)-n)
		if err == nil {
			return addrs, nil
		}
		if isAnswer(err) { // the others would say the same
			failed = err
			break
		}
		if err = fmt.Errorf("%s: %w", server, err); failed != nil {
			err = fmt.Errorf("%w; %w", failed, err)
		}
		if failed = err; ctx.Err() != nil {
			break
		}
	}
	return nil, fmt.Errorf("zookeeper: the nodes of %q: %w", namespace, failed)
}

// ask asks one server of the ensemble. It takes an equal share of the time, if so many are left.
func (d Discovery) ask(ctx context.Context, server, namespace string, left int) ([]string, error) {
	share := patience
	if deadline, ok := ctx.Deadline(); ok {
		share = time.Until(deadline) / time.Duration(left)
	}
	g := newGuard(context.WithoutCancel(ctx), d.Dial)
	ctx, cancel := context.WithTimeout(ctx, share)
	defer cancel()
	conn, _, err := zk.Connect([]string{server}, sessionTimeout, zk.WithDialer(g.dial), zk.WithLogger(silent{}),
		zk.WithMaxBufferSize(mostBytes), zk.WithHostProvider(&host{}))
	if err != nil {
		return nil, err
	}
	type answer struct {
		addrs []string
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		addrs, err := registered(conn, namespace)
		answers <- answer{addrs, err}
	}()
	var a answer
	select {
	case a = <-answers:
	case <-ctx.Done():
		a.err = fmt.Errorf("no answer: %w", context.Cause(ctx))
	}
	if a.err != nil {
		g.close() // else the client may wait for a minute
		go conn.Close()
		return nil, g.reason(a.err)
	}
	go func() { // it waits for the answer of ZooKeeper, for at most some seconds
		conn.Close()
		g.close()
	}()
	return a.addrs, nil
}

// errNoServer is the error of a namespace whose nodes are of another kind.
var errNoServer = errors.New("names a server")

// isAnswer reports whether a server of ZooKeeper has answered with this error.
func isAnswer(err error) bool {
	return errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrNoAuth) || errors.Is(err, errNoServer)
}

// registered returns the addresses of the nodes of a namespace.
func registered(conn *zk.Conn, namespace string) (addrs []string, err error) {
	nodes, _, err := conn.Children(namespace)
	if err != nil {
		return nil, err
	}
	read := 0
	for _, node := range nodes {
		addr := addrOf(node)
		if addr == "" && read < mostNodes {
			read++
			data, _, err := conn.Get(namespace + "/" + node)
			if isAnswer(err) { // it has gone meanwhile, or is not for everyone
				continue
			}
			if err != nil {
				return nil, err
			}
			addr = addrIn(string(data))
		}
		if addr != "" {
			addrs = append(addrs, addr)
		}
	}
	if len(nodes) > 0 && len(addrs) == 0 {
		return nil, fmt.Errorf("none of %d nodes %w", len(nodes), errNoServer)
	}
	slices.Sort(addrs)
	return slices.Compact(addrs), nil
}

// addrOf returns the address in the name of a node, or "":
//
//	serverUri=h.example.com:10000;version=3.1.3;sequence=0000000012
//
// Kyuubi writes serviceUri.
func addrOf(node string) string {
	for part := range strings.SplitSeq(node, ";") {
		if name, addr, _ := strings.Cut(part, "="); name == "serverUri" || name == "serviceUri" {
			return addr
		}
	}
	return ""
}

// addrIn returns the address in the data of a node, or "". Hive 1 writes it alone, later versions
// write settings:
//
//	hive.server2.instance.uri=h.example.com:10000;hive.server2.authentication=NONE;…
func addrIn(data string) string {
	if !strings.Contains(data, "=") {
		return data
	}
	for part := range strings.SplitSeq(data, ";") {
		if name, addr, _ := strings.Cut(part, "="); name == "hive.server2.instance.uri" {
			return addr
		}
	}
	return ""
}

// silent is a logger for lines that nobody needs: errors say what fails.
type silent struct{}

func (silent) Printf(string, ...any) {}

// host is the one server that a client connects to. The client's own provider resolves names
// without a limit of time.
type host struct {
	addr  string
	tried bool
}

// Init is called once, with the address.
func (h *host) Init(addrs []string) error {
	h.addr = addrs[0]
	return nil
}

// Len returns how many there are.
func (h *host) Len() int { return 1 }

// Next returns the address. retryStart makes the client pause before the second attempt.
func (h *host) Next() (addr string, retryStart bool) {
	retryStart, h.tried = h.tried, true
	return h.addr, retryStart
}

// Connected is called when the server has answered.
func (h *host) Connected() {}
