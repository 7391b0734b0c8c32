package main

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/gateway"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// A site is a gateway with a page about its methods. The IDL may change.
type site struct {
	*gateway.Gateway
	methods atomic.Pointer[[]byte] // the JSON of the routes for the page
	refused atomic.Pointer[error]  // why the IDL is not used that is on disk, nil if it is
}

// newSite returns a site for these servers, by the names of services.
func newSite(backends map[string]rpc.Caller, timeout time.Duration) *site {
	s := &site{Gateway: gateway.New(nil, backends)}
	s.Timeout = timeout
	s.methods.Store(&[]byte{'[', ']'})
	return s
}

// use makes the gateway answer requests as the IDL files say, by their names. After an error it
// goes on as before.
func (s *site) use(texts map[string]string) error {
	err := s.load(texts)
	if err != nil {
		s.refused.Store(&err)
		return err
	}
	s.refused.Store(nil)
	return nil
}

func (s *site) load(texts map[string]string) error {
	schema, err := dynamic.LoadText(texts)
	if err != nil {
		return err
	}
	if err := s.Use(schema); err != nil {
		return err
	}
	if left := s.LeftOut(); left != nil {
		slog.Warn("parts of the IDL are not offered", "reasons", left)
	}
	infos := []methodInfo{}
	for _, r := range s.Routes() {
		infos = append(infos, infoOf(r))
	}
	methods, err := json.Marshal(infos)
	if err == nil {
		s.methods.Store(&methods)
	}
	return err
}

// ServeHTTP answers requests for the page itself, and hands on all others.
func (s *site) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	isGet := req.Method == http.MethodGet || req.Method == http.MethodHead
	switch name := pages[req.URL.Path]; {
	case isGet && name != "":
		servePage(w, req, name)
	case isGet && req.URL.Path == "/_gateway/methods":
		s.listMethods(w)
	default:
		s.Gateway.ServeHTTP(w, req)
	}
}
