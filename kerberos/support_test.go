// What tests without a KDC share: tickets that they make themselves, with the keys of the service.

package kerberos

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/asn1tools"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/asnAppTag"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"

	"github.com/nocopythrift/nocopythrift/examples/kv"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

const (
	testRealm   = "TEST.EXAMPLE"
	testService = "store/server.test"
)

var allETypes = []int32{etypeID.AES128_CTS_HMAC_SHA1_96, etypeID.AES256_CTS_HMAC_SHA1_96, etypeID.AES128_CTS_HMAC_SHA256_128, etypeID.AES256_CTS_HMAC_SHA384_192}

// serviceKeys returns the service's keytab. The keys are made once: that takes thousands of
// hashes.
var serviceKeys = sync.OnceValue(func() *keytab.Keytab {
	keys := keytab.New()
	for _, e := range append(allETypes, etypeID.RC4_HMAC) {
		for _, spn := range []string{testService, "HTTP/127.0.0.1"} {
			if err := keys.AddEntry(spn, testRealm, "secret of the service", time.Now(), 1, e); err != nil {
				panic(err)
			}
		}
	}
	return keys
})

// kdc makes tickets as a KDC would.
type kdc struct {
	keys   *keytab.Keytab
	client string // principal, without its realm
	etype  int32
	from   time.Duration // relative to now
	until  time.Duration
	edit   func(*ticket)
}

func newKDC() *kdc {
	return &kdc{keys: serviceKeys(), client: "ada", etype: etypeID.AES256_CTS_HMAC_SHA1_96, from: -time.Minute, until: time.Hour}
}

func (k *kdc) ticket(_ context.Context, spn string) (t ticket, err error) {
	t.client, t.realm = types.NewPrincipalName(nametype.KRB_NT_PRINCIPAL, k.client), testRealm
	now := time.Now().UTC()
	service := types.NewPrincipalName(nametype.KRB_NT_SRV_INST, spn)
	t.key = newKey(k.etype)
	if k.etype == etypeID.RC4_HMAC {
		t.key.KeyValue = make([]byte, 16)
	}
	// messages.NewTicket makes a session key of the wrong size for one encryption
	part, err := asn1.Marshal(messages.EncTicketPart{
		Flags: types.NewKrbFlags(), Key: t.key, CRealm: testRealm, CName: t.client,
		AuthTime: now.Add(k.from), StartTime: now.Add(k.from), EndTime: now.Add(k.until), RenewTill: now.Add(k.until),
	})
	if err != nil {
		return t, err
	}
	key, _, err := k.keys.GetEncryptionKey(service, testRealm, 1, k.etype)
	if err != nil {
		return t, err
	}
	encrypted, err := crypto.GetEncryptedData(asn1tools.AddASNAppTag(part, asnAppTag.EncTicketPart), key, keyusage.KDC_REP_TICKET, 1)
	t.ticket = messages.Ticket{TktVNO: 5, Realm: testRealm, SName: service, EncPart: encrypted}
	if k.edit != nil {
		k.edit(&t)
	}
	return t, err
}

func newAcceptor() *Acceptor { return &Acceptor{keys: serviceKeys()} }

// anyone lets every client in that does not want to be another one.
func anyone(_, as string) error {
	if as != "" {
		return errors.New("acting for others is not allowed")
	}
	return nil
}

// store is a handler that keeps one value.
type store struct {
	kv.KeyValueHandler
	values sync.Map
}

func (s *store) Create(_ context.Context, args kv.KeyValueCreateArgs, _ kv.KeyValueCreateResult) error {
	s.values.Store(string(args.GetKey()), args.GetValue())
	return nil
}

func (s *store) Retrieve(_ context.Context, args kv.KeyValueRetrieveArgs, result kv.KeyValueRetrieveResult) error {
	if v, ok := s.values.Load(string(args.GetKey())); ok {
		result.SetSuccess(v.([]byte))
		return nil
	}
	result.NewMissing().SetKey(args.GetKey())
	return nil
}

// logged is a log that tests read.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// await waits until the log has text.
func (l *logged) await(t *testing.T, text string) {
	t.Helper()
	for range 60_000 {
		l.mu.Lock()
		has := strings.Contains(l.text.String(), text)
		l.mu.Unlock()
		if has {
			return
		}
		time.Sleep(time.Millisecond)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t.Errorf("the log does not say %q: %s", text, l.text.String())
}

// serve starts a server of the store with a login, and returns its address.
func serve(t *testing.T, a *Acceptor, qop QOP, settings ...func(*rpc.Server)) (addr string, log *logged) {
	t.Helper()
	log = new(logged)
	srv := &rpc.Server{
		Processor: kv.NewKeyValueProcessor(new(store)),
		Logger:    slog.New(slog.NewTextHandler(log, nil)),
		SASL: func(_ context.Context, mechanism string) rpc.SASLServer {
			if mechanism != Mechanism {
				return nil
			}
			return a.NewServer(qop, anyone)
		},
	}
	for _, set := range settings {
		set(srv)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go srv.Serve(l)
	t.Cleanup(func() { srv.Close() })
	return l.Addr().String(), log
}

// roundTrip stores a value and gets it back.
func roundTrip(t *testing.T, c rpc.Caller, value []byte) error {
	t.Helper()
	store := kv.NewKeyValueClient(c)
	key := fmt.Appendf(nil, "key %d", len(value))
	if _, err := store.Create(t.Context(), func(args kv.KeyValueCreateArgs) { args.SetKey(key); args.SetValue(value) }); err != nil {
		return err
	}
	res, err := store.Retrieve(t.Context(), func(args kv.KeyValueRetrieveArgs) { args.SetKey(key) })
	if err != nil {
		return err
	}
	if string(res.GetSuccess()) != string(value) {
		return fmt.Errorf("%d bytes came back as %d others", len(value), len(res.GetSuccess()))
	}
	return nil
}

func dial(t *testing.T, addr string, c *Client, options ...rpc.Option) (*rpc.Client, error) {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	client, err := rpc.Dial(t.Context(), "tcp", addr, append(options, rpc.SASL(c), rpc.Logger(quiet), rpc.DialTimeout(time.Minute))...)
	if err == nil {
		t.Cleanup(func() { client.Close() })
	}
	return client, err
}

// certificate returns a certificate for 127.0.0.1 and whom to trust.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// requestAt returns a client's token as if it were made at another time.
func requestAt(t *testing.T, tk ticket, at time.Time) []byte {
	t.Helper()
	a, err := types.NewAuthenticator(tk.realm, tk.client)
	if err != nil {
		t.Fatal(err)
	}
	a.CTime, a.Cksum = at.UTC(), types.Checksum{CksumType: 0x8003, Checksum: contextFlags(flagInteg)}
	r, err := messages.NewAPReq(tk.ticket, tk.key, a)
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	token, err := framed(apReqID, b)
	if err != nil {
		t.Fatal(err)
	}
	return token
}
