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
//	auth          PLAIN (also NONE, LDAP, PAM or CUSTOM, as servers call it), NOSASL, or KERBEROS
//	service       with auth=KERBEROS, the first part of the server's principal: hive if left out
//	saslQop       with auth=KERBEROS: auth, auth-int or auth-conf, as the server has it
//	transport     binary or http
//	httpPath      see Config.HTTPPath
//	token         see Config.Token; it needs transport=http
//	tls           true, false, or skip-verify, which trusts any server
//	loc           the session's time zone, such as America/New_York: see Config.Location
//	batchRows     see Config.BatchRows
//	batchBytes    see Config.BatchBytes
//	maxReply      see Config.MaxReply, in bytes
//	resetSession  true or false: see Config.ResetSession
//
// Parameters whose names have a dot are settings of the session. User, password, database and
// values are escaped as in URLs. KERBEROS needs the package hivekerberos of the module kerberos,
// whose documentation says whose tickets it uses. For anything else, use a Config.
//
// It names one server: lists of servers and their discovery by ZooKeeper are not supported.
func ParseDSN(dsn string) (Config, error) {
	var c Config
	if rest, ok := strings.CutPrefix(dsn, "jdbc:"); ok {
		return c, fmt.Errorf("hive: data source name: this is a JDBC URL: %s", fromJDBC(rest))
	}
	if scheme, _, ok := strings.Cut(dsn, "://"); !ok || strings.ContainsAny(scheme, ":@/?") {
		dsn = "hive://" + dsn
	}
	// Errors do not quote parts that may belong to a password
	if strings.Contains(hostsOf(dsn), ",") {
		return c, fmt.Errorf("hive: data source name: %w", errHosts)
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return c, errors.New("hive: data source name: not a URL; user, password and database are escaped as in URLs, such as %2F for a slash")
	}
	fail := func(format string, args ...any) (Config, error) {
		return Config{}, fmt.Errorf("hive: data source name: "+format, args...)
	}
	switch {
	case u.Scheme == "hive2":
		return fail("this is a JDBC URL: %s", fromJDBC(dsn))
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
	if strings.Contains(u.Path, ";") {
		return fail("parameters come after a ?, joined by &, such as ?tls=true, and not after a semicolon")
	}
	if strings.Contains(c.Database, "/") {
		return fail("the database has a slash")
	}
	if err := c.setParameters(u.RawQuery); err != nil {
		return fail("%w", err)
	}
	if c.Token != "" && !c.HTTP {
		return fail("%w", errToken)
	}
	port := u.Port()
	if port == "" {
		if port = "10000"; c.HTTP {
			port = "10001"
		}
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return fail("port %s is not one from 1 to 65535", port)
	}
	c.Addr = net.JoinHostPort(u.Hostname(), port)
	return c, nil
}

// setParameters sets the parameters of a data source name, the part after its question mark.
func (c *Config) setParameters(query string) error {
	parameters, err := url.ParseQuery(query)
	if err != nil {
		return errors.New("the parameters are not joined by & and escaped as in URLs")
	}
	var k kerberosOf
	for name, values := range parameters {
		if len(values) != 1 {
			return fmt.Errorf("%s is given %d times", name, len(values))
		}
		if err := c.setParameter(name, values[0], &k); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return k.set(c)
}

func (c *Config) setParameter(name, value string, k *kerberosOf) (err error) {
	switch name {
	case "auth":
		return c.setAuth(value, k)
	case "service", "saslQop":
		return k.setParameter(name, value)
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
		return c.setTLS(value)
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

// errHosts is the error of an address with several servers.
var errHosts = errors.New("several hosts are not supported yet: name one of them")

// hostsOf returns the part of a data source name that has host and port, without the user. It is
// "" if a password that is not escaped makes that unclear.
func hostsOf(dsn string) string {
	_, rest, _ := strings.Cut(dsn, "://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	hosts, rest := rest[:end], rest[end:]
	path := rest[:max(strings.IndexAny(rest+"?", "?;"), 0)]
	switch i := strings.LastIndex(hosts, "@"); {
	case i >= 0:
		return hosts[i+1:]
	case strings.Contains(path, "@"):
		return ""
	}
	return hosts
}

// fromJDBC says how to write a JDBC URL, such as hive2://h:10000/db;ssl=true?hive.a=b#c=d without
// "jdbc:". It quotes host and database, and values that are no secrets.
func fromJDBC(dsn string) string {
	hosts := hostsOf(dsn)
	if hosts == "" {
		return "write hive://USER:PASSWORD@HOST:PORT/DATABASE?tls=true"
	}
	_, rest, _ := strings.Cut(dsn, "://")
	rest, _, _ = strings.Cut(rest, "#") // Hive's variables
	rest, settings, _ := strings.Cut(rest, "?")
	rest, parameters, _ := strings.Cut(rest, ";")
	_, database, _ := strings.Cut(rest, "/")
	var w written
	if name, _, slash := strings.Cut(database, "/"); slash {
		w.notes = append(w.notes, "a database's name has no slash")
		database = name
	}
	for p := range strings.SplitSeq(parameters, ";") {
		w.parameter(p)
	}
	for s := range strings.SplitSeq(settings, ";") {
		w.setting(s)
	}
	if w.other {
		w.notes = append(w.notes, "ParseDSN tells what the other parameters are called here")
	}
	if strings.Contains(hosts, ",") {
		w.notes = append(w.notes, errHosts.Error())
		hosts, _, _ = strings.Cut(hosts, ",")
	}
	text := "write hive://" + w.user + hosts
	if database != "" || len(w.query) > 0 {
		text += "/" + database
	}
	if len(w.query) > 0 {
		text += "?" + strings.Join(w.query, "&")
	}
	return strings.Join(append([]string{text}, w.notes...), "; ")
}

// written is what the parameters and settings of a JDBC URL become in a data source name.
type written struct {
	user         string // a placeholder, if there is a user
	query, notes []string
	other        bool // there are more, which are not translated
}

// parameter adds a parameter, such as ssl=true.
func (w *written) parameter(p string) {
	name, value, _ := strings.Cut(p, "=")
	switch lower := strings.ToLower(value); strings.ToLower(name) {
	case "":
	case "user", "uid", "password", "pwd":
		w.user = "USER:PASSWORD@"
	case "ssl":
		if lower == "true" || lower == "1" {
			w.query = append(w.query, "tls=true")
		}
	case "transportmode":
		if lower == "http" {
			w.query = append(w.query, "transport=http")
		}
	case "httppath":
		if harmless(value) {
			w.query = append(w.query, "httpPath="+value)
		}
	case "auth":
		if lower == "nosasl" {
			w.query = append(w.query, "auth=NOSASL")
		}
	case "principal", "saslqop":
		w.kerberos(name, value)
	case "servicediscoverymode", "zookeepernamespace":
		if len(w.notes) == 0 {
			w.notes = append(w.notes, "discovery by ZooKeeper is not supported: name a server")
		}
	default:
		w.other = true
	}
}

// kerberos adds a parameter of a login by Kerberos.
func (w *written) kerberos(name, value string) {
	if strings.EqualFold(name, "saslQop") {
		if harmless(value) && value != "" {
			w.query = append(w.query, "saslQop="+value)
		}
		return
	}
	w.query = append(w.query, "auth=KERBEROS")
	if service, _, _ := strings.Cut(value, "/"); harmless(service) && service != "" && service != "hive" {
		w.query = append(w.query, "service="+service)
	}
	w.notes = append(w.notes, "KERBEROS needs the package hivekerberos")
}

// setting adds a setting of the session, such as hive.a=b, without its value.
func (w *written) setting(s string) {
	name, _, _ := strings.Cut(s, "=")
	if harmless(name) && (strings.HasPrefix(name, "hive.") || strings.HasPrefix(name, "spark.")) {
		w.query = append(w.query, name+"=…")
	} else if name != "" {
		w.other = true
	}
}

// harmless reports whether s is a name or path, which needs no escapes.
func harmless(s string) bool {
	return strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/") == ""
}

func positive(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n <= 0 {
		return 0, errors.New("not a positive number")
	}
	return n, nil
}
