package socket

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"net"
	"testing"
	"time"
)

// overTLS returns both ends of a connection with TLS, of which the client's counts, and what is
// beneath the server's. Several connections may use the same port.
func overTLS(t *testing.T, version, suite uint16) (client, server *tls.Conn, beneath *net.TCPConn) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), crand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(crand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	shaken := make(chan error, 1)
	go func() {
		nc, err := l.Accept()
		if err == nil {
			beneath = nc.(*net.TCPConn)
			server = tls.Server(nc, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, SessionTicketsDisabled: true})
			err = server.Handshake()
		}
		shaken <- err
	}()
	nc, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	conf := &tls.Config{InsecureSkipVerify: true, MinVersion: version, MaxVersion: version}
	if suite != 0 {
		conf.CipherSuites = []uint16{suite}
	}
	client = tls.Client(Count(nc, conf), conf)
	if err := client.Handshake(); err != nil {
		t.Fatal(err)
	}
	if err := <-shaken; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return client, server, beneath
}

// TestCountedRecords: records are counted exactly in all ways to encrypt that have records of a
// fixed overhead, and as far as that is known in others.
func TestCountedRecords(t *testing.T) {
	if !KnowsUnread {
		t.Skip("this build does not know what has arrived")
	}
	for _, c := range []struct {
		version, suite uint16
		exact          bool
	}{
		{tls.VersionTLS13, 0, true},
		{tls.VersionTLS12, tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, true},
		{tls.VersionTLS12, tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, true},
		{tls.VersionTLS12, tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, true},
		{tls.VersionTLS12, tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, false},
	} {
		t.Run(fmt.Sprint(tls.VersionName(c.version), " ", tls.CipherSuiteName(c.suite)), func(t *testing.T) {
			client, server, _ := overTLS(t, c.version, c.suite)
			go io.Copy(io.Discard, server)
			client.Write([]byte("a login"))
			Begin(client)
			counted := countedBeneath(client)
			if (counted.overhead > 0) != c.exact {
				t.Fatalf("the overhead is %d", counted.overhead)
			}
			r, n := rand.New(rand.NewPCG(1, 2)), int64(0)
			for range 300 {
				b := make([]byte, 1+r.IntN(1<<r.IntN(18)))
				if _, err := client.Write(b); err != nil {
					t.Fatal(err)
				}
				n += int64(len(b))
				if c.exact && counted.plain != n {
					t.Fatalf("%d bytes are counted of %d", counted.plain, n)
				}
				Wrote(client, n)
				if k := len(counted.marks); k > mostMarks || counted.agreed != k {
					t.Fatalf("%d marks, %d agreed", k, counted.agreed)
				}
				if got := counted.reached(counted.written, n); got != n {
					t.Fatalf("%d bytes have arrived of %d", got, n)
				}
			}
		})
	}
}

// TestCountedMarks: what has arrived is never taken for less than it may be, whatever is known of
// the records, and exactly for it if all is known.
func TestCountedMarks(t *testing.T) {
	type record struct{ tls, plain int64 } // where they end
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 2000 {
		c := &Counted{TCPConn: new(net.TCPConn), overhead: 22, written: 500}
		unknown, foreign, many := r.IntN(4) == 0, r.IntN(4) == 0, r.IntN(50) == 0
		if unknown {
			c.overhead = 0
		}
		c.marks, c.agreed = []mark{{tls: c.written}}, 1
		records, plain, exact := []record{{500, 0}}, int64(0), !unknown
		writes := 1 + r.IntN(10)
		if many {
			writes, exact = 900, false // not all marks are kept: no byte is known to have arrived
		}
		given := int64(0)
		for k := range writes {
			for range 1 + r.IntN(4) {
				n := int64(1 + r.IntN(100))
				if foreign && r.IntN(3) == 0 {
					c.note(27) // new keys
					records, exact = append(records, record{c.written, plain}), false
				}
				c.note(int(n) + 22)
				plain += n
				records = append(records, record{c.written, plain})
			}
			given = plain
			if k < writes-1 || r.IntN(2) == 0 { // else the last write goes on
				c.wrote(plain)
			}
		}
		for range 20 {
			acked := 400 + r.Int64N(c.written-400+1)
			arrived := int64(0)
			for _, x := range records {
				if x.tls <= acked {
					arrived = x.plain
				}
			}
			if got := c.reached(acked, given); got < arrived || exact && got != arrived || got > given {
				t.Fatalf("round %d: of %d acknowledged bytes: %d instead of %d of %d; %+v", round, acked, got, arrived, given, c)
			}
		}
		if len(c.marks) > mostMarks {
			t.Fatalf("%d marks", len(c.marks))
		}
	}
}

// TestReachedOverTLS: a client knows which of its writes the other end had received when that
// closed a connection that it had sealed.
func TestReachedOverTLS(t *testing.T) {
	if !KnowsUnread {
		t.Skip("this build does not know what has arrived")
	}
	for _, suite := range []uint16{0, tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA} {
		version := uint16(tls.VersionTLS13)
		if suite != 0 {
			version = tls.VersionTLS12
		}
		client, server, beneath := overTLS(t, version, suite)
		before := Begin(client)
		n := int64(0)
		write := func(size int) {
			if _, err := client.Write(make([]byte, size)); err != nil {
				t.Fatal(err)
			}
			n += int64(size)
			Wrote(client, n)
		}
		write(100)
		write(40_000)
		if _, err := io.ReadFull(server, make([]byte, n)); err != nil {
			t.Fatal(err)
		}
		arrived := n
		if !Seal(beneath) {
			t.Fatal("it is not sealed")
		}
		write(100)
		write(50_000)
		write(1)
		server.Close()
		_, err := client.Read(make([]byte, 1))
		if got := Reached(client, n, before, err, nil); err != io.EOF || got != arrived {
			t.Errorf("%s: %d bytes instead of %d have arrived of %d; %v", tls.CipherSuiteName(suite), got, arrived, n, err)
		}
	}
}
