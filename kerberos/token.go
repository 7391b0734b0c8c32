package kerberos

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/asn1tools"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/asnAppTag"
	"github.com/jcmturner/gokrb5/v8/iana/chksumtype"
	"github.com/jcmturner/gokrb5/v8/iana/flags"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/msgtype"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// This file has the tokens that establish a context, RFC 4121, section 4.1: an AP-REQ from the
// client, and an AP-REP from the server if the client asks for it.

var (
	oidKerberos = asn1.ObjectIdentifier{1, 2, 840, 113554, 1, 2, 2}
	apReqID     = []byte{1, 0}
	apRepID     = []byte{2, 0}
	errorID     = []byte{3, 0}
)

// Flags of a context, RFC 4121, section 4.1.1.1.
const (
	flagMutual   = 2
	flagReplay   = 4
	flagSequence = 8
	flagConf     = 16
	flagInteg    = 32
)

// framed returns a token with a message of Kerberos in it, RFC 2743, section 3.1.
func framed(id, message []byte) ([]byte, error) {
	oid, err := asn1.Marshal(oidKerberos)
	if err != nil {
		return nil, err
	}
	return asn1tools.AddASNAppTag(append(append(oid, id...), message...), 0), nil
}

// unframed returns the message in a token, of the kind id.
func unframed(token, id []byte) ([]byte, error) {
	var outer asn1.RawValue
	rest, err := asn1.Unmarshal(token, &outer)
	if err != nil || len(rest) > 0 || outer.Class != asn1.ClassApplication || outer.Tag != 0 {
		return nil, errors.New("no token of Kerberos")
	}
	var oid asn1.ObjectIdentifier
	inner, err := asn1.Unmarshal(outer.Bytes, &oid)
	if err != nil || !oid.Equal(oidKerberos) || len(inner) < len(id) {
		return nil, errors.New("no token of Kerberos")
	}
	switch got, message := inner[:len(id)], inner[len(id):]; {
	case bytes.Equal(got, id):
		return message, nil
	case bytes.Equal(got, errorID):
		var e messages.KRBError
		if err := e.Unmarshal(message); err != nil {
			return nil, errors.New("an error of Kerberos, which is malformed")
		}
		return nil, advised(e)
	default:
		return nil, fmt.Errorf("a token of the kind %x, not %x", got, id)
	}
}

// A request is an AP-REQ that a client has sent, with what it needs to check the answer.
type request struct {
	sessionKey    types.EncryptionKey
	authenticator types.Authenticator
}

// newRequest returns an AP-REQ's token for a service. mutual asks for an AP-REP.
func newRequest(t ticket, mutual bool) (*request, []byte, error) {
	if _, err := modern(t.key); err != nil {
		return nil, nil, err
	}
	a, err := types.NewAuthenticator(t.realm, t.client)
	if err != nil {
		return nil, nil, err
	}
	if err := a.GenerateSeqNumberAndSubKey(t.key.KeyType, keySize(t.key.KeyType)); err != nil {
		return nil, nil, err
	}
	a.CTime = a.CTime.Truncate(time.Second) // as it is sent
	wants := uint32(flagReplay | flagSequence | flagConf | flagInteg)
	if mutual {
		wants |= flagMutual
	}
	a.Cksum = types.Checksum{CksumType: chksumtype.GSSAPI, Checksum: contextFlags(wants)}
	message, err := messages.NewAPReq(t.ticket, t.key, a)
	if err != nil {
		return nil, nil, err
	}
	if mutual {
		types.SetFlag(&message.APOptions, flags.APOptionMutualRequired)
	}
	b, err := message.Marshal()
	if err != nil {
		return nil, nil, err
	}
	token, err := framed(apReqID, b)
	return &request{t.key, a}, token, err
}

// contextFlags returns an authenticator's checksum without bindings to a channel, RFC 4121,
// section 4.1.1.
func contextFlags(f uint32) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 16) // the length of the bindings
	b = append(b, make([]byte, 16)...)
	return binary.LittleEndian.AppendUint32(b, f)
}

// complete returns the context after the server's AP-REP, which proves who the server is.
func (r *request) complete(token []byte) (c *securityContext, err error) {
	defer survive(&err)
	b, err := unframed(token, apRepID)
	if err != nil {
		return nil, err
	}
	var message messages.APRep
	if err := message.Unmarshal(b); err != nil {
		return nil, errors.New("a malformed AP-REP")
	}
	b, err = crypto.DecryptEncPart(message.EncPart, r.sessionKey, keyusage.AP_REP_ENCPART)
	if err != nil {
		return nil, errors.New("the server does not have the service's key: it is another one, or its keytab is old")
	}
	var part messages.EncAPRepPart
	if err := part.Unmarshal(b); err != nil {
		return nil, errors.New("a malformed AP-REP")
	}
	if part.CTime.Unix() != r.authenticator.CTime.Unix() || part.Cusec != r.authenticator.Cusec {
		return nil, errors.New("an AP-REP for another login")
	}
	key := r.authenticator.SubKey
	if len(part.Subkey.KeyValue) > 0 {
		key = part.Subkey
	}
	if c, err = newContext(key, false); err != nil {
		return nil, err
	}
	c.acceptorSubkey = len(part.Subkey.KeyValue) > 0
	c.sendSeq, c.receiveSeq = uint64(uint32(r.authenticator.SeqNumber)), uint64(uint32(part.SequenceNumber))
	return c, nil
}

// reply is EncAPRepPart of RFC 4120, section 5.5.2, which gokrb5 can only read.
type reply struct {
	CTime          time.Time           `asn1:"generalized,explicit,tag:0"`
	Cusec          int                 `asn1:"explicit,tag:1"`
	Subkey         types.EncryptionKey `asn1:"explicit,tag:2"`
	SequenceNumber int64               `asn1:"explicit,tag:3"`
}

// accepted returns the server's context for a request that was verified, and the token with the
// AP-REP, nil if the client does not ask for one.
func accepted(r *messages.APReq) (c *securityContext, token []byte, err error) {
	sum := r.Authenticator.Cksum
	if sum.CksumType != chksumtype.GSSAPI || len(sum.Checksum) < 24 || binary.LittleEndian.Uint32(sum.Checksum) != 16 {
		return nil, nil, errors.New("an authenticator without the checksum of RFC 4121")
	}
	session := r.Ticket.DecryptedEncPart.Key
	if _, err := modern(session); err != nil {
		return nil, nil, err
	}
	key := session
	if len(r.Authenticator.SubKey.KeyValue) > 0 {
		key = r.Authenticator.SubKey
	}
	if _, err := modern(key); err != nil {
		return nil, nil, err
	}
	seq := uint64(uint32(r.Authenticator.SeqNumber))
	if binary.LittleEndian.Uint32(sum.Checksum[20:])&flagMutual == 0 {
		c, err = newContext(key, true)
		if err == nil {
			c.sendSeq, c.receiveSeq = seq, seq
		}
		return c, nil, err
	}
	key = newKey(key.KeyType)
	if c, err = newContext(key, true); err != nil {
		return nil, nil, err
	}
	var random [4]byte
	rand.Read(random[:])
	c.acceptorSubkey, c.receiveSeq, c.sendSeq = true, seq, uint64(binary.BigEndian.Uint32(random[:])&0x3fffffff)
	part, err := asn1.Marshal(reply{r.Authenticator.CTime, r.Authenticator.Cusec, key, int64(c.sendSeq)})
	if err != nil {
		return nil, nil, err
	}
	encrypted, err := crypto.GetEncryptedData(asn1tools.AddASNAppTag(part, asnAppTag.EncAPRepPart), session, keyusage.AP_REP_ENCPART, 0)
	if err != nil {
		return nil, nil, err
	}
	b, err := asn1.Marshal(messages.APRep{PVNO: 5, MsgType: msgtype.KRB_AP_REP, EncPart: encrypted})
	if err != nil {
		return nil, nil, err
	}
	token, err = framed(apRepID, asn1tools.AddASNAppTag(b, asnAppTag.APREP))
	return c, token, err
}
