package hive

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// A Kerberos logs in for data source names with auth=KERBEROS. Programs do not call it: they
// import package hivekerberos of the module kerberos, which registers one.
type Kerberos interface {
	// SASL returns the mechanism for Config.SASL, to log in at a service such as "hive" on host with
	// the QOP auth, auth-int or auth-conf.
	SASL(ctx context.Context, service, host, qop string) (rpc.SASLClient, error)
	// Authorize is for Config.Authorize.
	Authorize(r *http.Request) error
}

var registered atomic.Pointer[Kerberos]

// RegisterKerberos makes data source names use k. It panics if that has been said already.
func RegisterKerberos(k Kerberos) {
	if k == nil || !registered.CompareAndSwap(nil, &k) {
		panic("nocopy: hive.RegisterKerberos: nil, or called twice")
	}
}

var (
	errNoKerberos = errors.New(`Kerberos is in a module of its own: import _ "github.com/nocopythrift/nocopythrift/kerberos/hivekerberos"`)
	errService    = errors.New("neither NAME nor NAME/HOST; krb5.conf says which realm a host is of")
	errQOP        = errors.New("neither auth, auth-int nor auth-conf")
)

// kerberosOf is what a data source name says of a login by Kerberos.
type kerberosOf struct {
	wanted       bool
	service, qop string
	host         string // of the server's principal; "" means the address's
}

// setParameter sets service or saslQop.
func (k *kerberosOf) setParameter(name, value string) error {
	if name == "service" {
		var named bool
		k.service, k.host, named = strings.Cut(value, "/")
		if named && (k.service == "" || k.host == "") || strings.Contains(k.host, "/") || strings.Contains(value, "@") {
			return errService
		}
		return nil
	}
	if k.qop = value; value != "auth" && value != "auth-int" && value != "auth-conf" {
		return errQOP
	}
	return nil
}

// set sets what c needs for a login by Kerberos, if k wants one.
func (k kerberosOf) set(c *Config) error {
	switch {
	case !k.wanted && k.service+k.qop != "":
		return errors.New("service and saslQop are for auth=KERBEROS")
	case !k.wanted:
		return nil
	case c.Token != "":
		return errors.New("auth=KERBEROS and a token: only one login is made")
	case c.HTTP && k.service+k.qop != "":
		return errors.New("service and saslQop are not for transport=http: there the service is HTTP, and TLS protects messages")
	case registered.Load() == nil:
		return errNoKerberos
	}
	set(&k.service, "hive")
	set(&k.qop, "auth")
	login := *registered.Load()
	if c.HTTP {
		c.Authorize = login.Authorize
		return nil
	}
	c.SASL = func(ctx context.Context, host string) (rpc.SASLClient, error) {
		if k.host != "" {
			host = k.host
		}
		return login.SASL(ctx, k.service, host, k.qop)
	}
	return nil
}
