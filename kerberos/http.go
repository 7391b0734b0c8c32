package kerberos

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/jcmturner/gofork/encoding/asn1"
)

// This file has logins over HTTP: SPNEGO (RFC 4559) with Kerberos inside, a token for each
// request.

var (
	oidSPNEGO     = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 2}
	oidKerberosMS = asn1.ObjectIdentifier{1, 2, 840, 48018, 1, 2, 2} // Windows's name for it
)

// maxToken bounds the bytes of a token in a header, in base64.
const maxToken = 64 << 10

// negotiate is NegTokenInit of RFC 4178, section 4.2.1.
type negotiate struct {
	MechTypes []asn1.ObjectIdentifier `asn1:"explicit,tag:0"`
	ReqFlags  asn1.BitString          `asn1:"explicit,optional,tag:1"`
	MechToken []byte                  `asn1:"explicit,optional,omitempty,tag:2"`
	MechMIC   []byte                  `asn1:"explicit,optional,omitempty,tag:3"`
}

// negotiated is NegTokenResp of RFC 4178, section 4.2.2.
type negotiated struct {
	State     asn1.Enumerated       `asn1:"explicit,tag:0"`
	Mechanism asn1.ObjectIdentifier `asn1:"explicit,optional,tag:1"`
	Token     []byte                `asn1:"explicit,optional,omitempty,tag:2"`
}

// tagged returns b in a context-specific tag.
func tagged(tag int, b []byte) ([]byte, error) {
	return asn1.Marshal(asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: tag, IsCompound: true, Bytes: b})
}

// Authorize adds a login to a request: "Authorization: Negotiate" with a token for the service
// HTTP/host, where host is that of the URL. It is a hive.Config's Authorize, too. Each request
// needs a new token. It does not check who the server is: use https.
func (c *Credentials) Authorize(r *http.Request) error {
	token, err := negotiateToken(r.Context(), c, principalOf("HTTP", r.URL.Hostname()))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Negotiate "+base64.StdEncoding.EncodeToString(token))
	return nil
}

func negotiateToken(ctx context.Context, tickets ticketSource, spn string) (token []byte, err error) {
	defer survive(&err)
	t, err := tickets.ticket(ctx, spn)
	if err != nil {
		return nil, err
	}
	_, inner, err := newRequest(t, false)
	if err != nil {
		return nil, err
	}
	b, err := asn1.Marshal(negotiate{MechTypes: []asn1.ObjectIdentifier{oidKerberos}, MechToken: inner})
	if err != nil {
		return nil, err
	}
	if b, err = tagged(0, b); err != nil {
		return nil, err
	}
	oid, err := asn1.Marshal(oidSPNEGO)
	if err != nil {
		return nil, err
	}
	return asn1.Marshal(asn1.RawValue{Class: asn1.ClassApplication, Tag: 0, IsCompound: true, Bytes: append(oid, b...)})
}

// Transport returns a transport that adds a login to each request, for an http.Client and
// [rpc.HTTPClient]. base makes the requests; nil is http.DefaultTransport.
func (c *Credentials) Transport(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return roundTripper{base, c}
}

type roundTripper struct {
	http.RoundTripper
	credentials *Credentials
}

func (t roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context()) // a RoundTripper must not change its request
	if err := t.credentials.Authorize(r); err != nil {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, err
	}
	answer, err := t.RoundTripper.RoundTrip(r)
	if err == nil && answer.StatusCode == http.StatusUnauthorized {
		t.credentials.refused(r.Context(), principalOf("HTTP", r.URL.Hostname()))
	}
	return answer, err
}

type principalKey struct{}

// Principal returns the client of a request that a handler of [Acceptor.Handler] has let in, or
// "".
func Principal(ctx context.Context) string {
	name, _ := ctx.Value(principalKey{}).(string)
	return name
}

// Handler returns a handler that lets requests with a login through to next, such as an
// rpc.Server. Others get the status 401, and those that authorize refuses 403. [Principal]
// returns the client in next. warn, if not nil, is told why a login has failed, which the client
// is not. See NewServer for principal.
func (a *Acceptor) Handler(next http.Handler, authorize func(principal string) error, warn func(*http.Request, error)) http.Handler {
	if next == nil || authorize == nil {
		panic("nocopy: kerberos.Acceptor.Handler without a handler or authorize")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		principal, answer, err := a.request(r)
		status := http.StatusUnauthorized
		if err == nil {
			if err = authorize(principal); err == nil {
				if len(answer) > 0 {
					w.Header().Set("WWW-Authenticate", "Negotiate "+base64.StdEncoding.EncodeToString(answer))
				}
				next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), principalKey{}, principal)))
				return
			}
			err, status = fmt.Errorf("kerberos: %q may not log in: %w", principal, err), http.StatusForbidden
		}
		if warn != nil && !errors.Is(err, errNoHeader) {
			warn(r, err)
		}
		if status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", "Negotiate")
		}
		http.Error(w, "a login by Kerberos (SPNEGO) is needed", status)
	})
}

var errNoHeader = errors.New("kerberos: a request without Authorization: Negotiate")

// request verifies the login of a request.
func (a *Acceptor) request(r *http.Request) (principal string, answer []byte, err error) {
	defer survive(&err)
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Negotiate") {
		return "", nil, errNoHeader
	}
	if len(text) > maxToken {
		return "", nil, fmt.Errorf("kerberos: a token of %d bytes, more than %d", len(text), maxToken)
	}
	token, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return "", nil, errors.New("kerberos: a token that is not base64")
	}
	if bytes.HasPrefix(token, []byte("NTLMSSP\x00")) {
		return "", nil, errors.New("kerberos: the client tries NTLM: it has no ticket for HTTP at this host")
	}
	inner, spnego, err := negotiateInner(token)
	if err != nil {
		return "", nil, err
	}
	principal, _, answer, err = a.accept(inner)
	if err != nil {
		return "", nil, within("the client's token", err)
	}
	if !spnego {
		return principal, answer, nil
	}
	b, err := asn1.Marshal(negotiated{Mechanism: oidKerberos, Token: answer})
	if err == nil {
		answer, err = tagged(1, b)
	}
	return principal, answer, err
}

// negotiateInner returns the token of Kerberos in one of SPNEGO, or token itself if it is one.
func negotiateInner(token []byte) (inner []byte, spnego bool, err error) {
	var outer asn1.RawValue
	if _, err := asn1.Unmarshal(token, &outer); err != nil || outer.Class != asn1.ClassApplication || outer.Tag != 0 {
		return nil, false, errors.New("kerberos: neither a token of SPNEGO nor of Kerberos")
	}
	var oid asn1.ObjectIdentifier
	rest, err := asn1.Unmarshal(outer.Bytes, &oid)
	switch {
	case err != nil:
		return nil, false, errors.New("kerberos: a malformed token")
	case oid.Equal(oidKerberos):
		return token, false, nil
	case !oid.Equal(oidSPNEGO):
		return nil, false, errors.New("kerberos: a token of another mechanism")
	}
	var choice asn1.RawValue
	var n negotiate
	if _, err := asn1.Unmarshal(rest, &choice); err != nil || choice.Class != asn1.ClassContextSpecific || choice.Tag != 0 {
		return nil, false, errors.New("kerberos: a malformed token of SPNEGO")
	}
	if _, err := asn1.Unmarshal(choice.Bytes, &n); err != nil {
		return nil, false, errors.New("kerberos: a malformed token of SPNEGO")
	}
	// The token is for the first mechanism (RFC 4178, section 4.2.1)
	if len(n.MechTypes) == 0 || !n.MechTypes[0].Equal(oidKerberos) && !n.MechTypes[0].Equal(oidKerberosMS) || len(n.MechToken) == 0 {
		return nil, false, errors.New("kerberos: the client prefers another mechanism than Kerberos: it has no ticket for HTTP at this host")
	}
	return n.MechToken, true, nil
}
