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
	// enough.
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

// Servers returns the addresses of the servers that are registered now. It tries each server of
// the ensemble once. It is a function for hive.Config.Discover.
func (d Discovery) Servers(ctx context.Context) ([]string, error) {
	if len(d.Ensemble) == 0 {
		return nil, errors.New("zookeeper: Ensemble is empty")
	}
	namespace := path.Join("/", d.Namespace)
	if namespace == "/" {
		namespace = "/hiveserver2"
	}
	g := newGuard(context.WithoutCancel(ctx), d.Dial)
	conn, _, err := zk.Connect(d.Ensemble, sessionTimeout, zk.WithDialer(g.dial), zk.WithLogger(silent{}),
		zk.WithMaxBufferSize(mostBytes), zk.WithHostProvider(&hosts{}))
	if err != nil {
		return nil, fmt.Errorf("zookeeper: %w", err)
	}
	type answer struct {
		addrs []string
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		addrs, err := d.registered(conn, namespace)
		answers <- answer{addrs, err}
	}()
	var a answer
	select {
	case a = <-answers:
	case <-ctx.Done():
		a.err = context.Cause(ctx)
	}
	if a.err != nil {
		err := g.explain(a.err)
		g.close() // else the client may wait for a minute
		go conn.Close()
		return nil, fmt.Errorf("zookeeper: the nodes of %q: %w", namespace, err)
	}
	go func() { // it waits for the answer of ZooKeeper, for at most some seconds
		conn.Close()
		g.close()
	}()
	return a.addrs, nil
}

// registered returns the addresses of the nodes of a namespace.
func (d Discovery) registered(conn *zk.Conn, namespace string) (addrs []string, err error) {
	var nodes []string
	for range len(d.Ensemble) + 1 { // servers that are being stopped end the connection
		if nodes, _, err = conn.Children(namespace); !errors.Is(err, zk.ErrConnectionClosed) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	read := 0
	for _, node := range nodes {
		addr := addrOf(node)
		if addr == "" && read < mostNodes {
			read++
			data, _, err := conn.Get(namespace + "/" + node)
			if err != nil { // it has gone meanwhile, or is not for everyone
				continue
			}
			addr = addrIn(string(data))
		}
		if addr != "" {
			addrs = append(addrs, addr)
		}
	}
	if len(nodes) > 0 && len(addrs) == 0 {
		return nil, fmt.Errorf("none of %d nodes names a server", len(nodes))
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

// hosts hands out the addresses of the ensemble, in turn. The client's own resolves all names
// first, and fails if one of them is unknown.
type hosts struct {
	addrs []string
	next  int
	first bool // the next one is the first since a server has answered
}

// Init is called once, with the addresses in random order.
func (h *hosts) Init(addrs []string) error {
	h.addrs, h.first = addrs, true
	return nil
}

// Len returns how many there are.
func (h *hosts) Len() int { return len(h.addrs) }

// Next returns an address. retryStart makes the client pause, since all were tried.
func (h *hosts) Next() (addr string, retryStart bool) {
	addr = h.addrs[h.next]
	retryStart = h.next == 0 && !h.first
	h.first = false
	h.next = (h.next + 1) % len(h.addrs)
	return addr, retryStart
}

// Connected is called when a server has answered.
func (h *hosts) Connected() {}
