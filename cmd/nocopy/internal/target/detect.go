package target

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// A server that is spoken to in the wrong way may close the connection, or wait for ever for more
// bytes. It is given short times at first, and longer ones if it answers to nothing.
var patience = []time.Duration{400 * time.Millisecond, 3 * time.Second}

// detect finds out how a server speaks, by asking for its description in one way after the other,
// each on a connection of its own. It is the right way if there is a reply: most servers answer
// that they do not know the method. The exception is a reply which says that the server does not
// speak that way. No method of the server is called.
func (f *Connection) detect(ctx context.Context, addr string, asked wire, opts []rpc.Option) (*Server, error) {
	var ways []wire
	for _, p := range protocols {
		for _, t := range transports {
			if (asked.transport == "auto" || asked.transport == t) && (asked.protocol == "auto" || asked.protocol == p) &&
				!(f.SASL != "" && (t == "unframed" || t == "http")) {
				ways = append(ways, wire{t, p})
			}
		}
	}
	var tried []string
	for round, time := range patience {
		if f.Timeout > 0 {
			time = min(time, f.Timeout)
		}
		for i := 0; i < len(ways); i++ {
			w := ways[i]
			s, err := f.try(ctx, addr, w, time, opts)
			switch {
			case s != nil:
				return s, nil
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case isFinal(err):
				return nil, f.Explain(addr, err)
			}
			if !errors.Is(err, context.DeadlineExceeded) { // it would say the same again
				tried = append(tried, fmt.Sprintf("  %s: %v", w, err))
				ways = append(ways[:i:i], ways[i+1:]...)
				i--
			} else if round == len(patience)-1 {
				tried = append(tried, fmt.Sprintf("  %s: no answer in %v", w, time))
			}
		}
	}
	return nil, fmt.Errorf("%s: the server answers in no known way; if you know its -transport and -protocol, give them:\n%s",
		addr, strings.Join(tried, "\n"))
}

// isFinal reports whether err would be the same in any other way to speak.
func isFinal(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	return errors.Is(err, rpc.ErrLogin) || demandsLogin(err) || errors.Is(err, rpc.ErrTLS) || errors.As(err, &dns) ||
		errors.As(err, &op) && op.Op == "dial" || strings.Contains(err.Error(), "tls: ") || strings.Contains(err.Error(), "x509: ")
}

// refusesWay reports whether a server answers that it does not speak in the way of the call.
func refusesWay(answer *rpc.ApplicationException) bool {
	return answer.Type == rpc.UnsupportedClientType || answer.Type == rpc.InvalidProtocol || answer.Type == rpc.InvalidTransform
}

// demandsLogin reports whether a server has said, instead of a reply, that a login comes first.
func demandsLogin(err error) bool { return strings.Contains(err.Error(), "a login by SASL") }

// try asks a server in one way. It returns the server if it has answered.
func (f *Connection) try(ctx context.Context, addr string, w wire, patience time.Duration, opts []rpc.Option) (*Server, error) {
	s, err := f.dial(ctx, addr, w, opts)
	if err != nil {
		return nil, err
	}
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s.Description, s.NotDescribed = dynamic.ReadDescription(asking, s.Caller)
	var answer *rpc.ApplicationException
	answered := errors.As(s.NotDescribed, &answer)
	if s.Description != nil || answered && !refusesWay(answer) || !answered && errors.Is(s.NotDescribed, dynamic.ErrNotDescribed) {
		return s, nil
	}
	s.Close()
	return nil, s.NotDescribed
}
