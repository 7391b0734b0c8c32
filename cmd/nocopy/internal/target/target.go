// Package target connects the tool to a server in the way that flags say, or that the server turns
// out to speak.
package target

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// Connection are the flags of commands that call a server. Their names are keys of targets in a
// project file, and each has a variable of the environment except -header.
type Connection struct {
	Transport string `help:"How the server is spoken to: ${enum}. auto asks the server." enum:"auto,framed,unframed,theader,http" default:"auto" env:"NOCOPY_TRANSPORT" group:"Connection"`
	Protocol  string `help:"Encoding of messages: ${enum}." enum:"auto,binary,compact" default:"auto" env:"NOCOPY_PROTOCOL" group:"Connection"`
	Zlib      bool   `help:"With -transport theader, compress calls." env:"NOCOPY_ZLIB" group:"Connection"`

	TLS        bool   `name:"tls" help:"Connect with TLS." env:"NOCOPY_TLS" group:"Connection"`
	CA         string `name:"ca" help:"Trust the certificates in this PEM file, instead of the system's." placeholder:"FILE" env:"NOCOPY_CA" group:"Connection"`
	Cert       string `help:"Show this certificate, a PEM file; with -key." placeholder:"FILE" env:"NOCOPY_CERT" group:"Connection"`
	Key        string `help:"Private key for -cert." placeholder:"FILE" env:"NOCOPY_KEY" group:"Connection"`
	ServerName string `name:"server-name" help:"Name in the server's certificate, if it is not the host." placeholder:"NAME" env:"NOCOPY_SERVER_NAME" group:"Connection"`
	Insecure   bool   `help:"With -tls, accept any certificate." env:"NOCOPY_INSECURE" group:"Connection"`

	SASL        string `name:"sasl" help:"Log in with this mechanism: PLAIN, ANONYMOUS, EXTERNAL or GSSAPI (Kerberos)." placeholder:"MECHANISM" env:"NOCOPY_SASL" group:"Connection"`
	User        string `help:"Name for -sasl; with GSSAPI, kinit says who you are." placeholder:"NAME" env:"NOCOPY_USER" group:"Connection"`
	Password    string `help:"Password for -sasl; better in the environment." env:"NOCOPY_PASSWORD" placeholder:"TEXT" group:"Connection"`
	SASLService string `name:"sasl-service" help:"With -sasl GSSAPI, the service in the server's principal, such as hive; NAME/HOST if its host is not the address's." placeholder:"NAME" env:"NOCOPY_SASL_SERVICE" group:"Connection"`

	Header      []string      `short:"H" help:"Header to send, as 'name: value'; may be repeated." placeholder:"HEADER" sep:"none" group:"Connection"`
	Multiplexed string        `help:"Name of the service for a multiplexing server, if it is not the IDL's." placeholder:"NAME" env:"NOCOPY_MULTIPLEXED" group:"Connection"`
	Timeout     time.Duration `help:"Time for connecting, and for each call after that; for both together if there is one call." default:"10s" env:"NOCOPY_TIMEOUT" group:"Connection"`
	Deadline    time.Duration `help:"Time for a call, which is also told to the server." placeholder:"DURATION" env:"NOCOPY_DEADLINE" group:"Connection"`
	MaxFrame    int           `name:"max-frame" help:"Most bytes of a reply, and with record of a call; 0 is 16,384,000 in a frame, 100 MiB without." placeholder:"BYTES" env:"NOCOPY_MAX_FRAME" group:"Connection"`
	MaxDepth    int           `name:"max-depth" help:"How deep structs and containers of a message may be nested." default:"64" placeholder:"N" env:"NOCOPY_MAX_DEPTH" group:"Connection"`

	certAsked *atomic.Bool // the server has asked for a client's certificate
	tickets   *tickets
}

// Server is a server to be called.
type Server struct {
	Caller rpc.Caller
	// Wire says how the server is spoken to, such as "framed binary".
	Wire string
	// Description is the server's description of itself; nil if it was not asked.
	Description *dynamic.Description
	// NotDescribed is why there is no Description, if it was asked.
	NotDescribed error

	close func()
}

// Close ends the server's connections.
func (s *Server) Close() { s.close() }

// auto tries these transports and protocols, in this order.
var (
	transports = []string{"framed", "unframed", "theader", "http"}
	protocols  = []string{"binary", "compact"}
)

// Check returns an error about flags that do not go together, or not with a server's address.
func (f *Connection) Check(addr string) error {
	if f.certAsked == nil {
		f.certAsked, f.tickets = new(atomic.Bool), new(tickets)
	}
	scheme, encrypted := scheme(addr), f.encrypted()
	switch {
	case (f.Cert == "") != (f.Key == ""):
		return errors.New("-cert and -key need each other")
	case encrypted != "" && scheme == "http":
		return fmt.Errorf("%s, and calls to %s would not be encrypted: write https://, or leave the flag away", encrypted, addr)
	case scheme != "" && f.Transport != "auto" && f.Transport != "http":
		return fmt.Errorf("-transport %s does not go with %s: calls to a URL go over HTTP", f.Transport, addr)
	case f.Timeout <= 0 || f.Deadline < 0:
		return errors.New("-timeout is more than 0, and -deadline is not negative")
	case f.MaxFrame < 0 || f.MaxDepth < 0 || f.MaxDepth > 1<<16:
		return errors.New("-max-frame is not negative, and -max-depth from 0 to 65,536")
	case encrypted != "":
		f.TLS = true
	}
	if err := f.checkLogin(addr); err != nil {
		return err
	}
	for _, h := range f.Header {
		if _, _, ok := strings.Cut(h, ":"); !ok {
			return fmt.Errorf("header %q is not as 'name: value'", h)
		}
	}
	return nil
}

// encrypted returns a flag about TLS that was given, "" if none was.
func (f *Connection) encrypted() (flag string) {
	for name, given := range map[string]bool{"-tls": f.TLS, "-ca": f.CA != "", "-cert": f.Cert != "", "-server-name": f.ServerName != "", "-insecure": f.Insecure} {
		if given {
			flag = max(flag, name)
		}
	}
	return flag
}

// scheme returns http or https of a URL, "" of other addresses.
func scheme(addr string) string {
	name, _, ok := strings.Cut(addr, "://")
	if name = strings.ToLower(name); ok && (name == "http" || name == "https") {
		return name
	}
	return ""
}

// Connect connects to a server, in at most -timeout. With ask, or if it has to find out how to
// speak, it asks the server for its description. opts are further options of the client.
func (f *Connection) Connect(ctx context.Context, addr string, ask bool, opts ...rpc.Option) (*Server, error) {
	if err := f.Check(addr); err != nil {
		return nil, shell.WithCode(shell.Usage, err)
	}
	ctx, cancel := context.WithTimeout(ctx, f.Timeout)
	defer cancel()
	w := wire{f.Transport, f.Protocol}
	if scheme(addr) != "" {
		w.transport = "http"
	}
	if w.transport != "auto" && w.protocol == "auto" && !ask {
		w.protocol = "binary"
	}
	if w.transport == "auto" || w.protocol == "auto" {
		return f.detect(ctx, addr, w, ask, opts)
	}
	s, err := f.dial(ctx, addr, w, opts)
	if err != nil {
		return nil, f.Explain(addr, err)
	}
	if ask {
		f.describe(ctx, s, s.Caller, true)
	}
	return s, nil
}

// Again connects once more to a server that Connect has found to be spoken to in the way that is
// Server.Wire.
func (f *Connection) Again(ctx context.Context, addr, found string, opts ...rpc.Option) (*Server, error) {
	transport, protocol, _ := strings.Cut(found, " ")
	ctx, cancel := context.WithTimeout(ctx, f.Timeout)
	defer cancel()
	return f.dial(ctx, addr, wire{transport, protocol}, opts)
}

// wire is a way to speak to a server.
type wire struct{ transport, protocol string }

func (w wire) String() string { return w.transport + " " + w.protocol }

// dial connects to a server.
func (f *Connection) dial(ctx context.Context, addr string, w wire, opts []rpc.Option) (*Server, error) {
	opts = append([]rpc.Option{rpc.MaxFrame(f.MaxFrame), rpc.DialTimeout(f.Timeout), rpc.Limits(nocopy.Limits{MaxDepth: f.MaxDepth}), rpc.Logger(slog.New(slog.DiscardHandler))}, opts...)
	if f.Deadline > 0 {
		opts = append(opts, rpc.Deadlines)
	}
	config, err := f.tlsConfig()
	if err != nil {
		return nil, err
	}
	if w.transport == "http" {
		return f.dialHTTP(addr, w, config, opts)
	}
	if config != nil {
		opts = append(opts, rpc.TLS(config))
	}
	if w.protocol == "compact" {
		opts = append(opts, rpc.Protocol(rpc.Compact))
	}
	switch {
	case w.transport == "unframed":
		opts = append(opts, rpc.Unframed)
	case w.transport == "theader" && f.Zlib:
		opts = append(opts, rpc.THeader(rpc.Zlib))
	case w.transport == "theader":
		opts = append(opts, rpc.THeader())
	}
	if f.SASL != "" {
		mechanism, err := f.mechanism(addr)
		if err != nil {
			return nil, err
		}
		opts = append(opts, rpc.SASL(mechanism))
	}
	network, address := Address(addr)
	cl, err := rpc.Dial(ctx, network, address, opts...)
	if errors.Is(err, context.DeadlineExceeded) {
		err = &plain{fmt.Sprintf("no connection in %v", f.Timeout), err}
	}
	if err != nil {
		return nil, err
	}
	return &Server{Caller: cl, Wire: w.String(), close: func() { cl.Close() }}, nil
}

// dialHTTP returns a server that is called over HTTP.
func (f *Connection) dialHTTP(addr string, w wire, config *tls.Config, opts []rpc.Option) (*Server, error) {
	if w.protocol == "compact" {
		opts = append(opts, rpc.Protocol(rpc.Compact))
	}
	if config != nil {
		opts = append(opts, rpc.TLS(config))
	}
	if network, path := Address(addr); network == "unix" {
		opts = append(opts, rpc.Dialer(func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}))
	}
	c, err := rpc.DialHTTP(httpURL(addr, config != nil), opts...)
	if err != nil {
		return nil, err
	}
	return &Server{Caller: c, Wire: w.String(), close: func() { c.(interface{ Close() error }).Close() }}, nil
}

// httpURL returns the URL of a server that is called over HTTP.
func httpURL(addr string, encrypted bool) string {
	if scheme(addr) != "" {
		return addr
	}
	network, address := Address(addr)
	if network == "unix" {
		address = "localhost"
	}
	if !strings.Contains(address, "/") {
		address += "/"
	}
	if encrypted {
		return "https://" + address
	}
	return "http://" + address
}

// URL returns the URL of a server, if it is called over HTTP.
func URL(addr string) (*url.URL, error) { return url.Parse(httpURL(addr, false)) }

var passwords = regexp.MustCompile(`^((?:\w+://)?[^/:@]*):[^/]*@`)

// Shown returns an address for people to read: without the password that a URL has.
func Shown(addr string) string { return passwords.ReplaceAllString(addr, "$1:***@") }

// IsLocal reports whether an address is on this machine, over HTTP and without.
func IsLocal(addr string) bool {
	network, address := Address(addr)
	if network == "unix" {
		return true
	}
	u, err := URL(addr)
	if err != nil || !isLoopback(u.Hostname()) {
		return false
	}
	host, _, err := net.SplitHostPort(address)
	return scheme(addr) != "" || err != nil || isLoopback(host)
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// Address returns the network and address of a server: HOST:PORT, or the path of a unix socket,
// which has a slash or begins with "unix:".
func Address(addr string) (network, address string) {
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		return "unix", strings.TrimPrefix(path, "//")
	}
	if strings.HasPrefix(addr, "/") || strings.HasPrefix(addr, "./") || strings.HasPrefix(addr, "../") {
		return "unix", addr
	}
	if strings.HasPrefix(addr, ":") {
		addr = "localhost" + addr
	}
	return "tcp", strings.TrimPrefix(addr, "tcp://")
}

// tlsConfig returns the settings for TLS; nil without.
func (f *Connection) tlsConfig() (*tls.Config, error) {
	if !f.TLS {
		return nil, nil
	}
	c := &tls.Config{ServerName: f.ServerName, InsecureSkipVerify: f.Insecure}
	if f.CA != "" {
		pem, err := os.ReadFile(f.CA)
		if err != nil {
			return nil, err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s has no certificate in PEM", f.CA)
		}
	}
	c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		f.certAsked.Store(true)
		return new(tls.Certificate), nil // none
	}
	if f.Cert != "" {
		c.GetClientCertificate = nil
		pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// Context returns a context for one call: with the headers, and the time that it may take.
func (f *Connection) Context(ctx context.Context) (context.Context, context.CancelFunc) {
	for _, h := range f.Header {
		name, value, _ := strings.Cut(h, ":")
		ctx = rpc.SetHeader(ctx, strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return context.WithTimeout(ctx, f.patience())
}

// patience is the time for a call.
func (f *Connection) patience() time.Duration {
	if f.Deadline > 0 {
		return f.Deadline
	}
	return f.Timeout
}

// Whole returns a context for a command that makes one call: it ends when the time for connecting
// and for the call is over.
func (f *Connection) Whole(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, max(f.Timeout, f.Deadline))
}

// plain is an error with another text.
type plain struct {
	text string
	err  error
}

func (p *plain) Error() string { return p.text }
func (p *plain) Unwrap() error { return p.err }

// Plainly returns the error of a call in words of the tool: times that are over, and flags.
func (f *Connection) Plainly(err error) error {
	var said *plain
	var answer *rpc.ApplicationException
	if errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &said) && !errors.As(err, &answer) {
		return &plain{fmt.Sprintf("no answer in %v", f.patience()), err}
	}
	return WithFlags(err)
}

// WithFlags returns an error that names flags instead of options in Go.
func WithFlags(err error) error {
	var answer *rpc.ApplicationException
	if err == nil || errors.As(err, &answer) { // the server means an option of its own
		return err
	}
	if text := FlagsIn(err.Error()); text != err.Error() {
		return &plain{text, err}
	}
	return err
}

// Explain adds to an error what the user may do about it.
func (f *Connection) Explain(addr string, err error) error {
	var unknown x509.UnknownAuthorityError
	var record tls.RecordHeaderError
	var status *rpc.HTTPError
	hint := ""
	switch {
	case errors.Is(err, rpc.ErrTLS):
		hint = "the server speaks TLS: add -tls"
	case errors.As(err, &record):
		hint = "the server does not speak TLS: leave -tls away"
	case errors.As(err, &unknown):
		hint = "name its authority with -ca FILE, or accept any certificate with -insecure"
	case f.lacksCert(err):
		hint = "the server demands a client's certificate: add -cert FILE -key FILE"
	case strings.Contains(err.Error(), "remote error: tls: handshake failure"):
		hint = "perhaps the server does not speak TLS"
	case strings.Contains(err.Error(), "server has no login by SASL"):
		hint = "leave -sasl away"
	case f.SASL != "" && !f.TLS && strings.Contains(err.Error(), "login by SASL: ") && endsSilently(err):
		hint = "perhaps the server expects TLS: add -tls; or it has no login: leave -sasl away"
	case errors.Is(err, rpc.ErrLogin):
		hint = f.loginHint(err)
	case errors.As(err, &status) && status.Status == http.StatusNotFound:
		hint = "name the path, as in http://HOST:PORT/path"
	case f.SASL == "" && demandsLogin(err):
		hint = "the server demands a login: add " + loginFlags
	}
	err = f.Plainly(err)
	if hint != "" {
		return fmt.Errorf("%s: %w (%s)", Shown(addr), err, hint)
	}
	return fmt.Errorf("%s: %w", Shown(addr), err)
}

// lacksCert reports whether a server has ended a connection since it demands a certificate. With
// TLS 1.3 it refuses after the handshake, and the connection may end before its reason is read.
func (f *Connection) lacksCert(err error) bool {
	return f.Cert == "" && (strings.Contains(err.Error(), "tls: certificate required") || f.certAsked != nil && f.certAsked.Load() && errors.Is(err, io.EOF))
}

// FlagsIn returns an error's text with flags instead of options in Go.
func FlagsIn(text string) string { return flagNames.Replace(text) }

// flagNames replaces the names that limits and options have in Go.
var flagNames = strings.NewReplacer(
	"the option rpc.MaxFrame", "-max-frame", "rpc.Server.MaxFrame", "-max-frame", "rpc.MaxFrame", "-max-frame", "Limits.MaxDepth", "-max-depth",
	", and the client makes no other", "", // record has one for each of its client's
	"servers of HTTP are called with rpc.DialHTTP", "add -transport http",
	"; see the option rpc.TLS", "", "; see the option rpc.SASL", "", // Explain says it
	"; nocopyjson.AllowUnknown skips unknown fields", "", // no command does
	"TLS (rpc.TLS)", "TLS (-tls)", "a login (rpc.SASL)", "a login ("+loginFlags+")",
	"a certificate,", "a certificate (-cert FILE -key FILE),",
	"another transport or protocol", "another -transport or -protocol",
)
