package hivekerberos_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/hive"
	_ "github.com/nocopythrift/nocopythrift/kerberos/hivekerberos"
)

// TestDSN: with this package, data source names ask for Kerberos; tickets are looked for when a
// connection is made.
func TestDSN(t *testing.T) {
	t.Setenv("KRB5_CLIENT_KTNAME", "")
	t.Setenv("KRB5CCNAME", filepath.Join(t.TempDir(), "none"))
	t.Setenv("KRB5_CONFIG", "/dev/null")
	c, err := hive.ParseDSN("hive://h/db?auth=KERBEROS&service=impala&saslQop=auth-int")
	if err != nil || c.SASL == nil || c.Authorize != nil {
		t.Fatal(c, err)
	}
	if _, err := c.SASL(t.Context(), "h"); err == nil || !strings.Contains(err.Error(), "run kinit") {
		t.Error(err)
	}
	if c, err = hive.ParseDSN("hive://h/db?auth=kerberos&transport=http"); err != nil || c.SASL != nil || c.Authorize == nil {
		t.Fatal(c, err)
	}
	r, err := http.NewRequest("POST", "http://h/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Authorize(r); err == nil || !strings.Contains(err.Error(), "run kinit") {
		t.Error(err)
	}
	for dsn, want := range map[string]string{
		"h?auth=KERBEROS&saslQop=best":                          "neither auth, auth-int nor auth-conf",
		"h?auth=KERBEROS&token=t&transport=http":                "only one login",
		"h?auth=KERBEROS&service=x&transport=http":              "there the service is HTTP",
		"h?auth=PLAIN&service=x":                                "for auth=KERBEROS",
		"jdbc:hive2://h/d;principal=impala/_HOST@X":             "write hive://h/d?auth=KERBEROS&service=impala",
		"jdbc:hive2://h/d;principal=hive/h@X;saslQop=auth-conf": "write hive://h/d?auth=KERBEROS&saslQop=auth-conf",
	} {
		if _, err := hive.ParseDSN(dsn); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", dsn, err)
		}
	}
}
