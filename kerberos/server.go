package kerberos

import (
	"errors"
	"fmt"
	"net"
)

// Server is the server's side of the mechanism, for one login.
type Server struct {
	acceptor  *Acceptor
	qop       QOP
	authorize func(principal, as string) error
	principal string
	context   *securityContext
	offered   bool
	agreed    QOP // 0 before the end of a login
}

// NewServer returns a Server for one login, for [rpc.Server.SASL]. It offers the qualities in
// qop, 0 for Auth.
//
// authorize is called for a client that has proved to be principal, such as "ada@EXAMPLE.COM" or
// "spark/node1.example.com@EXAMPLE.COM". It returns an error if the client may not log in, which
// the log gets. A slash, an @ or a backslash that belongs to a name has a backslash before it.
// Principals of other realms come, too, if the KDC trusts these: compare the whole text. as is
// the name that the client wants to act for, "" for itself; it must be refused unless the
// principal may do so.
func (a *Acceptor) NewServer(qop QOP, authorize func(principal, as string) error) *Server {
	if authorize == nil {
		panic("nocopy: kerberos.Acceptor.NewServer without authorize")
	}
	if qop == 0 {
		qop = Auth
	}
	return &Server{acceptor: a, qop: qop, authorize: authorize}
}

// Next judges a response.
func (s *Server) Next(response []byte) (challenge []byte, done bool, err error) {
	switch {
	case s.agreed != 0:
		return nil, false, errLoginOver
	case s.context == nil && response == nil:
		return nil, false, nil // the challenge is empty: RFC 4752, section 3.1
	case s.context == nil:
		s.principal, s.context, challenge, err = s.acceptor.accept(response)
		if err != nil {
			return nil, false, within("the client's token", err)
		}
		if challenge == nil {
			challenge, err = s.offer()
		}
		return challenge, false, err
	case !s.offered && len(response) > 0:
		return nil, false, errors.New("kerberos: a response in place of an empty one")
	case !s.offered:
		challenge, err = s.offer()
		return challenge, false, err
	}
	choice, err := s.context.unwrap(response, false)
	if err != nil {
		return nil, false, within("the client's choice of a layer", err)
	}
	chosen, err := readLayers(choice, true)
	switch {
	case err != nil:
		return nil, false, err
	case chosen&s.qop == 0 || chosen != chosen.best():
		return nil, false, fmt.Errorf("kerberos: the client has chosen the QOP %v of %v", chosen, s.qop)
	}
	if err := s.authorize(s.principal, string(choice[4:])); err != nil {
		return nil, false, fmt.Errorf("kerberos: %q may not log in: %w", s.principal, err)
	}
	s.agreed = chosen
	return nil, true, nil
}

// offer returns the token with the layers to choose from.
func (s *Server) offer() ([]byte, error) {
	s.offered = true
	return s.context.wrap(appendLayers(nil, s.qop), false)
}

// Secure returns the connection that protects messages after a login, nil for Auth.
func (s *Server) Secure(nc net.Conn, maxFrame int) (net.Conn, error) {
	if s.agreed == 0 {
		return nil, errors.New("kerberos: a login that has not ended")
	}
	return secure(nc, s.context, s.agreed, maxFrame), nil
}
