package hive

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// named is a Kerberos whose error names what it is asked for.
type named struct{}

func (named) SASL(_ context.Context, service, host, qop string) (rpc.SASLClient, error) {
	return nil, errors.New(service + " " + host + " " + qop)
}

func (named) Authorize(*http.Request) error { return nil }

// TestKerberosService: a data source name can say another host than the address's.
func TestKerberosService(t *testing.T) {
	RegisterKerberos(named{})
	defer registered.Store(nil)
	for dsn, want := range map[string]string{
		"h?auth=KERBEROS": "hive h auth",
		"h?auth=KERBEROS&service=impala&saslQop=auth-int": "impala h auth-int",
		"h?auth=KERBEROS&service=hive/node1":              "hive node1 auth",
	} {
		c, err := ParseDSN(dsn)
		if err != nil {
			t.Fatal(dsn, err)
		}
		if _, err := c.SASL(t.Context(), "h"); err.Error() != want {
			t.Errorf("%s: %v, want %s", dsn, err, want)
		}
	}
}
