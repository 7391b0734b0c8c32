package interop_test

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"github.com/nocopythrift/nocopythrift/interop"
)

// apacheKeys returns the folder of the keys that Apache's test programs use.
func apacheKeys(t *testing.T) string {
	t.Helper()
	return filepath.Join(apacheModule(t), "test", "keys")
}

// tlsSocket is Apache's TSSLServerSocket without its data race between Accept and Interrupt.
type tlsSocket struct{ net.Listener }

func (s tlsSocket) Listen() error    { return nil }
func (s tlsSocket) Interrupt() error { return s.Close() }

func (s tlsSocket) Accept() (thrift.TTransport, error) {
	conn, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return thrift.NewTSSLSocketFromConnConf(conn, nil), nil
}

func TestOurClientAgainstApacheTLS(t *testing.T) {
	t.Parallel()
	keys := apacheKeys(t)
	cert, err := tls.LoadX509KeyPair(filepath.Join(keys, "server.crt"), filepath.Join(keys, "server.key"))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}})
	if err != nil {
		t.Fatal(err)
	}
	port := serveApache(t, tlsSocket{listener}, "framed", "multi", apacheHandler{})
	code, out := runOurs(t, "--host=127.0.0.1", "--port="+port, "--transport=framed", "--protocol=multi", "--ssl", "--certPath="+keys)
	if code != 0 {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	if code, out := runOurs(t, "--host=127.0.0.1", "--port="+port, "--ssl", "--certPath="+t.TempDir()); code != interop.FailedToPrepare {
		t.Errorf("exit code %d without keys: %s", code, out)
	}
}

func TestApacheAgainstOurServerTLS(t *testing.T) {
	t.Parallel()
	keys := apacheKeys(t)
	pem, err := os.ReadFile(filepath.Join(keys, "server.crt"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	s := startOurs(t, "buffered", "multi", "--ssl", "--certPath="+keys)
	socket := thrift.NewTSSLSocketConf(net.JoinHostPort("localhost", s.port), &thrift.TConfiguration{
		ConnectTimeout: 10 * time.Second,
		SocketTimeout:  2 * time.Minute,
		TLSConfig:      &tls.Config{RootCAs: roots},
	})
	openApache(t, socket, "buffered", "multi").callEverything()

	// A client without TLS gets no answer, does no harm, and does not have to wait.
	code, out := runOurs(t, "--host=127.0.0.1", "--port="+s.port)
	if code&interop.FailedToPrepare == 0 || !strings.Contains(out, "FAILURE") {
		t.Errorf("exit code %d without TLS: %s", code, out)
	}
	code, out = runOurs(t, "--port="+s.port, "--protocol=multi", "--ssl", "--certPath="+keys)
	if code != 0 {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}
