package kerberos

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// maxSkew is how much clocks may differ, as with MIT's library.
const maxSkew = 5 * time.Minute

// An Acceptor verifies clients' tickets with the keys of a keytab. A program has one for all its
// servers, since it remembers the logins of the last minutes and refuses them if they come again.
// Several goroutines may use it.
type Acceptor struct {
	keys   *keytab.Keytab
	replay replayCache
}

// NewAcceptor reads a keytab, which must have a key for each principal of the service, such as
// hive/hive.example.com@EXAMPLE.COM. "" is the file that KRB5_KTNAME names, or /etc/krb5.keytab.
func NewAcceptor(path string) (*Acceptor, error) {
	if path == "" {
		path = fileOf(os.Getenv("KRB5_KTNAME"), "/etc/krb5.keytab")
	}
	keys, err := readKeytab(path)
	if err != nil {
		return nil, err
	}
	return &Acceptor{keys: keys}, nil
}

// readKeytab reads a keytab with at least one key.
func readKeytab(path string) (keys *keytab.Keytab, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("kerberos: the keytab %s is malformed", path)
		}
	}()
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("kerberos: the keytab: %w", err)
	}
	keys = keytab.New()
	const header = 2 // an empty keytab's
	if len(b) > header {
		if err := keys.Unmarshal(b); err != nil {
			return nil, fmt.Errorf("kerberos: the keytab %s is malformed: %w", path, err)
		}
	}
	if len(keys.Entries) == 0 {
		return nil, fmt.Errorf("kerberos: the keytab %s has no keys", path)
	}
	return keys, nil
}

// fileOf returns the path in the value of a variable such as KRB5_KTNAME, or otherwise.
func fileOf(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return strings.TrimPrefix(value, "FILE:")
}

// accept verifies a client's token. It returns the client's principal, the context, and the token
// to answer with, nil if the client does not ask for one.
func (a *Acceptor) accept(token []byte) (principal string, c *securityContext, answer []byte, err error) {
	defer survive(&err)
	b, err := unframed(token, apReqID)
	if err != nil {
		return "", nil, nil, err
	}
	var r messages.APReq
	if err := r.Unmarshal(b); err != nil {
		return "", nil, nil, errors.New("a malformed AP-REQ")
	}
	ok, err := r.Verify(a.keys, maxSkew, types.HostAddress{}, nil)
	switch ticket := r.Ticket.DecryptedEncPart; {
	case err != nil:
		return "", nil, nil, advised(err)
	case !ok:
		return "", nil, nil, errors.New("the ticket is not valid")
	// gokrb5 does not compare the realms
	case r.Authenticator.CRealm != ticket.CRealm || len(ticket.CName.NameString) == 0:
		return "", nil, nil, errors.New("an authenticator of another client than the ticket")
	case !a.replay.add(r.EncryptedAuthenticator.Cipher, time.Now()):
		return "", nil, nil, errReplay
	}
	c, answer, err = accepted(&r)
	return nameOf(r.Ticket.DecryptedEncPart.CName, r.Ticket.DecryptedEncPart.CRealm), c, answer, err
}

// nameOf returns a principal as text, in which characters that separate its parts are escaped.
func nameOf(name types.PrincipalName, realm string) string {
	escape := strings.NewReplacer(`\`, `\\`, "/", `\/`, "@", `\@`, "\n", `\n`, "\t", `\t`, "\b", `\b`, "\x00", `\0`)
	parts := make([]string, len(name.NameString))
	for i, s := range name.NameString {
		parts[i] = escape.Replace(s)
	}
	return strings.Join(parts, "/") + "@" + escape.Replace(realm)
}

// replayCache knows the authenticators of the time in which they are valid. Only those are added
// that were encrypted with a key of a ticket for this service.
type replayCache struct {
	mu    sync.Mutex
	seen  map[[sha256.Size]byte]time.Time // until when
	swept time.Time
}

// maxSeen bounds the memory of a replayCache, to about 100 MB. It is 1,600 logins per second.
const maxSeen = 1 << 20

var errReplay = errors.New("a login that was made before (a replay), or more than a million logins in 10 minutes")

// add reports whether an authenticator is new, and there is room to remember it.
func (r *replayCache) add(authenticator []byte, now time.Time) bool {
	sum := sha256.Sum256(authenticator)
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.swept) > time.Minute {
		for s, until := range r.seen {
			if now.After(until) {
				delete(r.seen, s)
			}
		}
		r.swept = now
	}
	if _, seen := r.seen[sum]; seen || len(r.seen) >= maxSeen {
		return false
	}
	if r.seen == nil {
		r.seen = map[[sha256.Size]byte]time.Time{}
	}
	r.seen[sum] = now.Add(2 * maxSkew)
	return true
}
