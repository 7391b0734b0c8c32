package target

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"

	"github.com/emersion/go-sasl"

	"github.com/nocopythrift/nocopythrift/kerberos"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// loginFlags are the flags for the usual logins.
const loginFlags = "-sasl PLAIN -user NAME, or -sasl GSSAPI -sasl-service NAME"

// checkLogin is Check for the flags about logins.
func (f *Connection) checkLogin(addr string) error {
	switch {
	case f.SASL == "" && f.User != "":
		return errors.New("-user needs -sasl")
	case f.SASLService != "" && !f.isKerberos():
		return errors.New("-sasl-service needs -sasl GSSAPI")
	case f.SASL == "":
		return nil
	case f.Transport == "unframed" || f.Transport == "http" || scheme(addr) != "":
		return errors.New("-sasl does not go with -transport unframed or http, nor with URLs: after a login, messages are in frames")
	case f.isKerberos():
		_, _, err := f.principal(addr)
		return err
	}
	_, err := f.mechanism(addr)
	return err
}

// isKerberos reports whether the client logs in by Kerberos.
func (f *Connection) isKerberos() bool { return strings.EqualFold(f.SASL, kerberos.Mechanism) }

// principal returns the parts of the principal of the server at an address, such as hive and
// hms.example.com.
func (f *Connection) principal(addr string) (service, host string, err error) {
	service, host, named := strings.Cut(f.SASLService, "/")
	switch {
	case f.User != "":
		return "", "", errors.New("-user does not go with -sasl GSSAPI: you are whom kinit or the keytab in KRB5_CLIENT_KTNAME names")
	case service == "":
		return "", "", errors.New("-sasl GSSAPI needs -sasl-service NAME, the service in the server's principal, such as hive")
	case named && host == "" || strings.ContainsAny(host, "/@") || strings.Contains(service, "@"):
		return "", "", fmt.Errorf("-sasl-service %s is neither NAME nor NAME/HOST; krb5.conf says which realm a host is of", f.SASLService)
	case named:
		return service, host, nil
	}
	network, address := Address(addr)
	if network == "unix" {
		return "", "", errors.New("-sasl-service NAME/HOST is needed for a unix socket: the server's principal has a host")
	}
	if host, _, err = net.SplitHostPort(address); err != nil || host == "" {
		return "", "", fmt.Errorf("%s is not HOST:PORT", Shown(addr))
	}
	return service, host, nil
}

// mechanism returns what the client logs in with at an address.
func (f *Connection) mechanism(addr string) (rpc.SASLClient, error) {
	switch strings.ToUpper(f.SASL) {
	case sasl.Plain:
		return sasl.NewPlainClient("", f.User, f.Password), nil
	case sasl.Anonymous:
		return sasl.NewAnonymousClient(f.User), nil
	case sasl.External:
		return sasl.NewExternalClient(f.User), nil
	case kerberos.Mechanism:
		service, host, err := f.principal(addr)
		if err != nil {
			return nil, err
		}
		c, err := f.tickets.get()
		if err != nil {
			return nil, err
		}
		// The server decides which quality there is: nobody else can change what it offers
		return kerberos.NewClient(c, service, host, kerberos.Auth|kerberos.AuthInt|kerberos.AuthConf), nil
	}
	return nil, fmt.Errorf("-sasl %s: known are PLAIN, ANONYMOUS, EXTERNAL and GSSAPI", f.SASL)
}

// tickets are the credentials that all connections share, so that the KDC is asked once. Those
// that can't be read are tried again.
type tickets struct {
	mu          sync.Mutex
	credentials *kerberos.Credentials
}

func (t *tickets) get() (*kerberos.Credentials, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.credentials == nil {
		c, err := kerberos.FromEnvironment()
		if err != nil {
			return nil, err
		}
		t.credentials = c
	}
	return t.credentials, nil
}

// loginHint returns what to do about a login that was refused; "" if err says it.
func (f *Connection) loginHint(err error) string {
	text := err.Error()
	switch {
	case strings.Contains(text, "the KDC does not know the service"):
		return "-sasl-service NAME/HOST names another host"
	case strings.Contains(text, "kerberos: "):
		return ""
	case strings.Contains(strings.ToLower(text), "mechanism"):
		return "the server wants another login: " + loginFlags
	case f.isKerberos():
		return "the server's log says why: you may not log in there, or its keytab is old, or clocks differ"
	}
	return "is the user right, and the password in NOCOPY_PASSWORD?"
}
