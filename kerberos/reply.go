package kerberos

import (
	"errors"
	"fmt"
	"time"

	"github.com/jcmturner/gokrb5/v8/messages"
)

// granted returns the ticket in a reply whose encrypted part was opened. It checks what RFC 4120,
// sections 3.1.5 and 3.3.4, says: somebody may change what is not encrypted. The name of the
// service is not compared to the one that was asked for. Addresses, for which nobody asks, are
// ignored.
func (k *kdcClient) granted(reply messages.KDCRepFields, asked messages.KDCReqBody) (grant, error) {
	part, t := reply.DecryptedEncPart, reply.Ticket
	var err error
	switch {
	case part.Nonce != asked.Nonce:
		err = errors.New("it is for another request: the nonce differs")
	case !reply.CName.Equal(k.who.CName()) || reply.CRealm != k.who.Domain():
		err = fmt.Errorf("it is for the client %s", nameOf(reply.CName, reply.CRealm))
	case part.SRealm != asked.Realm:
		err = fmt.Errorf("it is from the realm %q", part.SRealm)
	case !t.SName.Equal(part.SName) || t.Realm != part.SRealm || len(part.SName.NameString) == 0:
		err = fmt.Errorf("the ticket is for %s, the encrypted part for %s", nameOf(t.SName, t.Realm), nameOf(part.SName, part.SRealm))
	default:
		err = k.types.permits(part.Key.KeyType)
	}
	if err == nil {
		_, err = modern(part.Key)
	}
	from := part.StartTime
	if from.IsZero() {
		from = part.AuthTime
	}
	if err == nil {
		err = inTime(from, part.EndTime, asked.Till)
	}
	if err != nil {
		return grant{}, fmt.Errorf("the KDC's answer: %w", err)
	}
	return grant{t, part.Key, from, part.EndTime}, nil
}

// inTime checks when a new ticket is valid.
func inTime(from, until, asked time.Time) error {
	const form = time.RFC3339
	switch now := time.Now(); {
	case until.After(asked):
		return fmt.Errorf("the ticket is valid until %s, longer than asked for", until.Format(form))
	case !until.After(now):
		return fmt.Errorf("clock skew: the new ticket has expired %s", until.Format(form))
	case from.After(now.Add(maxSkew)):
		return fmt.Errorf("clock skew: the new ticket is valid from %s on", from.Format(form))
	case !until.After(from):
		return errors.New("the ticket ends before it begins")
	}
	return nil
}
