package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/nocopythrift/nocopythrift/examples/kv"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// A router has a service beside other pages. A client calls it over HTTP.
func ExampleHTTPHandler() {
	mux := http.NewServeMux()
	mux.Handle("/kv", rpc.HTTPHandler(kv.NewKeyValueProcessor(new(store)), func(s *rpc.Server) {
		s.MaxFrame = 1 << 20
	}))
	site := httptest.NewServer(mux)
	defer site.Close()

	caller, err := rpc.DialHTTP(site.URL + "/kv")
	if err != nil {
		fmt.Println(err)
		return
	}
	c := kv.NewKeyValueClient(caller)
	_, err = c.Create(context.Background(), func(args kv.KeyValueCreateArgs) { args.SetKey([]byte("key")) })
	fmt.Println(err)
	// Output: <nil>
}

// An http.Client adds a token to each request. A server that wants another one refuses the call.
func ExampleDialHTTP() {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "unknown token", http.StatusUnauthorized)
	}))
	defer site.Close()

	withToken := &http.Client{Transport: token("secret")}
	caller, err := rpc.DialHTTP(site.URL, rpc.HTTPClient(withToken))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = kv.NewKeyValueClient(caller).Create(context.Background(), nil)
	var status *rpc.HTTPError
	if errors.As(err, &status) {
		fmt.Println(status.Status, status.Text)
	}
	// Output: 401 unknown token
}

type token string

func (t token) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(t))
	return http.DefaultTransport.RoundTrip(r)
}
