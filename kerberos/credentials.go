package kerberos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// Credentials are who a client is, and get it tickets from the KDC. A program has one for all its
// clients. Several goroutines may use it. The KDCs are those of the file that KRB5_CONFIG names,
// or /etc/krb5.conf.
type Credentials struct {
	turn   chan struct{}    // held by the goroutine that uses what follows
	client *kdcClient       // nil as long as a cache has not been read
	held   map[string]*held // by service
	read   func() error     // reads a cache: sets client and held
	stale  func() bool      // the cache must be read anew
}

// held is a ticket for a service that is used for several logins.
type held struct {
	grant
	doubted atomic.Bool // in the last login the service has not proved that it has the ticket's key
}

// ticket is a ticket for a service.
type ticket struct {
	client types.PrincipalName
	realm  string // of client
	ticket messages.Ticket
	key    types.EncryptionKey
	held   *held // where the result of a login is noted; nil in tests
}

// begin notes that a login with the ticket begins. Until it succeeds, other logins ask the KDC for
// a new ticket: the service may have another key by now, and then refuses this one.
func (t ticket) begin() {
	if t.held != nil {
		t.held.doubted.Store(true)
	}
}

// proved notes that a login has succeeded.
func (t ticket) proved() {
	if t.held != nil {
		t.held.doubted.Store(false)
	}
}

// FromKeytab returns the credentials of a principal, such as ada@EXAMPLE.COM, whose key is in the
// keytab of this path. Without a realm it is the default one of the configuration. The files are
// read at once, and the KDC is asked when the first connection is made. Tickets are renewed.
func FromKeytab(path, principal string) (*Credentials, error) {
	conf, _, err := readConfig()
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
	c := newCredentials()
	if c.client, err = newKDCClient(conf, credentials.New(name, realm).WithKeytab(keys)); err != nil {
		return nil, err
	}
	c.stale = func() bool { return false }
	return c, nil
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

// keyOf returns a principal's key of a version, and the version. 0 stands for the highest one:
// gokrb5 takes the newest then, and has no order for those of the same second.
func keyOf(keys *keytab.Keytab, who types.PrincipalName, realm string, version int, etype int32) (key types.EncryptionKey, got int, ok bool) {
	for _, e := range keys.Entries {
		if e.Principal.Realm == realm && slices.Equal(e.Principal.Components, who.NameString) && e.Key.KeyType == etype &&
			(version == 0 || int(e.KVNO) == version) && (!ok || int(e.KVNO) > got) {
			key, got, ok = e.Key, int(e.KVNO), true
		}
	}
	return key, got, ok
}

// FromCache returns the credentials whose tickets are in a cache, which kinit has written, for
// example. "" is the file that KRB5CCNAME or default_ccache_name in krb5.conf names, or
// /tmp/krb5cc_UID. The cache is read again when it has changed: something else must renew its
// tickets before they expire.
func FromCache(path string) (*Credentials, error) {
	conf, name, err := readConfig()
	if err != nil {
		return nil, err
	}
	from := "default_ccache_name in krb5.conf"
	if env := os.Getenv("KRB5CCNAME"); env != "" {
		name, from = env, "KRB5CCNAME"
	}
	if name == "" {
		name = fmt.Sprintf("/tmp/krb5cc_%d", os.Getuid())
	}
	if path != "" {
		name, from = path, "the program"
	}
	if path, err = cachePath(name, from); err != nil {
		return nil, err
	}
	var file os.FileInfo
	c := newCredentials()
	c.read = func() (err error) {
		var cache *credentials.CCache
		if cache, file, err = readCache(path); err != nil {
			return err
		}
		if c.client, err = newKDCClient(conf, cache.GetClientCredentials()); err != nil {
			return err
		}
		if c.client.initial, c.held, err = grantsOf(cache); err != nil {
			return fmt.Errorf("kerberos: the ticket cache %s: %w", path, err)
		}
		return nil
	}
	c.stale = func() bool {
		now, err := os.Stat(path)
		return err != nil || now.ModTime() != file.ModTime() || now.Size() != file.Size() || !time.Now().Before(c.client.initial.until)
	}
	if _, _, err := readCache(path); err != nil {
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

// readCache reads a cache of tickets.
func readCache(path string) (cache *credentials.CCache, info os.FileInfo, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("kerberos: the ticket cache %s is malformed: run kinit again", path)
		}
	}()
	if info, err = os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil, nil, fmt.Errorf("kerberos: there is no ticket cache %s: run kinit, or name another one in KRB5CCNAME", path)
	} else if err != nil {
		return nil, nil, fmt.Errorf("kerberos: the ticket cache: %w", err)
	}
	if info.Size() > maxFile {
		return nil, nil, fmt.Errorf("kerberos: the ticket cache %s has %d bytes, more than %d", path, info.Size(), maxFile)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("kerberos: the ticket cache: %w", err)
	}
	cache = new(credentials.CCache)
	if err := cache.Unmarshal(b); err != nil {
		return nil, nil, fmt.Errorf("kerberos: the ticket cache %s is malformed: run kinit again (%w)", path, err)
	}
	for _, c := range cache.GetEntries() {
		if isInitial(c, cache.GetClientRealm()) && time.Now().Before(c.EndTime) {
			return cache, info, nil
		}
	}
	return nil, nil, fmt.Errorf("kerberos: the tickets in %s have expired: run kinit again", path)
}

// isInitial reports whether a ticket is the one with which others are asked for in a realm.
func isInitial(c *credentials.Credential, realm string) bool {
	name := c.Server.PrincipalName.NameString
	return len(name) == 2 && name[0] == "krbtgt" && name[1] == realm
}

// grantsOf returns the tickets in a cache: the initial one, and those for services.
func grantsOf(cache *credentials.CCache) (initial grant, services map[string]*held, err error) {
	services = map[string]*held{}
	for _, c := range cache.GetEntries() {
		g := grant{key: c.Key, from: c.StartTime, until: c.EndTime}
		switch err := g.ticket.Unmarshal(c.Ticket); {
		case err != nil:
			return grant{}, nil, err
		case !isInitial(c, cache.GetClientRealm()):
			services[c.Server.PrincipalName.PrincipalNameString()] = &held{grant: g}
		case g.until.After(initial.until):
			initial = g
		}
	}
	return initial, services, nil
}

func newCredentials() *Credentials {
	return &Credentials{turn: make(chan struct{}, 1), held: map[string]*held{}}
}

// ticket returns a ticket for a service, such as hive/hive.example.com.
func (c *Credentials) ticket(ctx context.Context, spn string) (ticket, error) {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return ticket{}, &adviceError{fmt.Errorf("another login waits for it: %w", ctx.Err()), noKDC}
	}
	defer func() { <-c.turn }()
	t, err := c.ask(ctx, spn)
	if err != nil && ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		err = fmt.Errorf("%w: %w", err, ctx.Err())
	}
	return t, err
}

// ask gets a ticket. The goroutine has its turn.
func (c *Credentials) ask(ctx context.Context, spn string) (t ticket, err error) {
	defer func() { err = advised(err) }()
	defer survive(&err)
	if c.client == nil || c.stale() {
		if err := c.read(); err != nil {
			c.client = nil
			return t, err
		}
	}
	h := c.held[spn]
	valid := h != nil && time.Now().Before(h.until)
	if !valid || h.doubted.Load() {
		if end, ok := ctx.Deadline(); ok && valid { // some time is left if no KDC answers
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, time.Until(end)/2)
			defer cancel()
		}
		g, err := c.client.service(ctx, spn)
		switch {
		case err == nil:
			h = &held{grant: g}
			c.held[spn] = h
		case !valid:
			return t, fmt.Errorf("a ticket for %s: %w", spn, err)
		}
	}
	return ticket{c.client.who.CName(), c.client.who.Domain(), h.ticket, h.key, h}, nil
}

// refused notes that a service has refused a ticket.
func (c *Credentials) refused(ctx context.Context, spn string) {
	select {
	case c.turn <- struct{}{}:
		if h := c.held[spn]; h != nil {
			h.doubted.Store(true)
		}
		<-c.turn
	case <-ctx.Done():
	}
}
