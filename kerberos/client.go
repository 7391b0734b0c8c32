package kerberos

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// Mechanism is the name of the SASL mechanism, RFC 4752.
const Mechanism = "GSSAPI"

// QOP is a set of qualities of protection: what becomes of messages after a login. The names are
// those of hadoop.rpc.protection and of hive.server2.thrift.sasl.qop.
type QOP byte

const (
	Auth     QOP = 1 // auth: messages are not protected. TLS can do that
	AuthInt  QOP = 2 // auth-int: nobody can change them on their way
	AuthConf QOP = 4 // auth-conf: nobody can read them either
)

// String returns the names of the qualities in q, joined by commas.
func (q QOP) String() string {
	text := ""
	for _, one := range []QOP{AuthConf, AuthInt, Auth} {
		if q&one != 0 {
			text += "," + map[QOP]string{Auth: "auth", AuthInt: "auth-int", AuthConf: "auth-conf"}[one]
		}
	}
	if text == "" {
		return "none"
	}
	return text[1:]
}

// best returns the best quality in q, or 0.
func (q QOP) best() QOP {
	for _, one := range []QOP{AuthConf, AuthInt, Auth} {
		if q&one != 0 {
			return one
		}
	}
	return 0
}

// ticketTimeout bounds the time to wait for a KDC while a connection logs in.
const ticketTimeout = 30 * time.Second

// Client is the client's side of the mechanism, for [rpc.SASL]. The server must prove who it is.
type Client struct {
	tickets ticketSource
	spn     string
	qop     QOP
	ticket  ticket
	request *request
	context *securityContext
	agreed  QOP // 0 before the end of a login
}

// ticketSource is Credentials, except in tests.
type ticketSource interface {
	ticket(ctx context.Context, spn string) (ticket, error)
}

// NewClient returns a Client that logs in at the service of a host, such as "hive" at
// "hive.example.com": the KDC must know the principal hive/hive.example.com. host is the full
// name that the keytab of the server has. Of the qualities in qop, 0 for Auth, that the server
// offers it takes the best.
func NewClient(c *Credentials, service, host string, qop QOP) *Client {
	if c == nil || service == "" || host == "" {
		panic("nocopy: kerberos.NewClient without credentials, service or host")
	}
	return newClient(c, principalOf(service, host), qop)
}

// principalOf returns the name of a service. Hosts are in lower case, as with MIT's library.
func principalOf(service, host string) string {
	return service + "/" + strings.ToLower(strings.TrimSuffix(host, "."))
}

func newClient(t ticketSource, spn string, qop QOP) *Client {
	if qop == 0 {
		qop = Auth
	}
	return &Client{tickets: t, spn: spn, qop: qop}
}

// Start is StartContext without an end.
func (c *Client) Start() (mechanism string, response []byte, err error) {
	return c.StartContext(context.Background())
}

// StartContext gets a ticket, from the KDC unless there is one, and begins a login. It waits for
// KDCs until ctx ends, at most 30 s. Package rpc calls it instead of Start.
func (c *Client) StartContext(ctx context.Context) (mechanism string, response []byte, err error) {
	defer survive(&err)
	c.request, c.context, c.agreed = nil, nil, 0
	ctx, cancel := context.WithTimeout(ctx, ticketTimeout)
	defer cancel()
	t, err := c.tickets.ticket(ctx, c.spn)
	if err != nil {
		return "", nil, err
	}
	if c.request, response, err = newRequest(t, true); err == nil {
		c.ticket = t
		t.begin()
	}
	return Mechanism, response, err
}

// Next answers a challenge: an AP-REP, and then the layers that the server offers.
func (c *Client) Next(challenge []byte) (response []byte, err error) {
	defer survive(&err)
	switch {
	case c.request == nil || c.agreed != 0:
		return nil, errors.New("kerberos: a challenge outside of a login")
	case c.context == nil:
		if c.context, err = c.request.complete(challenge); err != nil {
			return nil, within("the server's answer", err)
		}
		c.ticket.proved()
		return []byte{}, nil
	}
	offer, err := c.context.unwrap(challenge, false)
	if err != nil {
		return nil, within("the server's offer of layers", err)
	}
	offered, err := readLayers(offer, false)
	if err != nil {
		return nil, err
	}
	best := (offered & c.qop).best()
	if best == 0 {
		return nil, fmt.Errorf("kerberos: the server offers the QOP %v, this client allows %v: make them agree (hive.server2.thrift.sasl.qop, hadoop.rpc.protection)", offered, c.qop)
	}
	if response, err = c.context.wrap(appendLayers(nil, best), false); err != nil {
		return nil, err
	}
	c.agreed = best
	return response, nil
}

// Secure returns the connection that protects messages after a login, nil for Auth. It fails
// if the server has ended the login before it has proved who it is.
func (c *Client) Secure(nc net.Conn, maxFrame int) (net.Conn, error) {
	if c.agreed == 0 {
		return nil, errors.New("kerberos: the server has ended the login too early: it did not prove who it is")
	}
	return secure(nc, c.context, c.agreed, maxFrame), nil
}
