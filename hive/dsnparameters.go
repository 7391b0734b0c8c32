package hive

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// This file reads the parameters of data source names.

// parameters are those of a data source name that other parameters complete.
type parameters struct {
	ca, cert, key string // files
	zooKeeper     bool
	namespace     string
	kerberos      kerberosOf
}

// file sets the name of a file with certificates or a key.
func (p *parameters) file(parameter, name string) {
	switch parameter {
	case "tlsCA":
		p.ca = name
	case "tlsCert":
		p.cert = name
	case "tlsKey":
		p.key = name
	}
}

// setParameters sets the parameters of a data source name, the part after its question mark.
func (c *Config) setParameters(query string) (p parameters, err error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return p, errors.New("the parameters are not joined by & and escaped as in URLs")
	}
	for name, values := range values {
		if len(values) != 1 {
			return p, fmt.Errorf("%s is given %d times", name, len(values))
		}
		if err := c.setParameter(&p, name, values[0]); err != nil {
			return p, fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := p.kerberos.set(c); err != nil {
		return p, err
	}
	return p, c.setCertificates(p)
}

func (c *Config) setParameter(p *parameters, name, value string) (err error) {
	switch name {
	case "auth":
		return c.setAuth(value, &p.kerberos)
	case "service", "saslQop":
		return p.kerberos.setParameter(name, value)
	case "transport":
		c.HTTP = value == "http"
		if !c.HTTP && value != "binary" {
			return errors.New("neither binary nor http")
		}
	case "httpPath":
		c.HTTPPath = value
	case "token":
		c.Token = value
	case "tls":
		return c.setTLS(value)
	case "tlsCA", "tlsCert", "tlsKey":
		p.file(name, value)
	case "order", "discovery", "zooKeeperNamespace":
		return c.setChoice(p, name, value)
	case "loc":
		if c.Location = loadZone(value); c.Location == nil {
			return errors.New("no such time zone; write a name such as UTC or Europe/Berlin")
		}
	case "resetSession":
		if c.ResetSession, err = strconv.ParseBool(value); err != nil {
			return errors.New("neither true nor false")
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

// setChoice sets a parameter about the choice among several servers.
func (c *Config) setChoice(p *parameters, name, value string) error {
	switch name {
	case "order":
		c.InOrder = value == "given"
		if !c.InOrder && value != "random" {
			return errors.New("neither random nor given")
		}
	case "discovery":
		if p.zooKeeper = value == "zookeeper"; !p.zooKeeper {
			return errors.New("not zookeeper, the only kind there is")
		}
	case "zooKeeperNamespace":
		p.namespace = value
	}
	return nil
}

// setAuth sets the kind of login, by the names that servers have for it.
func (c *Config) setAuth(value string, k *kerberosOf) error {
	switch strings.ToUpper(value) {
	case "NOSASL":
		c.NoSASL = true
	case "PLAIN", "NONE", "LDAP", "PAM", "CUSTOM":
	case "KERBEROS", "GSSAPI":
		k.wanted = true
	default:
		return errors.New("unknown")
	}
	return nil
}

func (c *Config) setTLS(value string) error {
	switch value {
	case "true":
		c.TLS = &tls.Config{}
	case "skip-verify":
		c.TLS = &tls.Config{InsecureSkipVerify: true}
	case "false":
	default:
		return errors.New("neither true, false nor skip-verify")
	}
	return nil
}

// setCertificates reads the files of certificates that a data source name has.
func (c *Config) setCertificates(p parameters) error {
	if p.ca == "" && p.cert == "" && p.key == "" {
		return nil
	}
	if c.TLS == nil {
		return errors.New("tlsCA, tlsCert and tlsKey need tls=true")
	}
	if p.ca != "" {
		if c.TLS.InsecureSkipVerify {
			return errors.New("tlsCA has no effect with tls=skip-verify")
		}
		text, err := readPEM(p.ca)
		if err != nil {
			return fmt.Errorf("tlsCA: %w", err)
		}
		c.TLS.RootCAs = x509.NewCertPool()
		if !c.TLS.RootCAs.AppendCertsFromPEM(text) {
			return fmt.Errorf("tlsCA: %q has no certificate in the form PEM", p.ca)
		}
	}
	if (p.cert == "") != (p.key == "") {
		return errors.New("tlsCert and tlsKey need each other")
	}
	if p.cert == "" {
		return nil
	}
	cert, err := readPEM(p.cert)
	if err != nil {
		return fmt.Errorf("tlsCert: %w", err)
	}
	key, err := readPEM(p.key)
	if err != nil {
		return fmt.Errorf("tlsKey: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return fmt.Errorf("tlsCert %q and tlsKey %q: %w", p.cert, p.key, err)
	}
	c.TLS.Certificates = []tls.Certificate{pair}
	return nil
}

// readPEM reads a file of certificates or a key. The largest in use have some 200 KB.
func readPEM(name string) ([]byte, error) {
	const most = 4 << 20
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if len(text) > most {
		return nil, fmt.Errorf("%q is larger than %d bytes", name, most)
	}
	return text, err
}

func positive(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n <= 0 {
		return 0, errors.New("not a positive number")
	}
	return n, nil
}
