package hive

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// ParseDSN makes a Config from text such as
//
//	hive://user:password@hive.example.com:10000/sales?auth=NOSASL&hive.exec.parallel=true
//
// with a database as its path. "hive://" may be left out. Without a port it is 10000, over HTTP
// 10001. Parameters:
//
//	auth        PLAIN (also NONE, LDAP, PAM or CUSTOM, as servers call it), or NOSASL
//	transport   binary or http
//	httpPath    see Config.HTTPPath
//	token       see Config.Token
//	tls         true, false, or skip-verify, which trusts any server
//	loc         the session's time zone, such as America/New_York: see Config.Location
//	batchRows   see Config.BatchRows
//	batchBytes  see Config.BatchBytes
//	maxReply    see Config.MaxReply, in bytes
//
// Parameters whose names have a dot are settings of the session. User, password, database and
// values are escaped as in URLs. For anything else, such as Kerberos, use a Config.
func ParseDSN(dsn string) (Config, error) {
	var c Config
	if scheme, _, ok := strings.Cut(dsn, "://"); !ok || strings.ContainsAny(scheme, ":@/?") {
		dsn = "hive://" + dsn
	}
	// Errors do not quote parts that may belong to a password
	u, err := url.Parse(dsn)
	if err != nil {
		return c, errors.New("hive: data source name: not a URL; user, password and database are escaped as in URLs, such as %2F for a slash")
	}
	fail := func(format string, args ...any) (Config, error) {
		return Config{}, fmt.Errorf("hive: data source name: "+format, args...)
	}
	switch {
	case u.Scheme != "hive":
		return fail("the scheme is %q, not hive", u.Scheme)
	case u.Hostname() == "":
		return fail("no host")
	case u.Fragment != "":
		return fail("a # must be escaped as %%23")
	}
	c.User = u.User.Username()
	c.Password, _ = u.User.Password()
	c.Database = strings.TrimPrefix(u.Path, "/")
	if strings.Contains(c.Database, "/") {
		return fail("the database has a slash")
	}
	parameters, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return fail("the parameters are not escaped as in URLs")
	}
	for name, values := range parameters {
		if len(values) != 1 {
			return fail("%s is given %d times", name, len(values))
		}
		if err := c.setParameter(name, values[0]); err != nil {
			return fail("%s: %w", name, err)
		}
	}
	port := u.Port()
	if port == "" {
		if port = "10000"; c.HTTP {
			port = "10001"
		}
	}
	c.Addr = net.JoinHostPort(u.Hostname(), port)
	return c, nil
}

func (c *Config) setParameter(name, value string) (err error) {
	switch name {
	case "auth":
		switch strings.ToUpper(value) {
		case "NOSASL":
			c.NoSASL = true
		case "PLAIN", "NONE", "LDAP", "PAM", "CUSTOM":
		case "KERBEROS", "GSSAPI":
			return errors.New("a login by Kerberos needs a Config with SASL, or over HTTP with Authorize")
		default:
			return errors.New("unknown")
		}
	case "transport":
		switch value {
		case "http":
			c.HTTP = true
		case "binary":
		default:
			return errors.New("neither binary nor http")
		}
	case "httpPath":
		c.HTTPPath = value
	case "token":
		c.Token = value
	case "tls":
		switch value {
		case "true":
			c.TLS = &tls.Config{}
		case "skip-verify":
			c.TLS = &tls.Config{InsecureSkipVerify: true}
		case "false":
		default:
			return errors.New("neither true, false nor skip-verify")
		}
	case "loc":
		if c.Location = loadZone(value); c.Location == nil {
			return errors.New("no such time zone; write a name such as UTC or Europe/Berlin")
		}
	case "batchRows":
		c.BatchRows, err = positive(value)
	case "batchBytes":
		c.BatchBytes, err = positive(value)
	case "maxReply":
		c.MaxReply, err = positive(value)
	default:
		if !strings.Contains(name, ".") {
			return errors.New("no such parameter")
		}
		if c.Settings == nil {
			c.Settings = map[string]string{}
		}
		c.Settings[name] = value
	}
	return err
}

func positive(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n <= 0 {
		return 0, errors.New("not a positive number")
	}
	return n, nil
}
