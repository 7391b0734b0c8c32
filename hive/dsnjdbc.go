package hive

import (
	"net/url"
	"slices"
	"strings"
)

// This file translates JDBC URLs to data source names.

// fromJDBC says how to write a JDBC URL, such as hive2://h:10000/db;ssl=true?hive.a=b#c=d without
// "jdbc:". It quotes host and database, and values that are no secrets. ParseDSN accepts what it
// proposes.
func fromJDBC(dsn string) string {
	hosts := hostsOfJDBC(dsn)
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
	w.login(hosts)
	for s := range strings.SplitSeq(settings, ";") {
		w.setting(s)
	}
	if w.other {
		w.notes = append(w.notes, "ParseDSN tells what the other parameters are called here")
	}
	text := "write hive://" + w.user + hosts
	if database != "" || len(w.query) > 0 {
		text += "/" + strings.ReplaceAll(url.PathEscape(database), "@", "%40")
	}
	if len(w.query) > 0 {
		text += "?" + strings.Join(w.query, "&")
	}
	return strings.Join(append([]string{text}, w.notes...), "; ")
}

// hostsOfJDBC returns the hosts of a JDBC URL, or "" if they may be a part of a password.
func hostsOfJDBC(dsn string) string {
	if !strings.Contains(dsn, "://") {
		return ""
	}
	start, end := hostsIn(dsn)
	if end == 0 {
		return ""
	}
	authority := dsn[strings.Index(dsn, "://"):end] // with the user
	if strings.Contains(authority, ";") && strings.Contains(authority, "@") || severalUsers(dsn[:start]) {
		return ""
	}
	hosts, _, _ := strings.Cut(dsn[start:end], ";")
	for host := range strings.SplitSeq(hosts, ",") {
		if _, err := withPort(host, "10000"); err != nil {
			return ""
		}
	}
	return hosts
}

// written is what the parameters and settings of a JDBC URL become in a data source name.
type written struct {
	user         string // a placeholder, if there is a user
	query, notes []string
	other        bool // there are more, which are not translated

	// What login adds
	http, zooKeeper                 bool
	auth, principal, qop, namespace string
}

// add adds a parameter of a data source name, which has each one once.
func (w *written) add(name, value string) {
	if !slices.ContainsFunc(w.query, func(p string) bool { return strings.HasPrefix(p, name+"=") }) {
		w.query = append(w.query, name+"="+value)
	}
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
			w.add("tls", "true")
		}
	case "transportmode":
		if lower == "http" {
			w.http = true
			w.add("transport", "http")
		}
	case "httppath":
		if harmless(value) {
			w.add("httpPath", value)
		}
	case "auth":
		w.auth = lower
	case "principal":
		w.principal = value
	case "saslqop":
		w.qop = lower
	case "servicediscoverymode":
		if lower == "zookeeper" {
			w.zooKeeper = true
			w.add("discovery", "zookeeper")
			w.notes = append(w.notes, "import package hive/zookeeper")
		} else {
			w.notes = append(w.notes, "this kind of discovery is not supported")
		}
	case "zookeepernamespace":
		w.namespace = value
	case "ssltruststore":
		w.notes = append(w.notes, "tlsCA=FILE names certificates to trust (keytool -exportcert -rfc writes them)")
	case "sslkeystore":
		w.notes = append(w.notes, "tlsCert=FILE and tlsKey=FILE name the client's certificate and key")
	case "sslkeystorepassword", "truststorepassword", "keystorepassword", "twoway":
	default:
		w.other = true
	}
}

// login adds parameters that depend on others: of a login at these hosts, and of discovery.
func (w *written) login(hosts string) {
	if w.zooKeeper && w.namespace != "" && harmless(w.namespace) {
		w.add("zooKeeperNamespace", w.namespace)
	}
	switch {
	case w.auth == "nosasl":
		w.add("auth", "NOSASL")
		return
	case w.auth == "delegationtoken":
		w.notes = append(w.notes, "logins by delegation token are not supported")
		return
	case w.principal == "":
		w.other = w.other || w.auth != "" || w.qop != ""
		return
	}
	w.add("auth", "KERBEROS")
	if w.http {
		if !strings.HasPrefix(w.principal, "HTTP/_HOST@") {
			w.notes = append(w.notes, "over HTTP the server's principal is always HTTP/HOST, with the host of its address")
		}
	} else {
		w.service(hosts)
		if w.qop == "auth" || w.qop == "auth-int" || w.qop == "auth-conf" {
			w.add("saslQop", w.qop)
		}
	}
	w.notes = append(w.notes, "KERBEROS needs the package hivekerberos")
}

// service adds the service of the principal, with its host if that is not the one of all hosts.
func (w *written) service(hosts string) {
	principal, _, _ := strings.Cut(w.principal, "@") // krb5.conf says the realm of a host
	service, host, _ := strings.Cut(principal, "/")
	switch {
	case service == "" || !harmless(service) || !harmless(host) || strings.Contains(host, "/"):
		w.notes = append(w.notes, "the principal is not NAME/HOST@REALM")
	case host != "" && host != "_HOST" && (w.zooKeeper || !onlyHost(host, hosts)):
		w.add("service", service+"/"+host)
	case service != "hive":
		w.add("service", service)
	}
}

// onlyHost reports whether host is that of all the addresses.
func onlyHost(host, addrs string) bool {
	for addr := range strings.SplitSeq(addrs, ",") {
		if name, _, _ := strings.Cut(addr, ":"); !strings.EqualFold(name, host) {
			return false
		}
	}
	return true
}

// setting adds a setting of the session, such as hive.a=b, without its value.
func (w *written) setting(s string) {
	name, _, _ := strings.Cut(s, "=")
	if harmless(name) && (strings.HasPrefix(name, "hive.") || strings.HasPrefix(name, "spark.")) {
		w.add(name, "…")
	} else if name != "" {
		w.other = true
	}
}

// harmless reports whether s is a name or path, which needs no escapes.
func harmless(s string) bool {
	return strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/") == ""
}
