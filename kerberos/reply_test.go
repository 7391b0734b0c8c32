package kerberos

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/asn1tools"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/asnAppTag"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/iana/flags"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// fakeKDC answers as the KDCs of all realms, with tickets for what was asked for that edit has
// changed. Tickets have the number of their session key in place of a cipher.
type fakeKDC struct {
	etype int32 // of the client's key and session keys, 0 for AES-256
	edit  func(*messages.EncKDCRepPart, *messages.KDCRepFields, messages.KDCReqBody)
	code  int32 // if not 0, the error of each answer

	mu    sync.Mutex
	keys  []types.EncryptionKey
	asked []string // name@realm
	types [][]int32
}

func (k *fakeKDC) serve(conn net.Conn) {
	var size [4]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return
	}
	b := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(conn, b); err != nil {
		return
	}
	answer, err := k.answer(b)
	if err != nil {
		answer = []byte(err.Error())
	}
	conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(answer))), answer...))
}

func (k *fakeKDC) answer(request []byte) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.code != 0 {
		return refusalOf(k.code)
	}
	etype := k.etype
	if etype == 0 {
		etype = etypeID.AES256_CTS_HMAC_SHA1_96
	}
	var as messages.ASReq
	var tgs messages.TGSReq
	asked, tag, usage := &as.ReqBody, asnAppTag.EncASRepPart, uint32(keyusage.AS_REP_ENCPART)
	key, _, _ := keyOf(serviceKeys(), types.PrincipalName{NameString: strings.Split(testService, "/")}, testRealm, 1, etype)
	reply := messages.KDCRepFields{PVNO: 5, MsgType: 11}
	if as.Unmarshal(request) != nil {
		if err := tgs.Unmarshal(request); err != nil {
			return nil, err
		}
		asked, tag, usage, reply.MsgType = &tgs.ReqBody, asnAppTag.EncTGSRepPart, keyusage.TGS_REP_ENCPART_SESSION_KEY, 13
		var err error
		if key, err = k.opened(tgs); err != nil {
			return nil, err
		}
	}
	k.asked = append(k.asked, asked.SName.PrincipalNameString()+"@"+asked.Realm)
	k.types = append(k.types, asked.EType)
	session := newKey(etype)
	if len(session.KeyValue) == 0 {
		session.KeyValue = make([]byte, 16)
	}
	k.keys = append(k.keys, session)
	now := time.Now().UTC().Truncate(time.Second)
	part := messages.EncKDCRepPart{
		Key: session, LastReqs: []messages.LastReq{{LRValue: now}}, Nonce: asked.Nonce, Flags: types.NewKrbFlags(),
		AuthTime: now, StartTime: now, EndTime: now.Add(time.Hour), RenewTill: now.Add(time.Hour), SRealm: asked.Realm, SName: asked.SName,
	}
	reply.CRealm, reply.CName = testRealm, asked.CName
	reply.Ticket = messages.Ticket{TktVNO: 5, Realm: asked.Realm, SName: asked.SName, EncPart: types.EncryptedData{EType: 18, KVNO: 1, Cipher: []byte{byte(len(k.keys) - 1)}}}
	if k.edit != nil {
		if k.edit(&part, &reply, *asked); part.Nonce < 0 {
			return refusalOf(errorcode.KDC_ERR_S_PRINCIPAL_UNKNOWN)
		}
	}
	b, err := asn1.Marshal(part)
	if err != nil {
		return nil, err
	}
	if reply.EncPart, err = crypto.GetEncryptedData(asn1tools.AddASNAppTag(b, tag), key, usage, 1); err != nil {
		return nil, err
	}
	if reply.MsgType == 11 {
		return (&messages.ASRep{KDCRepFields: reply}).Marshal()
	}
	return (&messages.TGSRep{KDCRepFields: reply}).Marshal()
}

// opened returns the session key of the ticket in a request. The client in it must be that of
// clientOf.
func (k *fakeKDC) opened(r messages.TGSReq) (key types.EncryptionKey, err error) {
	var ap messages.APReq
	if err := ap.Unmarshal(r.PAData[0].PADataValue); err != nil {
		return key, err
	}
	key = k.keys[ap.Ticket.EncPart.Cipher[0]]
	b, err := crypto.DecryptEncPart(ap.EncryptedAuthenticator, key, keyusage.TGS_REQ_PA_TGS_REQ_AP_REQ_AUTHENTICATOR)
	if err != nil {
		return key, err
	}
	var a types.Authenticator
	if err := a.Unmarshal(b); err != nil {
		return key, err
	}
	if a.CRealm != testRealm || a.CName.PrincipalNameString() != testService {
		return key, fmt.Errorf("the client %s of %s", a.CName.PrincipalNameString(), a.CRealm)
	}
	return key, nil
}

// requests returns the names that were asked for.
func (k *fakeKDC) requests() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.asked)
}

func refusalOf(code int32, offers ...types.PAData) ([]byte, error) {
	e := messages.NewKRBError(types.PrincipalName{NameString: []string{"krbtgt", testRealm}}, testRealm, code, "")
	var err error
	if e.EData, err = asn1.Marshal(types.PADataSequence(offers)); err != nil {
		return nil, err
	}
	return e.Marshal()
}

func nameFor(text string) types.PrincipalName {
	return types.PrincipalName{NameType: 2, NameString: strings.Split(text, "/")}
}

// TestReplies: a reply that is not what was asked for is an error, in both exchanges.
func TestReplies(t *testing.T) {
	type part = messages.EncKDCRepPart
	type fields = messages.KDCRepFields
	other := nameFor("store/evil")
	for name, c := range map[string]struct {
		edit func(*part, *fields)
		want string // "" if it is good
	}{
		"good":             {func(*part, *fields) {}, ""},
		"nonce":            {func(p *part, _ *fields) { p.Nonce++ }, "for another request"},
		"name":             {func(p *part, r *fields) { p.SName, r.Ticket.SName = other, other }, "store/evil@TEST.EXAMPLE, not "},
		"name outside":     {func(_ *part, r *fields) { r.Ticket.SName = other }, "the ticket is for store/evil"},
		"name inside":      {func(p *part, _ *fields) { p.SName = other }, "store/evil"},
		"no name":          {func(p *part, r *fields) { p.SName, r.Ticket.SName = types.PrincipalName{}, types.PrincipalName{} }, "@TEST.EXAMPLE"},
		"referral outside": {func(_ *part, r *fields) { r.Ticket.SName = nameFor("krbtgt/OTHER") }, "the ticket is for krbtgt/OTHER"},
		"realm":            {func(p *part, _ *fields) { p.SRealm = "EVIL" }, `from the realm "EVIL"`},
		"realm outside":    {func(_ *part, r *fields) { r.Ticket.Realm = "EVIL" }, "@EVIL"},
		"client":           {func(_ *part, r *fields) { r.CName = nameFor("bob") }, "for the client bob@TEST.EXAMPLE"},
		"client's realm":   {func(_ *part, r *fields) { r.CRealm = "EVIL" }, "@EVIL"},
		"expired":          {func(p *part, _ *fields) { p.EndTime = p.EndTime.Add(-5 * time.Hour) }, "the new ticket has expired"},
		"not yet valid":    {func(p *part, _ *fields) { p.StartTime = p.StartTime.Add(30 * time.Minute) }, "the new ticket is valid from"},
		"no start":         {func(p *part, _ *fields) { p.StartTime = time.Time{} }, ""},
		"longer":           {func(p *part, _ *fields) { p.EndTime = p.EndTime.AddDate(9, 0, 0) }, "longer than asked for"},
		"ends too early": {func(p *part, _ *fields) {
			p.StartTime, p.EndTime = p.EndTime.Add(-59*time.Minute), p.EndTime.Add(-59*time.Minute)
		}, "ends before it begins"},
		"a key of RC4": {func(p *part, _ *fields) {
			p.Key = types.EncryptionKey{KeyType: etypeID.RC4_HMAC, KeyValue: make([]byte, 16)}
		}, "RC4 and DES do not work"},
		"a key of no bytes": {func(p *part, _ *fields) { p.Key.KeyValue = nil }, "a key of 0 bytes"},
		"an address":        {func(p *part, _ *fields) { p.CAddr = []types.HostAddress{{AddrType: 2, Address: []byte{9, 9, 9, 9}}} }, ""},
	} {
		for _, msgType := range []int{11, 13} {
			k := &fakeKDC{edit: func(p *part, r *fields, _ messages.KDCReqBody) {
				if r.MsgType == msgType {
					c.edit(p, r)
				}
			}}
			_, err := clientOf(t, k.serve).ticket(t.Context(), "store/h")
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, message type %d: %v", name, msgType, err)
			}
		}
	}
}

// TestPermitted: krb5.conf says which encryption types a client asks for and takes. RC4 is never
// one.
func TestPermitted(t *testing.T) {
	for list, want := range map[string][]int32{
		"": allAES, "aes256-cts arcfour-hmac": {18}, "DEFAULT -aes256-sha2, -rc4": {18, 17, 19}, "aes128-sha2 +aes256-cts-hmac-sha1-96": {19, 18}, "aes": allAES, "rc4": nil,
	} {
		for _, etype := range append(allETypes, etypeID.RC4_HMAC) {
			k := &fakeKDC{etype: etype}
			conf := fmt.Sprintf(testConf, listen(t, k.serve))
			if list != "" {
				conf = strings.Replace(conf, "\n", "\n permitted_enctypes = "+list+"\n", 1)
			}
			c, err := tryConfigured(t, conf)
			if want == nil {
				if err == nil || !strings.Contains(err.Error(), "permitted_enctypes in krb5.conf has no AES") {
					t.Errorf("%s: %v", list, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", list, err)
			}
			if _, err = c.ticket(t.Context(), "store/h"); (err == nil) != slices.Contains(want, etype) {
				t.Errorf("%q, encryption type %d: %v", list, etype, err)
			}
			k.mu.Lock()
			if !slices.Equal(k.types[0], want) {
				t.Errorf("%q: the client asks for %d", list, k.types[0])
			}
			k.mu.Unlock()
		}
	}
}

// TestReferrals: KDCs refer a client to other realms, for the service, and for a realm that
// domain_realm names. They may not do so in circles, or forever.
func TestReferrals(t *testing.T) {
	realms := "[realms]\n"
	for _, r := range []string{"B", "C", "X0", "X1", "X2", "X3", "X4", "X5", "X6", "X7", "X8", "X9"} {
		realms += " " + r + " = {\n  kdc = %[1]s\n }\n"
	}
	for name, c := range map[string]struct {
		refer func(asked string) string // to a realm; "" for the ticket, "?" for an error
		conf  string
		want  string // the last one asked, or the error
	}{
		"none":    {func(string) string { return "" }, "", "store/h.c@TEST.EXAMPLE"},
		"one":     {func(a string) string { return map[string]string{"store/h.c@TEST.EXAMPLE": "B"}[a] }, "", "store/h.c@B"},
		"two":     {func(a string) string { return map[string]string{"store/h.c@TEST.EXAMPLE": "B", "store/h.c@B": "C"}[a] }, "", "store/h.c@C"},
		"direct":  {func(string) string { return "" }, "[domain_realm]\n .c = C\n", "store/h.c@C"},
		"transit": {func(a string) string { return map[string]string{"krbtgt/C@TEST.EXAMPLE": "B"}[a] }, "[domain_realm]\n .c = C\n", "store/h.c@C"},
		"circle": {func(a string) string {
			return map[string]string{"store/h.c@TEST.EXAMPLE": "B", "store/h.c@B": "TEST.EXAMPLE"}[a]
		}, "", `refers to the realm "TEST.EXAMPLE" again`},
		"itself": {func(a string) string { return testRealm }, "", "again"},
		"forever": {func(a string) string {
			_, realm, _ := strings.Cut(a, "@")
			return map[string]string{testRealm: "X0", "X0": "X1", "X1": "X2", "X2": "X3", "X3": "X4", "X4": "X5", "X5": "X6", "X6": "X7", "X7": "X8"}[realm]
		}, "", "after 8 others"},
		"no trust":  {func(a string) string { return "?" }, "[domain_realm]\n .c = C\n", "whether the realms trust each other"},
		"unknown":   {func(a string) string { return "?" }, "", "the KDC does not know the service"},
		"no KDC":    {func(a string) string { return map[string]string{"store/h.c@TEST.EXAMPLE": "NONE"}[a] }, "", "krb5.conf names no KDC for this realm"},
		"for flags": {nil, "", "store/h.c@B"},
	} {
		k := &fakeKDC{edit: func(p *messages.EncKDCRepPart, r *messages.KDCRepFields, asked messages.KDCReqBody) {
			if r.MsgType == 11 {
				return
			}
			to := ""
			switch at := asked.SName.PrincipalNameString() + "@" + asked.Realm; {
			case c.refer != nil:
				to = c.refer(at)
			case asked.Realm == testRealm && types.IsFlagSet(&asked.KDCOptions, flags.Canonicalize):
				to = "B"
			case asked.Realm == testRealm:
				to = "?"
			}
			switch to {
			case "":
			case "?":
				p.Nonce = -1
			default:
				p.SName, r.Ticket.SName = nameFor("krbtgt/"+to), nameFor("krbtgt/"+to)
			}
		}}
		addr := listen(t, k.serve)
		conf := fmt.Sprintf(testConf, addr) + c.conf
		conf = strings.Replace(conf, "[realms]\n", fmt.Sprintf(realms, addr), 1)
		_, err := configured(t, conf).ticket(t.Context(), "store/h.c")
		got := fmt.Sprint(err)
		if err == nil {
			got = k.requests()[len(k.requests())-1]
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, asked %q", name, got, k.requests())
		}
	}
}

// TestFailover: another KDC is asked if one fails.
func TestFailover(t *testing.T) {
	for name, bad := range map[string]func(net.Conn){
		"unavailable": (&fakeKDC{code: errorcode.KDC_ERR_SVC_UNAVAILABLE}).serve,
		"failed":      (&fakeKDC{code: errorcode.KRB_ERR_GENERIC}).serve,
		"garbage": func(conn net.Conn) {
			if receive(conn) == nil {
				conn.Write([]byte("\x00\x00\x00\x02hi"))
			}
		},
		"closes": func(conn net.Conn) { receive(conn) },
	} {
		at := listen(t, bad)
		good := new(fakeKDC)
		both := fmt.Sprintf(testConf, at+"\n  kdc = "+listen(t, good.serve))
		for range 8 { // the order is random
			if _, err := configured(t, both).ticket(t.Context(), "store/h"); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := configured(t, fmt.Sprintf(testConf, at)).ticket(t.Context(), "store/h"); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestOutdated: a ticket that the service refuses is not used again, while the KDC has another.
func TestOutdated(t *testing.T) {
	k := new(fakeKDC)
	c := clientOf(t, k.serve)
	logins := func(n int) {
		for range n {
			client := newClient(c, "store/h", Auth)
			_, response, err := client.Start()
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := newAcceptor().NewServer(Auth, anyone).Next(response); err == nil {
				t.Fatal("the service takes a ticket without a cipher")
			}
		}
	}
	logins(3)
	if asked := k.requests(); len(asked) != 4 { // one for the initial ticket
		t.Errorf("the KDC was asked %q", asked)
	}
	k.mu.Lock()
	k.code = errorcode.KDC_ERR_SVC_UNAVAILABLE
	k.mu.Unlock()
	logins(1) // with the ticket that there is
	c.held["store/h"].doubted.Store(false)
	n := len(k.requests())
	for range 2 { // logins that succeed
		tk, err := c.ticket(t.Context(), "store/h")
		if err != nil {
			t.Fatal(err)
		}
		tk.begin()
		tk.proved()
	}
	if asked := k.requests(); len(asked) != n {
		t.Errorf("the KDC was asked %q", asked[n:])
	}
}

// TestOutdatedHTTP: the same over HTTP, where the status says that a ticket was refused.
func TestOutdatedHTTP(t *testing.T) {
	k := new(fakeKDC)
	c := clientOf(t, k.serve)
	status := http.StatusUnauthorized
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(status) }))
	defer server.Close()
	client := &http.Client{Transport: c.Transport(nil)}
	for i, want := range []int{2, 3, 4, 4, 4} { // with one for the initial ticket
		if i == 2 {
			status = http.StatusOK
		}
		answer, err := client.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if asked := k.requests(); len(asked) != want {
			t.Errorf("request %d: the KDC was asked %q", i, asked)
		}
	}
}

// TestKeyOf: of a keytab's keys of the same second, that with the highest version counts.
func TestKeyOf(t *testing.T) {
	keys, now := keytab.New(), time.Now()
	for _, version := range []uint8{2, 3, 1} {
		if err := keys.AddEntry("ada", testRealm, fmt.Sprint("secret ", version), now, version, etypeID.AES128_CTS_HMAC_SHA1_96); err != nil {
			t.Fatal(err)
		}
	}
	for asked, want := range map[int]int{0: 3, 1: 1, 2: 2, 3: 3, 4: 0} {
		if key, got, ok := keyOf(keys, nameFor("ada"), testRealm, asked, etypeID.AES128_CTS_HMAC_SHA1_96); got != want || ok != (want > 0) || ok && len(key.KeyValue) != 16 {
			t.Error(asked, got, ok)
		}
	}
	if _, _, ok := keyOf(keys, nameFor("ada/x"), testRealm, 0, etypeID.AES128_CTS_HMAC_SHA1_96); ok {
		t.Error("the key of another principal")
	}
}
