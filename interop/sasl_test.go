// Logins by SASL, against Apache's libraries for Python and Java and thrift_sasl, the one of
// Impala's and Hive's clients for Python.

package interop_test

import (
	"context"
	"crypto/hmac"
	"crypto/md5"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-sasl"

	"github.com/nocopythrift/nocopythrift/interop"
	"github.com/nocopythrift/nocopythrift/interop/thrifttest"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// serveSASL starts a server of ours that lets ada log in with PLAIN, and returns its port.
func serveSASL(t *testing.T) string {
	h := &interop.Handler{Out: io.Discard}
	return serveDynamic(t, &rpc.Server{
		Processor: rpc.Multiplexed(map[string]*rpc.Processor{
			"":                 thrifttest.NewThriftTestProcessor(h),
			interop.FirstName:  thrifttest.NewThriftTestProcessor(h),
			interop.SecondName: thrifttest.NewSecondServiceProcessor(h),
		}),
		Logger: slog.New(slog.DiscardHandler),
		SASL: func(_ context.Context, mechanism string) rpc.SASLServer {
			if mechanism != sasl.Plain {
				return nil
			}
			return sasl.NewPlainServer(func(_, name, password string) error {
				if name != "ada" || password != "secret" {
					return errors.New("wrong name or password")
				}
				return nil
			})
		},
	})
}

// saslLogins are the ways in which clients of other libraries log in, and whether they may.
var saslLogins = []struct {
	name string
	args []string
	ok   bool
}{
	{"PLAIN", nil, true},
	{"PLAIN multiplexed compact", []string{"--protocol=multic"}, true},
	{"wrong password", []string{"--password=wrong"}, false},
	{"unknown mechanism", []string{"--mechanism=CRAM-MD5"}, false},
}

// loginsTo runs another library's client against our server in all these ways.
func loginsTo(t *testing.T, program string, args ...string) {
	t.Helper()
	port := serveSASL(t)
	for _, login := range saslLogins {
		all := append(append([]string{}, args...), "--host=127.0.0.1", "--port="+port, "--transport=sasl")
		code, out := runProgram(t, program, append(all, login.args...)...)
		switch {
		case login.ok && (code != 0 || strings.Contains(out, "FAILURE")):
			t.Errorf("%s: exit code %d:\n%.2000s", login.name, code, out)
		case !login.ok && (code != interop.FailedToPrepare || !strings.Contains(out, "Connect failed")):
			t.Errorf("%s: exit code %d, not a refused login:\n%.2000s", login.name, code, out)
		}
	}
}

func TestPythonLogsIn(t *testing.T) {
	t.Parallel()
	withPython(t, func(t *testing.T, python, transport, protocol string) {
		if transport != "framed" || protocol != "binary" {
			return
		}
		for _, library := range []string{"thrift", "thrift_sasl"} {
			loginsTo(t, python, "-B", "python/client.py", "--client="+library)
		}
	})
}

// TestJavaSASL: TSaslClientTransport against our server, and our client against
// TSaslServerTransport, with a mechanism that begins with the server's challenge, too.
func TestJavaSASL(t *testing.T) {
	dir := peer{folder: "java"}.build(t)
	loginsTo(t, filepath.Join(dir, "client"))

	for _, protocol := range []string{"binary", "multic"} {
		s := start(t, exec.Command(filepath.Join(dir, "server"), "--port=0", "--transport=sasl", "--protocol="+protocol))
		for _, login := range []struct {
			name      string
			mechanism rpc.SASLClient
			refused   string
		}{
			{"PLAIN", sasl.NewPlainClient("", "ada", "secret"), ""},
			{"CRAM-MD5", &cramMD5{"ada", "secret"}, ""},
			{"wrong password", sasl.NewPlainClient("", "ada", "wrong"), "wrong name or password"},
			{"CRAM-MD5, wrong password", &cramMD5{"ada", "wrong"}, "Invalid response"},
			{"unknown mechanism", sasl.NewAnonymousClient("x"), "Unsupported mechanism type ANONYMOUS"},
		} {
			c, err := interop.Dial(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", s.port), "framed", protocol, rpc.SASL(login.mechanism))
			if login.refused != "" {
				if !errors.Is(err, rpc.ErrLogin) || !strings.Contains(err.Error(), login.refused) {
					t.Errorf("%s: %v", login.name, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", login.name, err)
				continue
			}
			var out strings.Builder
			if code := interop.Run(t.Context(), c, interop.Multiplexed(protocol), time.Minute, &out); code != 0 {
				t.Errorf("%s, %s: exit code %d:\n%.2000s", login.name, protocol, code, out.String())
			}
			c.Close()
		}
		s.stop()
	}
}

// cramMD5 is the client's side of a mechanism that begins with the server's challenge.
type cramMD5 struct{ user, password string }

func (*cramMD5) Start() (string, []byte, error) { return "CRAM-MD5", nil, nil }

func (c *cramMD5) Next(challenge []byte) ([]byte, error) {
	sum := hmac.New(md5.New, []byte(c.password))
	sum.Write(challenge)
	return fmt.Appendf(nil, "%s %x", c.user, sum.Sum(nil)), nil
}
