// Package sasl is the login with which a connection of Thrift's SASL transport begins. Package rpc
// calls it before the first message.
//
// The noun is a message of the login:
//
//	status, 1 byte | length of payload, 4 bytes | payload
//
//	client                          server
//	START     name of a mechanism
//	OK        first response
//	                                OK        challenge
//	OK        response              … as often as the mechanism needs
//	                                COMPLETE  last challenge, or nothing
//
// Either side may end it with BAD or ERROR, whose payload says why. After COMPLETE the connection
// carries messages in frames, as without a login; a mechanism with a security layer wraps them.
// The format is the same as in Apache's TSaslTransport.
package sasl

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"unicode/utf8"
)

// A Client is the client's side of a mechanism.
type Client interface {
	// Start begins a login. Its first response is nil if the mechanism has none.
	Start() (mechanism string, response []byte, err error)
	// Next answers a challenge.
	Next(challenge []byte) (response []byte, err error)
}

// A Server is the server's side of a mechanism, for one login.
type Server interface {
	// Next judges a response, nil if the client has none to begin with. done reports that the
	// client is who it says.
	Next(response []byte) (challenge []byte, done bool, err error)
	// Secure returns the connection that protects messages after the login, nil if they are not.
	Secure(nc net.Conn, maxFrame int) (net.Conn, error)
}

// The kinds of messages.
const (
	start    = 1
	ok       = 2
	bad      = 3
	failed   = 4
	complete = 5
)

const (
	headerSize = 5
	maxPayload = 64 << 10 // a Kerberos token with many groups has this size
	maxName    = 20       // RFC 4422, section 3.1
	maxRounds  = 16       // of challenge and response; mechanisms need three at most
)

// ErrRefused is the error of a login that the other end refuses, or that is not for its mechanism.
var ErrRefused = errors.New("login by SASL refused")

// Login logs in as the client.
func Login(rw io.ReadWriter, c Client) error { return finish(rw, login(rw, c)) }

// Accept lets a client log in. mechanism returns the server's side of a mechanism, nil if the
// server does not know it. A client that fails learns which of its messages were malformed, but
// not why a mechanism has refused it.
func Accept(rw io.ReadWriter, mechanism func(name string) Server) error {
	return finish(rw, accept(rw, mechanism))
}

// refusal is why one side ends a login.
type refusal struct {
	text string // for the other side; none if it can't hear, or has refused itself
	err  error  // for this side
}

func (r refusal) Error() string   { return ErrRefused.Error() + ": " + r.err.Error() }
func (r refusal) Unwrap() []error { return []error{ErrRefused, r.err} }

// startError is the error of a mechanism that could not begin. Nobody has refused anything yet.
type startError struct{ err error }

func (e startError) Error() string   { return "login by SASL: " + e.err.Error() }
func (e startError) Unwrap() []error { return []error{ErrRefused, e.err} }

// finish sends what the other side is to know of a login that has ended with err.
func finish(w io.Writer, err error) error {
	var r refusal
	if errors.As(err, &r) && r.text != "" {
		io.WriteString(w, Refusal(r.text))
	}
	return err
}

func login(rw io.ReadWriter, c Client) error {
	name, response, err := c.Start()
	switch {
	case err != nil:
		return startError{err}
	case name == "" || len(name) > maxName:
		return refusal{"", fmt.Errorf("a mechanism's name has 1 to %d bytes, not %d", maxName, len(name))}
	}
	b := appendMessage(nil, start, []byte(name))
	status := byte(ok)
	if response != nil && len(response) == 0 {
		status = complete // not the same as none
	}
	for range maxRounds {
		if len(response) > maxPayload {
			return tooLarge("response", len(response))
		}
		if _, err := rw.Write(appendMessage(b, status, response)); err != nil {
			return err
		}
		answer, challenge, err := receive(rw)
		switch {
		case err != nil:
			return err
		case answer != ok && answer != complete:
			return refusal{"unexpected status", fmt.Errorf("status %d in place of a challenge", answer)}
		case answer == complete && len(challenge) == 0:
			return nil
		}
		if response, err = c.Next(challenge); err != nil {
			return refusal{"bad challenge", err}
		}
		if answer == complete {
			return nil
		}
		b, status = b[:0], ok
	}
	return refusal{"too many challenges", fmt.Errorf("no end after %d challenges", maxRounds)}
}

func accept(rw io.ReadWriter, mechanism func(name string) Server) error {
	status, name, err := receive(rw)
	switch {
	case err == errNoLogin || err == nil && status != start:
		return refusal{"this server expects a login by SASL", errNoLogin}
	case err != nil:
		return err
	}
	var s Server
	if len(name) > 0 && len(name) <= maxName {
		s = mechanism(string(name))
	}
	if s == nil {
		err := fmt.Errorf("unknown mechanism %s", quote(name[:min(len(name), maxName)]))
		return refusal{err.Error(), err}
	}
	for round := range maxRounds {
		status, response, err := receive(rw)
		switch {
		case err != nil:
			return err
		case status != ok && status != complete:
			return refusal{"unexpected status", fmt.Errorf("status %d in place of a response", status)}
		case round == 0 && status == ok && len(response) == 0:
			response = nil // later ones answer a challenge
		}
		challenge, done, err := s.Next(response)
		switch {
		case err != nil:
			return refusal{"authentication failed", err}
		case len(challenge) > maxPayload:
			return refusal{"internal error", tooLarge("challenge", len(challenge))}
		}
		status = ok
		if done {
			status = complete
		}
		if _, err := rw.Write(appendMessage(nil, status, challenge)); err != nil || done {
			return err
		}
	}
	return refusal{"too many responses", fmt.Errorf("no end after %d responses", maxRounds)}
}

// errNoLogin is the error of a first byte that no status is.
var errNoLogin = errors.New("the other end does not speak SASL")

// receive receives a message. A message that says that the login has failed is an error.
func receive(r io.Reader) (status byte, payload []byte, err error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(r, header[:1]); err != nil {
		return 0, nil, err
	}
	if status = header[0]; status < start || status > complete {
		return 0, nil, errNoLogin
	}
	if _, err := io.ReadFull(r, header[1:]); err != nil {
		return 0, nil, unexpected(err)
	}
	n := binary.BigEndian.Uint32(header[1:])
	if n > maxPayload {
		return 0, nil, tooLarge("message", int(n))
	}
	if payload, err = receivePayload(r, int(n)); err != nil {
		return 0, nil, unexpected(err)
	}
	if status == bad || status == failed {
		return 0, nil, refusal{"", fmt.Errorf("the other end says %s", quote(payload))}
	}
	return status, payload, nil
}

// receivePayload receives n bytes. It takes memory for more than claim of them only when as many
// have arrived.
func receivePayload(r io.Reader, n int) ([]byte, error) {
	const claim = 2 << 10
	b := []byte{} // empty is not the same as none
	for len(b) < n {
		have := len(b)
		b = slices.Grow(b, min(n-have, max(have, claim)))[:min(n, max(2*have, claim))]
		if _, err := io.ReadFull(r, b[have:]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// tooLarge returns the error of a payload of n bytes.
func tooLarge(what string, n int) error {
	err := fmt.Errorf("a %s of %d bytes, more than %d", what, n, maxPayload)
	return refusal{err.Error(), err}
}

// quote returns a text of the other end's, cut and quoted.
func quote(text []byte) string {
	const most = 200
	if len(text) <= most {
		return fmt.Sprintf("%q", text)
	}
	cut := most
	for cut > most-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return fmt.Sprintf("%q …", text[:cut])
}

// unexpected returns the error of a stream that ends within a message.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Refusal returns the message by which one side ends a login, with a text for the other.
func Refusal(text string) string { return string(appendMessage(nil, bad, []byte(text))) }

func appendMessage(b []byte, status byte, payload []byte) []byte {
	b = binary.BigEndian.AppendUint32(append(b, status), uint32(len(payload)))
	return append(b, payload...)
}

// Halves is a connection whose bytes are read by In.
type Halves struct {
	In io.Reader
	io.Writer
}

func (h Halves) Read(b []byte) (int, error) { return h.In.Read(b) }

// During calls login. It calls end, which closes the connection, when ctx ends meanwhile. The
// result is then the error of ctx, after the reason of a side that has refused the login.
func During(ctx context.Context, end func(), login func() error) error {
	stop := context.AfterFunc(ctx, end)
	err := login()
	if stop() {
		return err
	}
	cause := context.Cause(ctx)
	switch {
	case !errors.Is(err, ErrRefused):
		return cause
	case errors.Is(err, cause):
		return err
	}
	return fmt.Errorf("%w: %w", err, cause)
}
