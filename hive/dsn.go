package hive

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/hive/internal/discovery"
)

// ParseDSN makes a Config from text such as
//
//	hive://user:password@hive.example.com:10000/sales?auth=NOSASL&hive.exec.parallel=true
//
// with a database as its path. "hive://" may be left out. Without a port it is 10000, over HTTP
// 10001. Several servers are separated by commas, as in hive://h1:10000,h2:10000/sales: see
// Config.Addr. Parameters:
//
//	auth          PLAIN (also NONE, LDAP, PAM or CUSTOM, as servers call it), NOSASL, or KERBEROS
//	service       with auth=KERBEROS, the first part of the server's principal: hive if left out;
//	              NAME/HOST if its host is not the address's, as with a load balancer
//	saslQop       with auth=KERBEROS: auth, auth-int or auth-conf, as the server has it
//	transport     binary or http
//	httpPath      see Config.HTTPPath
//	token         see Config.Token; it needs transport=http
//	tls           true, false, or skip-verify, which trusts any server
//	tlsCA         a file of certificates (PEM) to trust instead of the system's; it needs tls=true
//	tlsCert       a file with the client's certificate (PEM); it needs tls=true and tlsKey
//	tlsKey        a file with its key (PEM)
//	order         random, or given: see Config.InOrder
//	discovery     zookeeper: the hosts are ZooKeeper's, on port 2181 unless they have another. The
//	              program must import package hive/zookeeper, if only for its effect
//	loc           the session's time zone, such as America/New_York: see Config.Location
//	batchRows     see Config.BatchRows
//	batchBytes    see Config.BatchBytes
//	maxReply      see Config.MaxReply, in bytes
//	resetSession  true or false: see Config.ResetSession
//
//	zooKeeperNamespace  where servers register in ZooKeeper; hiveserver2 if it is left out
//
// Parameters whose names have a dot are settings of the session. User, password, database and
// values are escaped as in URLs. KERBEROS needs the package hivekerberos of the module kerberos,
// whose documentation says whose tickets it uses. For anything else, use a Config.
func ParseDSN(dsn string) (Config, error) {
	var c Config
	if rest, ok := strings.CutPrefix(dsn, "jdbc:"); ok {
		return c, fmt.Errorf("hive: data source name: this is a JDBC URL: %s", fromJDBC(rest))
	}
	if scheme, _, ok := strings.Cut(dsn, "://"); !ok || strings.ContainsAny(scheme, ":@/?") {
		dsn = "hive://" + dsn
	}
	// Errors do not quote parts that may belong to a password
	start, end := hostsIn(dsn)
	if severalUsers(dsn[:start]) {
		return c, errors.New("hive: data source name: user and password come once, before the first host; an @ in them is escaped as %40")
	}
	hosts := strings.Split(dsn[start:end], ",")
	u, err := url.Parse(dsn[:start] + hosts[0] + dsn[end:])
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
	p, err := c.setParameters(u.RawQuery)
	if err != nil {
		return fail("%w", err)
	}
	if c.Token != "" && !c.HTTP {
		return fail("%w", errToken)
	}
	hosts[0] = u.Host
	if err := c.setServers(hosts, p); err != nil {
		return fail("%w", err)
	}
	return c, nil
}

// setServers sets the servers, or those of ZooKeeper.
func (c *Config) setServers(hosts []string, p parameters) error {
	port := "10000"
	switch {
	case p.zooKeeper:
		port = "2181"
	case p.namespace != "":
		return errors.New("zooKeeperNamespace needs discovery=zookeeper")
	case c.HTTP:
		port = "10001"
	}
	for i, host := range hosts {
		var err error
		if hosts[i], err = withPort(host, port); err != nil {
			return err
		}
	}
	if !p.zooKeeper {
		c.Addr = strings.Join(hosts, ",")
		return nil
	}
	if discovery.ZooKeeper == nil {
		return errors.New("discovery=zookeeper: the program must import package hive/zookeeper")
	}
	set(&p.namespace, "hiveserver2")
	c.Discover = discovery.ZooKeeper(hosts, p.namespace)
	return nil
}

// withPort returns host and port of one server, which may come without its port.
func withPort(host, port string) (string, error) {
	u, err := url.Parse("hive://" + host)
	if err != nil || u.Host != host {
		return "", errors.New("one of the hosts is not a host with a port")
	}
	if u.Hostname() == "" {
		return "", errors.New("one of the hosts is empty")
	}
	if u.Port() != "" {
		port = u.Port()
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return "", fmt.Errorf("port %s is not one from 1 to 65535", port)
	}
	addr := net.JoinHostPort(u.Hostname(), port)
	if checkAddr(addr) != nil { // whose error quotes what may be a password
		return "", errors.New("a host has a character that hosts do not have; parameters come after a ?")
	}
	return addr, nil
}

// severalUsers reports whether the text before the last @ may have a host with a user of its own,
// as in hive://u:p@h1,u2:p2@h2.
func severalUsers(before string) bool {
	_, more, _ := strings.Cut(strings.TrimSuffix(before, "@"), "@")
	return strings.Contains(more, ",")
}

// hostsIn returns where a data source name has its hosts and ports, after the user. It returns 0,
// 0 if a password that is not escaped makes that unclear.
func hostsIn(dsn string) (start, end int) {
	start = strings.Index(dsn, "://") + len("://")
	if end = start + strings.IndexAny(dsn[start:], "/?#"); end < start {
		end = len(dsn)
	}
	rest := dsn[end:]
	path := rest[:max(strings.IndexAny(rest+"?", "?;"), 0)]
	switch i := strings.LastIndex(dsn[start:end], "@"); {
	case i >= 0:
		return start + i + 1, end
	case strings.Contains(path, "@"):
		return 0, 0
	}
	return start, end
}
