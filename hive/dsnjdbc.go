package hive

import "strings"

// This file translates JDBC URLs to data source names.

// fromJDBC says how to write a JDBC URL, such as hive2://h:10000/db;ssl=true?hive.a=b#c=d without
// "jdbc:". It quotes host and database, and values that are no secrets.
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
	for s := range strings.SplitSeq(settings, ";") {
		w.setting(s)
	}
	if w.other {
		w.notes = append(w.notes, "ParseDSN tells what the other parameters are called here")
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
	if strings.Contains(authority, ";") && strings.Contains(authority, "@") {
		return ""
	}
	hosts, _, _ := strings.Cut(dsn[start:end], ";")
	return hosts
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
	case "servicediscoverymode":
		if lower == "zookeeper" {
			w.query = append(w.query, "discovery=zookeeper")
			w.notes = append(w.notes, "import package hive/zookeeper")
		} else {
			w.notes = append(w.notes, "this kind of discovery is not supported")
		}
	case "zookeepernamespace":
		if harmless(value) {
			w.query = append(w.query, "zooKeeperNamespace="+value)
		}
	case "ssltruststore":
		w.notes = append(w.notes, "tlsCA=FILE names certificates to trust (keytool -exportcert -rfc writes them)")
	case "sslkeystore":
		w.notes = append(w.notes, "tlsCert=FILE and tlsKey=FILE name the client's certificate and key")
	case "sslkeystorepassword", "truststorepassword", "keystorepassword", "twoway":
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
