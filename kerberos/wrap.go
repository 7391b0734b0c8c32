package kerberos

import (
	"crypto/hmac"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/crypto/etype"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/types"
)

// This file protects messages by Wrap tokens, RFC 4121, section 4.2.6.2. gokrb5 has such tokens,
// but can't encrypt them.

// Flags of a token, RFC 4121, section 4.2.2.
const (
	flagSentByAcceptor = 1
	flagSealed         = 2
	flagAcceptorSubkey = 4
)

// Key usages, RFC 4121, section 2. Wrap tokens have those for sealing whether they are encrypted
// or not (section 4.2.4).
const (
	usageAcceptorSeal  = 22
	usageInitiatorSeal = 24
)

const wrapHeader = 16

// A securityContext is what two sides share who have exchanged AP-REQ and AP-REP. One goroutine
// may wrap while another one unwraps.
type securityContext struct {
	key            types.EncryptionKey
	etype          etype.EType // of key
	acceptor       bool        // this is the server's side
	acceptorSubkey bool        // key is one that the server has made
	sendSeq        uint64      // of the next token
	receiveSeq     uint64
}

// newContext returns a context with the key that both sides use from now on.
func newContext(key types.EncryptionKey, acceptor bool) (*securityContext, error) {
	e, err := modern(key)
	if err != nil {
		return nil, err
	}
	return &securityContext{key: key, etype: e, acceptor: acceptor}, nil
}

// modern returns the encryption of a key, which must be one that RFC 4121 is for. RC4 and DES
// have other tokens, and can be broken.
func modern(key types.EncryptionKey) (etype.EType, error) {
	size := keySize(key.KeyType)
	if size == 0 {
		return nil, fmt.Errorf("a key with encryption type %d, which is neither AES nor safe: give the service's principal AES keys (types 17 to 20) in the KDC, and a new keytab", key.KeyType)
	}
	e, err := crypto.GetEtype(key.KeyType)
	if err == nil && len(key.KeyValue) != size {
		err = fmt.Errorf("a key of %d bytes for encryption type %d", len(key.KeyValue), key.KeyType)
	}
	return e, err
}

// keySize returns how many bytes a key for an encryption type has, 0 if it is not AES. gokrb5
// says 24 for the last one.
func keySize(etype int32) int {
	switch etype {
	case etypeID.AES128_CTS_HMAC_SHA1_96, etypeID.AES128_CTS_HMAC_SHA256_128:
		return 16
	case etypeID.AES256_CTS_HMAC_SHA1_96, etypeID.AES256_CTS_HMAC_SHA384_192:
		return 32
	}
	return 0
}

// newKey returns a random key of a type for which keySize is not 0.
func newKey(etype int32) types.EncryptionKey {
	value := make([]byte, keySize(etype))
	rand.Read(value)
	return types.EncryptionKey{KeyType: etype, KeyValue: value}
}

// header returns the 16 bytes of a token before its data. Of its fields, ec is the number of
// bytes after the data, and rotation how far the bytes after the header were rotated to the
// right.
func header(flags byte, ec, rotation uint16, seq uint64) []byte {
	b := []byte{5, 4, flags, 0xff}
	b = binary.BigEndian.AppendUint16(b, ec)
	b = binary.BigEndian.AppendUint16(b, rotation)
	return binary.BigEndian.AppendUint64(b, seq)
}

// usage is the key usage of tokens that one side sends.
func usage(byAcceptor bool) uint32 {
	if byAcceptor {
		return usageAcceptorSeal
	}
	return usageInitiatorSeal
}

// wrap returns a token with message, encrypted if sealed is true, else with a checksum alone.
func (c *securityContext) wrap(message []byte, sealed bool) (token []byte, err error) {
	defer survive(&err)
	flags := byte(0)
	if c.acceptor {
		flags |= flagSentByAcceptor
	}
	if c.acceptorSubkey {
		flags |= flagAcceptorSubkey
	}
	if sealed {
		flags |= flagSealed
	}
	head := header(flags, 0, 0, c.sendSeq)
	plain := make([]byte, 0, len(message)+wrapHeader)
	plain = append(append(plain, message...), head...)
	if sealed {
		_, encrypted, err := c.etype.EncryptMessage(c.key.KeyValue, plain, usage(c.acceptor))
		if err != nil {
			return nil, err
		}
		token = append(head, encrypted...)
	} else {
		sum, err := c.etype.GetChecksumHash(c.key.KeyValue, plain, usage(c.acceptor))
		if err != nil {
			return nil, err
		}
		token = append(header(flags, uint16(len(sum)), 0, c.sendSeq), message...)
		token = append(token, sum...)
	}
	c.sendSeq++
	return token, nil
}

var (
	errNoToken  = errors.New("no Wrap token of RFC 4121: the other end sends messages without protection, or for an old encryption type")
	errBadToken = errors.New("a token was changed on its way, or is for another connection")
)

// unwrap returns the message of a token, which must be sealed if sealed is true. Tokens must come
// in the order in which they were sent. It may change token.
func (c *securityContext) unwrap(token []byte, sealed bool) (message []byte, err error) {
	defer survive(&err)
	if len(token) < wrapHeader || token[0] != 5 || token[1] != 4 || token[3] != 0xff {
		return nil, errNoToken
	}
	flags, rest := token[2], token[wrapHeader:]
	ec, rotation := binary.BigEndian.Uint16(token[4:]), binary.BigEndian.Uint16(token[6:])
	seq := binary.BigEndian.Uint64(token[8:])
	switch {
	case flags&flagSentByAcceptor != 0 == c.acceptor:
		return nil, errors.New("a token that this side has sent has come back")
	case flags&flagAcceptorSubkey != 0 != c.acceptorSubkey:
		return nil, errors.New("a token with another key than the one agreed on")
	case sealed && flags&flagSealed == 0:
		return nil, errors.New("a token that is not encrypted, although auth-conf was agreed on")
	}
	if len(rest) > 0 {
		rest = rotatedLeft(rest, int(rotation)%len(rest))
	}
	if flags&flagSealed != 0 {
		message, err = c.open(rest, header(flags, ec, 0, seq), int(ec))
	} else {
		message, err = c.check(rest, header(flags, 0, 0, seq), int(ec))
	}
	switch {
	case err != nil:
		return nil, err
	case seq != c.receiveSeq:
		return nil, fmt.Errorf("a token has the number %d, not %d: one was lost, repeated, or reordered", seq, c.receiveSeq)
	}
	c.receiveSeq++
	return message, nil
}

// open decrypts a message, after which there are ec bytes and the header.
func (c *securityContext) open(encrypted, head []byte, ec int) ([]byte, error) {
	if len(encrypted) < c.etype.GetConfounderByteSize()+len(head)+ec+c.etype.GetHMACBitLength()/8 {
		return nil, errBadToken
	}
	plain, err := c.etype.DecryptMessage(c.key.KeyValue, encrypted, usage(!c.acceptor))
	if err != nil || len(plain) < len(head)+ec {
		return nil, errBadToken
	}
	end := len(plain) - len(head)
	if !hmac.Equal(plain[end:], head) {
		return nil, errBadToken
	}
	return plain[:end-ec], nil
}

// check verifies the checksum of ec bytes after a message.
func (c *securityContext) check(rest, head []byte, ec int) ([]byte, error) {
	end := len(rest) - ec
	if end < 0 {
		return nil, errBadToken
	}
	message := rest[:end:end]
	sum, err := c.etype.GetChecksumHash(c.key.KeyValue, append(message, head...), usage(!c.acceptor))
	if err != nil || !hmac.Equal(sum, rest[end:]) {
		return nil, errBadToken
	}
	return message, nil
}

// rotatedLeft returns b rotated left by n bytes.
func rotatedLeft(b []byte, n int) []byte {
	if n == 0 {
		return b
	}
	return append(append(make([]byte, 0, len(b)), b[n:]...), b[:n]...)
}

// survive turns a panic into an error. Functions that give gokrb5 bytes of strangers defer it,
// since some bytes make gokrb5 panic.
func survive(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("malformed: %v", v)
	}
}
