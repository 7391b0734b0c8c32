package rpc_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// The body of a 101 is the connection. Reading it would wait for the server forever.
func TestHTTPSwitchingProtocols(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Upgrade", "other")
		w.Header().Set("Connection", "Upgrade")
		w.WriteHeader(http.StatusSwitchingProtocols)
		nc, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			t.Cleanup(func() { nc.Close() })
		}
	}))
	t.Cleanup(s.Close)
	c, err := rpc.DialHTTP(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	_, err = echo.NewEchoClient(c).Echo(t.Context(), func(echo.EchoEchoArgs) {})
	if e, ok := errors.AsType[*rpc.HTTPError](err); !ok || e.Status != http.StatusSwitchingProtocols {
		t.Errorf("the error is %v", err)
	}
}
