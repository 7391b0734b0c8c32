// Package hivekerberos lets data source names of package hive ask for a login by Kerberos:
//
//	import _ "github.com/nocopythrift/nocopythrift/kerberos/hivekerberos"
//
//	db, err := sql.Open("hive", "hive://hive.example.com/sales?auth=KERBEROS&service=hive")
//
// The client is the one of kerberos.FromEnvironment: of the keytab that KRB5_CLIENT_KTNAME names,
// or of the tickets that kinit got. The files are read when the first connection is made.
package hivekerberos

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/nocopythrift/nocopythrift/hive"
	"github.com/nocopythrift/nocopythrift/kerberos"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

func init() { hive.RegisterKerberos(new(environment)) }

// environment is the login of a data source name. Credentials that can't be read are tried again.
type environment struct {
	mu          sync.Mutex
	credentials *kerberos.Credentials
}

func (e *environment) get() (*kerberos.Credentials, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.credentials == nil {
		c, err := kerberos.FromEnvironment()
		if err != nil {
			return nil, err
		}
		e.credentials = c
	}
	return e.credentials, nil
}

func (e *environment) SASL(_ context.Context, service, host, qop string) (rpc.SASLClient, error) {
	c, err := e.get()
	if err != nil {
		return nil, err
	}
	for _, q := range []kerberos.QOP{kerberos.Auth, kerberos.AuthInt, kerberos.AuthConf} {
		if q.String() == qop {
			return kerberos.NewClient(c, service, host, q), nil
		}
	}
	return nil, fmt.Errorf("kerberos: no such QOP as %q", qop)
}

func (e *environment) Authorize(r *http.Request) error {
	c, err := e.get()
	if err != nil {
		return err
	}
	return c.Authorize(r)
}
