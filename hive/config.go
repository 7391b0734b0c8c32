package hive

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// Config says how to connect. Only Addr or Discover is needed; the zero value of every other field
// is a good default. ParseDSN makes a Config from text.
//
// Package fmt prints a Config without its secrets: Password, Token and the values of Settings. It
// can't do so for a Config in an unexported field of a struct: keep a pointer there, which %v
// prints as an address.
type Config struct {
	// Addr is host and port, such as "hive.example.com:10000". Several servers are separated by
	// commas: "h1:10000,h2:10000". Connect chooses one of them.
	Addr string
	// Discover, if not nil, is called by Connect instead, and returns such addresses. Package
	// hive/zookeeper has one. Whoever can change what it returns can send clients, with their
	// passwords, to any server, unless TLS trusts only your own certificates.
	Discover func(ctx context.Context) ([]string, error)
	// InOrder makes Connect begin with the first server, and try the next if that fails.
	// Otherwise it tries them in random order, which spreads sessions. It tries at most 16.
	InOrder bool

	User     string // "" means "anonymous"
	Password string
	Database string // in which statements find their tables; "" means the server's default

	// ResetSession makes database/sql's pool open a new session on a connection that a program takes
	// up again, two calls of the server. Otherwise the session keeps what statements have changed:
	// see Driver. A Conn has one session anyway.
	ResetSession bool

	// Settings of the session, such as {"hive.exec.parallel": "true"}.
	Settings map[string]string

	// Location is the session's time zone, which is set when the session is opened. The server's
	// functions use it, such as current_timestamp and hour. A TIMESTAMP is read and written in it,
	// and times that are read have it. nil means the zone that spark.sql.session.timeZone or
	// hive.local.time.zone of Settings name, or else UTC.
	//
	// Before the first time is read or written, the client asks the server for the session's zone,
	// and again after statements that may change it (SET, RESET). A time that may be a wrong one
	// is an error that wraps ErrTimeZone: if the zone is another one, or if clocks in Location
	// were put back and have shown the time twice. UTC has no such times.
	Location *time.Location

	// NoSASL is for servers with hive.server2.authentication = NOSASL, which need no login:
	// messages are not in frames. Otherwise the client logs in by SASL PLAIN, for the server's
	// NONE, LDAP, PAM and CUSTOM. Over HTTP it has no effect.
	NoSASL bool

	// SASL, if not nil, makes the mechanism of a login, instead of PLAIN. It is called for each
	// connection, with the server's host. For Kerberos (GSSAPI) there is the module kerberos.
	SASL func(ctx context.Context, host string) (rpc.SASLClient, error)

	// TLS makes the client use TLS, for binary and HTTP. If it has no ServerName, Addr's host is
	// used.
	TLS *tls.Config

	// HTTP is for servers with hive.server2.transport.mode = http.
	HTTP bool
	// Path of the URL, over HTTP. "" means "cliservice".
	HTTPPath string
	// Token, if not "", is sent as a bearer token over HTTP. Without HTTP it is an error. If it is
	// "", User and Password are sent as HTTP's basic authentication.
	Token string
	// Authorize, if not nil, is called for each request over HTTP instead, to add what the server
	// asks for: "Authorization: Negotiate …" for Kerberos, or a fresh token. Several goroutines
	// may call it at the same time. Without HTTP it is an error.
	Authorize func(r *http.Request) error

	// Logger gets a line when a connection fails, for example. nil means no lines: errors say the
	// program.
	Logger *slog.Logger

	// Dial connects instead of a net.Dialer's DialContext, for example through a proxy.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)

	// BatchRows bounds the rows of a Batch. 0 means 10,000. It is rounded up to a multiple of 8.
	BatchRows int
	// BatchBytes is about how many bytes the client asks the server for at once. It learns the
	// size of rows from the replies, and asks for fewer than BatchRows if they are large; at
	// first it asks for 1,000. 0 means 4 MiB. Servers may send more, up to MaxReply.
	BatchBytes int
	// MaxReply limits the bytes of one reply. Some servers fill one with all of a result, although
	// fewer rows were asked for. A larger one ends the Result with an error that wraps
	// nocopy.ErrLimit. 0 means 256 MiB; the most is 1 GiB. A reply takes about twice its size in
	// memory, and two may be there at the same time.
	MaxReply int

	// Timeout limits Discover, connecting to each server with its login, and each call that ends
	// something: cancelling, closing a query, closing the session. 0 means 10 s. Contexts bound
	// everything else. A reply that has begun to arrive must be complete within 30 s and a further
	// second for each 256 KiB of MaxReply: 17 minutes by default. Otherwise the connection fails
	// with rpc.ErrConnLost. Over HTTP, the limit is 30 s without a byte.
	Timeout time.Duration
}

// Format prints c without secrets. It serves all verbs except %p and %w: package fmt prints a
// struct that it gets for these with all its fields, and calls no method. go vet reports %w.
func (c Config) Format(f fmt.State, verb rune) {
	type config Config // without this method
	const hidden = "***"
	for _, secret := range []*string{&c.Password, &c.Token} {
		if *secret != "" {
			*secret = hidden
		}
	}
	c.Settings = maps.Clone(c.Settings)
	for name := range c.Settings {
		c.Settings[name] = hidden
	}
	text := fmt.Sprintf(fmt.FormatString(f, verb), config(c))
	io.WriteString(f, strings.Replace(text, "hive.config{", "hive.Config{", 1))
}

const (
	defaultRows    = 10_000
	firstRows      = 1_000
	defaultBytes   = 4 << 20
	defaultReply   = 256 << 20
	defaultTimeout = 10 * time.Second
	defaultUser    = "anonymous"
	defaultPath    = "cliservice"
)

// withDefaults returns a copy of c in which all that is needed is set.
func (c Config) withDefaults() Config {
	set(&c.User, defaultUser)
	set(&c.HTTPPath, defaultPath)
	set(&c.BatchRows, defaultRows)
	set(&c.BatchBytes, defaultBytes)
	set(&c.MaxReply, defaultReply)
	set(&c.Timeout, defaultTimeout)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.BatchRows = (min(max(c.BatchRows, 1), 1<<30) + 7) &^ 7
	c.BatchBytes = max(c.BatchBytes, 1)
	c.MaxReply = min(max(c.MaxReply, 1<<10), 1<<30)
	c.Location = c.location()
	settings := make(map[string]string, len(c.Settings)+3)
	for k, v := range c.Settings {
		settings[hiveconf+k] = v
	}
	if c.Database != "" {
		settings["use:database"] = c.Database
	}
	c.Settings = settings
	return c
}

// set sets what is zero.
func set[T comparable](v *T, to T) {
	var zero T
	if *v == zero {
		*v = to
	}
}
