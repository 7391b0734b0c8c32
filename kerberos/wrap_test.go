package kerberos

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/jcmturner/gokrb5/v8/gssapi"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// pair returns both sides of a context.
func pair(t *testing.T, etype int32) (client, server *securityContext) {
	t.Helper()
	key := newKey(etype)
	var err error
	if client, err = newContext(key, false); err != nil {
		t.Fatal(err)
	}
	if server, err = newContext(key, true); err != nil {
		t.Fatal(err)
	}
	client.acceptorSubkey, server.acceptorSubkey = true, true
	client.sendSeq, server.receiveSeq = 7, 7
	return client, server
}

// TestWrap: tokens of both kinds are unwrapped by the other side alone, also if they were
// rotated, and no change of a byte goes unnoticed.
func TestWrap(t *testing.T) {
	t.Parallel()
	for _, etype := range allETypes {
		for _, sealed := range []bool{false, true} {
			c, s := pair(t, etype)
			for _, n := range []int{0, 1, 15, 16, 17, 33, 1000} {
				message := bytes.Repeat([]byte("m"), n)
				token, err := c.wrap(message, sealed)
				if err != nil {
					t.Fatal(err)
				}
				if sealed == bytes.Contains(token, message) && n > 15 {
					t.Errorf("sealed %t: %x", sealed, token)
				}
				if _, err := c.unwrap(bytes.Clone(token), sealed); err == nil {
					t.Error("a token has come back to its sender")
				}
				for i := range token {
					if i == 6 || i == 7 || i%16 != 0 && n > 33 {
						continue // how it was rotated; or many like others
					}
					changed := bytes.Clone(token)
					changed[i] ^= 0x10
					if _, err := s.unwrap(changed, sealed); err == nil {
						t.Fatalf("etype %d, sealed %t, %d bytes: byte %d was changed", etype, sealed, n, i)
					}
				}
				for i := range min(len(token), 100) {
					if _, err := s.unwrap(bytes.Clone(token[:i]), sealed); err == nil {
						t.Fatalf("etype %d, sealed %t: %d of %d bytes", etype, sealed, i, len(token))
					}
				}
				rotated := append(bytes.Clone(token[:16]), append(bytes.Clone(token[len(token)-5:]), token[16:len(token)-5]...)...)
				rotated[7] = 5
				got, err := s.unwrap(rotated, sealed)
				if err != nil || !bytes.Equal(got, message) {
					t.Errorf("etype %d, sealed %t: %x %v", etype, sealed, got, err)
				}
				if _, err := s.unwrap(bytes.Clone(token), sealed); err == nil || !strings.Contains(err.Error(), "repeated") {
					t.Errorf("a token came twice: %v", err)
				}
			}
		}
	}
}

// TestSequence: a token that was left out is noticed; one that is not encrypted, too, if it must
// be.
func TestSequence(t *testing.T) {
	t.Parallel()
	c, s := pair(t, allETypes[1])
	first, _ := c.wrap([]byte("1"), false)
	second, _ := c.wrap([]byte("2"), false)
	if _, err := s.unwrap(second, false); err == nil || !strings.Contains(err.Error(), "number 8, not 7") {
		t.Error(err)
	}
	if _, err := s.unwrap(bytes.Clone(first), true); err == nil || !strings.Contains(err.Error(), "not encrypted") {
		t.Error(err)
	}
	if got, err := s.unwrap(first, false); err != nil || string(got) != "1" {
		t.Errorf("%q %v", got, err)
	}
}

// TestWrapReferee: gokrb5, which has tokens without encryption, reads ours, and we read its.
func TestWrapReferee(t *testing.T) {
	t.Parallel()
	for _, etype := range allETypes {
		c, s := pair(t, etype)
		token, err := c.wrap([]byte("message"), false)
		if err != nil {
			t.Fatal(err)
		}
		var theirs gssapi.WrapToken
		if err := theirs.Unmarshal(token, false); err != nil {
			t.Fatal(err)
		}
		if ok, err := theirs.Verify(c.key, usageInitiatorSeal); !ok || string(theirs.Payload) != "message" {
			t.Error(ok, err)
		}
		mine, err := gssapi.NewInitiatorWrapToken([]byte("another"), c.key)
		if err != nil {
			t.Fatal(err)
		}
		b, err := mine.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		s.receiveSeq, s.acceptorSubkey = 0, false
		if got, err := s.unwrap(b, false); err != nil || string(got) != "another" {
			t.Errorf("etype %d: %q %v", etype, got, err)
		}
	}
}

// FuzzTokens: no bytes make an Acceptor, a Client or a context panic, or let anyone in.
func FuzzTokens(f *testing.F) {
	tk, err := newKDC().ticket(f.Context(), testService)
	if err != nil {
		f.Fatal(err)
	}
	_, token, err := newRequest(tk, true)
	if err != nil {
		f.Fatal(err)
	}
	a := newAcceptor()
	if _, _, _, err := a.accept(bytes.Clone(token)); err != nil {
		f.Fatal(err)
	}
	f.Add(token)
	f.Add(token[:40])
	for _, text := range []string{"", "60", "6080", "60060604", "0504ff", "050407ff00000000000000000000000700"} {
		b, _ := hex.DecodeString(text)
		f.Add(b)
	}
	k := newKDC()
	for _, edit := range []func(*ticket){
		func(t *ticket) { t.ticket.SName.NameString = nil },
		func(t *ticket) { t.ticket.EncPart.Cipher = nil },
		func(t *ticket) { t.ticket.EncPart.EType = 99 },
	} {
		k.edit = edit
		bad, err := k.ticket(f.Context(), testService)
		if err != nil {
			f.Fatal(err)
		}
		if b, err := messagesRequest(bad); err == nil {
			f.Add(b)
		}
	}
	client, server := pairOf(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		// Parts of a token are not protected, such as options. With or without changes there, the
		// token of a worker of the fuzzer is good once
		if name, _, _, err := a.accept(bytes.Clone(b)); err == nil {
			if _, _, _, err := a.accept(bytes.Clone(b)); err == nil || name != "ada@TEST.EXAMPLE" {
				t.Errorf("%s was let in twice", name)
			}
			return
		}
		r, _, err := newRequest(tk, true)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.complete(bytes.Clone(b)); err == nil {
			t.Error("an answer was taken that nobody has made")
		}
		for _, sealed := range []bool{false, true} {
			if _, err := client.unwrap(bytes.Clone(b), sealed); err == nil {
				t.Error("a Wrap token was taken")
			}
			if _, err := server.unwrap(bytes.Clone(b), sealed); err == nil {
				t.Error("a Wrap token was taken")
			}
		}
		negotiateInner(b)
	})
}

func pairOf(f *testing.F) (client, server *securityContext) {
	key := types.EncryptionKey{KeyType: allETypes[0], KeyValue: []byte("0123456789abcdef")}
	client, err := newContext(key, false)
	if err != nil {
		f.Fatal(err)
	}
	server, err = newContext(key, true)
	if err != nil {
		f.Fatal(err)
	}
	return client, server
}

// messagesRequest returns a token with a ticket that newRequest may panic for.
func messagesRequest(t ticket) (b []byte, err error) {
	defer survive(&err)
	a, err := types.NewAuthenticator(t.realm, t.client)
	if err != nil {
		return nil, err
	}
	sname := t.ticket.SName
	t.ticket.SName.NameString = []string{"x"}
	r, err := messages.NewAPReq(t.ticket, t.key, a)
	if err != nil {
		return nil, err
	}
	r.Ticket.SName = sname
	if b, err = r.Marshal(); err != nil {
		return nil, err
	}
	return framed(apReqID, b)
}
