package rpc_test

import (
	"bytes"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/rpc/echo"
)

// TestHTTPUnknownAndMore: a call of an unknown method, with bytes after it, is answered, and its
// memory is given back once.
func TestHTTPUnknownAndMore(t *testing.T) {
	for _, recycle := range []bool{false, true} {
		srv := &rpc.Server{Processor: echo.NewEchoProcessor(&handler{}), Recycle: recycle, Logger: new(quiet).logger()}
		for _, b := range [][]byte{
			append(compactly(call, "nope", 1, []byte{0}), 0),
			append(strict(call, "nope", 1, []byte{0}), 0),
			append(compactly(call, "add", 1, []byte{0}), 0),
			append(strict(call, "add", 1, []byte{0}), 0),
		} {
			r := httptest.NewRequest("POST", "/", bytes.NewReader(b))
			r.Header.Set("Content-Type", "application/x-thrift")
			w := httptest.NewRecorder()
			srv.ServeHTTP(w, r)
			if got := w.Body.String(); w.Code != 200 || !strings.Contains(got, "nope") && !strings.Contains(got, "bytes after the end") {
				t.Errorf("%q: %d, %q", b, w.Code, got)
			}
		}
	}
}
