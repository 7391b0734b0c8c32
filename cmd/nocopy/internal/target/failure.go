package target

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// This file says why a detection has found nothing.

// failure returns why no way is right.
func (d *detection) failure() error {
	switch err := d.ways[0].err; {
	case err != nil && !d.connected.Load():
		return d.Explain(d.addr, err)
	case !d.connected.Load():
		return d.Explain(d.addr, fmt.Errorf("no connection in %v", d.Timeout))
	}
	if d.isHTTP {
		return d.failureOfHTTP()
	}
	var tried []error
	var closed error
	silent := true // the server has sent nothing
	advice := ""
	for _, w := range d.ways {
		switch {
		case w.err == nil:
			tried = append(tried, fmt.Errorf("  %s: no answer in %v", w.wire, d.Timeout))
			continue
		case isClosed(w.err) && closed == nil:
			closed = w.err
		}
		silent = silent && (endsSilently(w.err) || w.transport == "http") // net/http's errors vary
		text, more, _ := strings.Cut(d.Plainly(w.err).Error(), neverAnswered)
		if w.transport != "http" && advice == "" {
			advice = more
		}
		tried = append(tried, fmt.Errorf("  %s: %s", w.wire, text))
	}
	if closed != nil && d.lacksCert(closed) {
		return d.Explain(d.addr, closed)
	}
	lines := append([]error{fmt.Errorf("%s: %s", Shown(d.addr), noWay)}, tried...)
	if closed != nil && silent {
		lines = append(lines, fmt.Errorf("it closed connections without a word: %w", d.perhapsMultiplexing()))
	}
	if d.plain {
		advice = strings.TrimPrefix(advice, "TLS (-tls), ")
	}
	if advice != "" {
		lines = append(lines, fmt.Errorf("or it expects %s", advice))
	}
	return shell.Lines(lines...)
}

// failureOfHTTP is failure for a server of HTTP.
func (d *detection) failureOfHTTP() error {
	var tried []error
	for _, w := range d.ways {
		var status *rpc.HTTPError
		switch {
		case !d.counts(w):
		case w.err == nil:
			tried = append(tried, fmt.Errorf("  %s: no answer in %v", w.wire, d.Timeout))
		case errors.As(w.err, &status) && status.Status == http.StatusInternalServerError:
			return shell.Lines(d.Explain(d.addr, w.err), d.perhapsMultiplexing())
		default:
			return d.Explain(d.addr, w.err)
		}
	}
	if len(tried) == 0 {
		return fmt.Errorf("%s: the server speaks HTTP: add -transport http, or give a URL", Shown(d.addr))
	}
	return shell.Lines(append([]error{fmt.Errorf("%s: %s", Shown(d.addr), noWay)}, tried...)...)
}

// neverAnswered is before the advice of package rpc, which is the same for all ways.
const neverAnswered = "; the server has never answered: perhaps it expects "

const noWay = "the server answers in no known way; if you know its -transport and -protocol, give them:"

// perhapsMultiplexing returns what may be wrong if a server fails instead of answering.
func (d *detection) perhapsMultiplexing() error {
	if d.Multiplexed != "" {
		return fmt.Errorf("perhaps the server has no service with the name %q", d.Multiplexed)
	}
	return errors.New("perhaps it is a multiplexing server, which demands the name of a service: call Service:method, or add -multiplexed NAME")
}

// isSilent reports whether the server has closed the connections of nearly all ways, and sent
// nothing, as servers do that expect TLS. Some of these wait at the first bytes of unframed
// Compact, which could be those of SSL 2.
func (d *detection) isSilent() bool {
	closed, open := 0, 0
	for _, w := range d.ways {
		switch {
		case w.err == nil:
			open++
		case w.transport == "http": // net/http's errors vary
		case !endsSilently(w.err):
			return false
		default:
			closed++
		}
	}
	return closed > 0 && open < 2 && !d.TLS
}

// maxHandshake is the time for a handshake of TLS that is only tried.
const maxHandshake = 3 * time.Second

// speaksTLS reports whether a server answers the first message of TLS in TLS.
func (d *detection) speaksTLS(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, maxHandshake)
	defer cancel()
	network, address := Address(d.addr)
	host, _, _ := net.SplitHostPort(address)
	// Nothing is sent after the handshake: any certificate will do.
	dialer := &tls.Dialer{Config: &tls.Config{ServerName: host, InsecureSkipVerify: true}}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return strings.Contains(err.Error(), "remote error: tls: ")
	}
	conn.Close()
	return true
}

// final returns the error for one that would be the same in any other way to speak.
func (d *detection) final(err error) error {
	explained := d.Explain(d.addr, err)
	if isRefused(err) && d.connected.Load() {
		return shell.Lines(explained, errors.New("it took connections before: perhaps it has ended at bytes that it did not expect, as servers on Apache's library for Node do without an error handler; then start it again, and give -transport and -protocol"))
	}
	return explained
}

// isRefused reports whether nobody listens at an address.
func isRefused(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial" && !op.Timeout()
}

// isFinal reports whether err would be the same in any other way to speak.
func isFinal(err error) bool {
	var dns *net.DNSError
	return errors.Is(err, rpc.ErrLogin) || demandsLogin(err) || errors.Is(err, rpc.ErrTLS) || errors.As(err, &dns) ||
		isRefused(err) || strings.Contains(err.Error(), "tls: ") || strings.Contains(err.Error(), "x509: ")
}

// showsHTTP reports whether a server has answered as one of HTTP does. A Server of package rpc
// that does not take calls over HTTP says so in HTTP.
func showsHTTP(err error) bool {
	var status *rpc.HTTPError
	return errors.Is(err, rpc.ErrHTTP) || errors.As(err, &status) && !strings.HasPrefix(status.Text, "This port speaks Thrift")
}

// isClosed reports whether a server has closed the connection of a call.
func isClosed(err error) bool {
	return errors.Is(err, rpc.ErrConnLost) || errors.Is(err, rpc.ErrNotSent) || errors.Is(err, io.EOF)
}

// endsSilently reports whether a server has closed the connection of a call and sent nothing.
func endsSilently(err error) bool {
	var op *net.OpError
	return errors.Is(err, rpc.ErrNotSent) || errors.Is(err, io.EOF) || errors.As(err, &op)
}

// refusesWay reports whether a server answers that it does not speak in the way of the call.
func refusesWay(answer *rpc.ApplicationException) bool {
	return answer.Type == rpc.UnsupportedClientType || answer.Type == rpc.InvalidProtocol || answer.Type == rpc.InvalidTransform
}

// demandsLogin reports whether a server has said, instead of a reply, that a login comes first.
func demandsLogin(err error) bool { return strings.Contains(err.Error(), "a login by SASL") }
