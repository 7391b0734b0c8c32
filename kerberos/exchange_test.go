package kerberos

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/patype"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// clientOf returns credentials whose KDC gets a connection for each request.
func clientOf(t *testing.T, serve func(net.Conn)) *Credentials {
	t.Helper()
	return configured(t, fmt.Sprintf(testConf, listen(t, serve)))
}

// testConf is a krb5.conf with one KDC.
const testConf = "[libdefaults]\n default_realm = " + testRealm + "\n dns_lookup_kdc = false\n udp_preference_limit = 1\n[realms]\n " + testRealm + " = {\n  kdc = %s\n }\n"

// listen returns the address of a KDC.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				serve(conn)
			}()
		}
	}()
	return l.Addr().String()
}

// configured returns credentials with a krb5.conf.
func configured(t *testing.T, conf string) *Credentials {
	t.Helper()
	c, err := tryConfigured(t, conf)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func tryConfigured(t *testing.T, conf string) (*Credentials, error) {
	t.Helper()
	dir := t.TempDir()
	keys, err := serviceKeys().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"krb5.conf": conf, "keys": string(keys)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("KRB5_CONFIG", filepath.Join(dir, "krb5.conf"))
	return FromKeytab(filepath.Join(dir, "keys"), testService)
}

// TestDNS: a DNS server that does not answer makes nobody wait longer than a context says.
func TestDNS(t *testing.T) {
	c := configured(t, "[libdefaults]\n default_realm = "+testRealm+"\n dns_lookup_kdc = true\n")
	ctx, cancel := context.WithCancel(t.Context())
	before := net.DefaultResolver
	defer func() { net.DefaultResolver = before }()
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	_, err := c.ticket(ctx, "store/h")
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "DNS has no SRV record") || !strings.Contains(err.Error(), testRealm) {
		t.Error(err)
	}
}

// receive reads a request of a client.
func receive(conn net.Conn) error {
	var size [4]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return err
	}
	_, err := io.CopyN(io.Discard, conn, int64(binary.BigEndian.Uint32(size[:])))
	return err
}

// TestHostileKDC: answers of any length and contents are an error.
func TestHostileKDC(t *testing.T) {
	refusal := func(offer ...types.PAData) []byte {
		b, err := refusalOf(errorcode.KDC_ERR_PREAUTH_REQUIRED, offer...)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	reply := messages.ASRep{}
	reply.PVNO, reply.MsgType, reply.CRealm = 5, 11, testRealm
	reply.CName = types.PrincipalName{NameString: strings.Split(testService, "/")}
	reply.EncPart = types.EncryptedData{EType: allETypes[0], KVNO: 1} // without a cipher
	reply.Ticket = messages.Ticket{TktVNO: 5, Realm: testRealm, SName: reply.CName}
	empty, err := reply.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	framed := func(b []byte) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...) }
	for name, c := range map[string]struct {
		answer []byte
		want   string
	}{
		"4 GB":              {[]byte{255, 255, 255, 255}, "an answer of 4294967295 bytes, more than 1048576"},
		"a byte too much":   {binary.BigEndian.AppendUint32(nil, maxAnswer+1), "an answer of 1048577 bytes"},
		"cut":               {[]byte{0, 0, 1, 0, 1}, "no KDC answers"},
		"nothing":           {nil, "no KDC answers"},
		"empty":             {framed(nil), "what answers is no KDC"},
		"no ASN.1":          {framed([]byte("HTTP/1.1 400 Bad Request")), "what answers is no KDC"},
		"no offers":         {framed(refusal()), "no AES key that the KDC takes"},
		"an empty offer":    {framed(refusal(types.PAData{PADataType: patype.PA_ETYPE_INFO2, PADataValue: []byte{0x30, 0}})), "no AES key that the KDC takes"},
		"a malformed offer": {framed(refusal(types.PAData{PADataType: patype.PA_ETYPE_INFO2})), "what answers is no KDC"},
		"no cipher":         {framed(empty), "what answers is no KDC"},
	} {
		client := clientOf(t, func(conn net.Conn) {
			if receive(conn) == nil {
				conn.Write(c.answer)
			}
		})
		if _, err := client.ticket(t.Context(), "store/h"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSilentKDC: a client does not wait for a KDC longer than its context lasts, or that of Dial.
func TestSilentKDC(t *testing.T) {
	asked := make(chan struct{})
	c := clientOf(t, func(conn net.Conn) {
		receive(conn)
		asked <- struct{}{}
		io.Copy(io.Discard, conn) // until the client has gone
	})
	within := func() context.Context { // until the KDC is asked
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-asked
			cancel()
		}()
		return ctx
	}
	if _, err := c.ticket(within(), "store/h"); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "no KDC answers") {
		t.Error(err)
	}
	addr, _ := serve(t, newAcceptor(), Auth)
	_, err := rpc.Dial(within(), "tcp", addr, rpc.SASL(NewClient(c, "store", "h", Auth)))
	if !errors.Is(err, rpc.ErrLogin) || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "login by SASL: kerberos: no KDC answers") {
		t.Error(err)
	}
}
