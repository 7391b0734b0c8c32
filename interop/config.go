package interop

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/command"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// Config holds the flags of client and server: those that Apache's test/README.md defines for the
// programs of every language.
type Config struct {
	Host         string // client only
	Port         int
	DomainSocket string        // instead of host and port
	Transport    string        // one of Transports
	Protocol     string        // one of Protocols
	Loops        int           // client only: how many times to call everything
	Timeout      time.Duration // client only: how long a call may take
	SSL          bool
	CertPath     string // the directory with keys and certificates, Apache's test/keys
}

// The names of transports and protocols, as Apache's test/README.md has them. "multi" and "multic"
// are both services, multiplexed, over "binary" and "compact".
var (
	Transports = []string{"buffered", "framed", "header", "http"}
	Protocols  = []string{"binary", "multi", "compact", "multic"}
)

// Multiplexed reports whether a protocol is one with both services.
func Multiplexed(protocol string) bool { return strings.HasPrefix(protocol, "multi") }

// Dial returns a client for a transport and a protocol. Close ends it.
func Dial(ctx context.Context, network, address, transport, protocol string, opts ...rpc.Option) (Client, error) {
	if protocol == "compact" || protocol == "multic" {
		opts = append(opts, rpc.Protocol(rpc.Compact))
	}
	switch transport {
	case "buffered":
		opts = append(opts, rpc.Unframed)
	case "header":
		opts = append(opts, rpc.THeader())
	case "http":
		if network != "tcp" {
			return nil, fmt.Errorf("no HTTP over %s", network)
		}
		c, err := rpc.DialHTTP("http://"+address+"/", opts...)
		if err != nil {
			return nil, err
		}
		return c.(Client), nil
	}
	return rpc.Dial(ctx, network, address, opts...)
}

// Client is a Caller with connections.
type Client interface {
	rpc.Caller
	io.Closer
}

// ParseFlags parses a command line. It writes usage and errors to out; the error is flag.ErrHelp
// for -help.
func ParseFlags(program string, args []string, client bool, out io.Writer) (Config, error) {
	var c Config
	flags := flag.NewFlagSet(program, flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() {
		fmt.Fprintln(out, "Allowed options:")
		flags.PrintDefaults()
	}
	flags.StringVar(&c.Transport, "transport", "buffered", "transport: "+strings.Join(Transports, ", "))
	flags.StringVar(&c.Protocol, "protocol", "binary", "protocol: "+strings.Join(Protocols, ", "))
	flags.StringVar(&c.DomainSocket, "domain-socket", "", "unix domain `socket`, instead of a port")
	flags.BoolVar(&c.SSL, "ssl", false, "encrypted transport using TLS")
	flags.StringVar(&c.CertPath, "certPath", "keys", "`directory` with keys and certificates for --ssl: Apache Thrift's test/keys")
	if client {
		flags.StringVar(&c.Host, "host", "localhost", "host to connect")
		flags.IntVar(&c.Port, "port", 9090, "port number to connect")
		flags.IntVar(&c.Loops, "testloops", 1, "number of tests")
		flags.IntVar(&c.Loops, "n", 1, "the same")
		flags.DurationVar(&c.Timeout, "timeout", 5*time.Second, "how long a call may take")
	} else {
		flags.IntVar(&c.Port, "port", 9090, "port number to listen; 0 is any free one")
	}
	if err := command.Parse(flags, args); err != nil {
		return c, err
	}
	err := c.check(flags.Args())
	if err != nil {
		fmt.Fprintln(out, "Error:", err)
	}
	return c, err
}

func (c Config) check(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected argument %q", rest[0])
	case !slices.Contains(Transports, c.Transport):
		return fmt.Errorf("unknown transport type %q", c.Transport)
	case !slices.Contains(Protocols, c.Protocol):
		return fmt.Errorf("unknown protocol type %q", c.Protocol)
	case c.Port < 0 || c.Port > 65535:
		return fmt.Errorf("no such port: %d", c.Port)
	}
	return nil
}

// TLS returns the configuration of a client or of a server, nil without SSL. Each shows its
// certificate and accepts no other peer's than the one in Apache's test/keys; a server does not
// ask for the client's, as Apache's Go server does not.
func (c Config) TLS(client bool) (*tls.Config, error) {
	if !c.SSL {
		return nil, nil
	}
	name := "server"
	if client {
		name = "client_v3"
	}
	file := func(name string) string { return filepath.Join(c.CertPath, name) }
	cert, err := tls.LoadX509KeyPair(file(name+".crt"), file(name+".key"))
	if err != nil {
		return nil, err
	}
	peer, err := os.ReadFile(file("server.crt"))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(peer)
	return &tls.Config{Certificates: []tls.Certificate{cert}, RootCAs: roots}, nil
}

// Address returns the network and the address to listen on or to connect to.
func (c Config) Address() (network, address string) {
	if c.DomainSocket != "" {
		return "unix", c.DomainSocket
	}
	return "tcp", net.JoinHostPort(c.Host, strconv.Itoa(c.Port))
}
