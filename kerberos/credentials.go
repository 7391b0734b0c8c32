package kerberos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// Credentials are who a client is, and get it tickets from the KDC. A program has one for all its
// clients. Several goroutines may use it. The KDCs are those of the file that KRB5_CONFIG names,
// or /etc/krb5.conf.
type Credentials struct {
	turn   chan struct{}                  // held by the goroutine that uses what follows
	client *client.Client                 // nil before the first ticket
	login  func() (*client.Client, error) // makes a client
	stale  func() bool                    // the client must be made anew
}

// ticket is a ticket for a service.
type ticket struct {
	client types.PrincipalName
	realm  string // of client
	ticket messages.Ticket
	key    types.EncryptionKey
}

// FromKeytab returns the credentials of a principal, such as ada@EXAMPLE.COM, whose key is in the
// keytab of this path. Without a realm it is the default one of the configuration. The files are
// read at once, and the KDC is asked when the first connection is made. Tickets are renewed.
func FromKeytab(path, principal string) (*Credentials, error) {
	conf, err := readConfig()
	if err != nil {
		return nil, err
	}
	keys, err := readKeytab(path)
	if err != nil {
		return nil, err
	}
	name, realm, _ := strings.Cut(principal, "@")
	if realm == "" {
		realm = conf.LibDefaults.DefaultRealm
	}
	switch {
	case name == "" || realm == "":
		return nil, fmt.Errorf("kerberos: %q is no principal such as ada@EXAMPLE.COM", principal)
	case !has(keys, name, realm):
		return nil, fmt.Errorf("kerberos: the keytab %s has no key for %s@%s: klist -k shows whose keys it has", path, name, realm)
	}
	return newCredentials(func() (*client.Client, error) {
		c := client.NewWithKeytab(name, realm, keys, conf, client.DisablePAFXFAST(true))
		return c, c.Login()
	}, func() bool { return false }), nil
}

// has reports whether a keytab has a key of a principal.
func has(keys *keytab.Keytab, name, realm string) bool {
	for _, e := range keys.Entries {
		if strings.Join(e.Principal.Components, "/") == name && e.Principal.Realm == realm {
			return true
		}
	}
	return false
}

// FromCache returns the credentials whose tickets are in a cache, which kinit has written, for
// example. "" is the file that KRB5CCNAME names, or /tmp/krb5cc_UID. The cache is read again when
// it has changed: something else must renew its tickets before they expire.
func FromCache(path string) (*Credentials, error) {
	if path == "" {
		path = os.Getenv("KRB5CCNAME")
	}
	if path = fileOf(path, fmt.Sprintf("/tmp/krb5cc_%d", os.Getuid())); strings.Contains(path, ":") {
		kind, _, _ := strings.Cut(path, ":")
		return nil, fmt.Errorf("kerberos: ticket caches of the kind %s are not supported: use a file (kinit -c FILE:/tmp/krb5cc_%d, and KRB5CCNAME)", kind, os.Getuid())
	}
	conf, err := readConfig()
	if err != nil {
		return nil, err
	}
	var read os.FileInfo
	var until time.Time
	c := newCredentials(func() (*client.Client, error) {
		cache, info, end, err := readCache(path)
		if err != nil {
			return nil, err
		}
		read, until = info, end
		return client.NewFromCCache(cache, conf, client.DisablePAFXFAST(true))
	}, func() bool {
		now, err := os.Stat(path)
		return err != nil || now.ModTime() != read.ModTime() || now.Size() != read.Size() || !time.Now().Before(until)
	})
	if _, _, _, err := readCache(path); err != nil {
		return nil, err
	}
	return c, nil
}

// FromEnvironment returns the credentials of the keytab that KRB5_CLIENT_KTNAME names, as its
// first principal, or of the default cache of tickets.
func FromEnvironment() (*Credentials, error) {
	path := fileOf(os.Getenv("KRB5_CLIENT_KTNAME"), "")
	if path == "" {
		return FromCache("")
	}
	keys, err := readKeytab(path)
	if err != nil {
		return nil, err
	}
	first := keys.Entries[0].Principal
	return FromKeytab(path, strings.Join(first.Components, "/")+"@"+first.Realm)
}

// maxFile bounds the size of a cache of tickets.
const maxFile = 16 << 20

// readCache reads a cache of tickets, which are good until a time in the future.
func readCache(path string) (cache *credentials.CCache, info os.FileInfo, until time.Time, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("kerberos: the ticket cache %s is malformed: run kinit again", path)
		}
	}()
	if info, err = os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil, nil, until, fmt.Errorf("kerberos: there is no ticket cache %s: run kinit, or name another one in KRB5CCNAME", path)
	} else if err != nil {
		return nil, nil, until, fmt.Errorf("kerberos: the ticket cache: %w", err)
	}
	if info.Size() > maxFile {
		return nil, nil, until, fmt.Errorf("kerberos: the ticket cache %s has %d bytes, more than %d", path, info.Size(), maxFile)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, until, fmt.Errorf("kerberos: the ticket cache: %w", err)
	}
	cache = new(credentials.CCache)
	if err := cache.Unmarshal(b); err != nil {
		return nil, nil, until, fmt.Errorf("kerberos: the ticket cache %s is malformed: %w", path, err)
	}
	for _, c := range cache.Credentials {
		if len(c.Server.PrincipalName.NameString) > 0 && c.Server.PrincipalName.NameString[0] == "krbtgt" && time.Now().Before(c.EndTime) {
			return cache, info, c.EndTime, nil
		}
	}
	return nil, nil, until, fmt.Errorf("kerberos: the tickets in %s have expired: run kinit again", path)
}

// readConfig reads krb5.conf.
func readConfig() (conf *config.Config, err error) {
	defer survive(&err)
	path := os.Getenv("KRB5_CONFIG")
	if path == "" {
		path = "/etc/krb5.conf"
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("kerberos: there is no %s: copy the file of the cluster, or name one in KRB5_CONFIG", path)
	}
	conf, err = config.Load(path)
	var unsupported config.UnsupportedDirective
	switch {
	case errors.As(err, &unsupported):
		err = nil // an include, for example
	case err != nil:
		return nil, fmt.Errorf("kerberos: %s: %w", path, err)
	}
	return conf, nil
}

func newCredentials(login func() (*client.Client, error), stale func() bool) *Credentials {
	return &Credentials{turn: make(chan struct{}, 1), login: login, stale: stale}
}

// ticket returns a ticket for a service, such as hive/hive.example.com. gokrb5 does not know
// contexts: if ctx ends, its goroutine goes on for some seconds, and others wait for their turn.
func (c *Credentials) ticket(ctx context.Context, spn string) (ticket, error) {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return ticket{}, fmt.Errorf("kerberos: no answer of the KDC: %w", ctx.Err())
	}
	type result struct {
		ticket
		err error
	}
	done := make(chan result, 1)
	go func() {
		defer func() { <-c.turn }()
		var r result
		r.ticket, r.err = c.ask(spn)
		done <- r
	}()
	select {
	case r := <-done:
		return r.ticket, r.err
	case <-ctx.Done():
		return ticket{}, fmt.Errorf("kerberos: no answer of the KDC: %w", ctx.Err())
	}
}

// ask gets a ticket. The goroutine has its turn.
func (c *Credentials) ask(spn string) (t ticket, err error) {
	defer survive(&err)
	if c.client != nil && c.stale() {
		c.client.Destroy()
		c.client = nil
	}
	if c.client == nil {
		made, err := c.login()
		if err != nil {
			return t, advised(err)
		}
		c.client = made
	}
	t.ticket, t.key, err = c.client.GetServiceTicket(spn)
	if err != nil {
		return t, advised(fmt.Errorf("a ticket for %s: %w", spn, err))
	}
	t.client, t.realm = c.client.Credentials.CName(), c.client.Credentials.Domain()
	return t, nil
}
