package hive

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/nocopythrift/nocopythrift/hive/internal/tcli"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// rowsFrom is a FROM clause that has numbers below n in pos, for Hive and Spark.
func rowsFrom(n int) string {
	return fmt.Sprintf(" FROM (SELECT 1 AS one) t LATERAL VIEW posexplode(split(space(%d), ' ')) e AS pos, x", n-1)
}

// recorded are the statements in testdata.
var recorded = map[string]string{
	"types": "SELECT pos AS i, pos % 2 = 0 AS b, CAST(pos - 10 AS TINYINT) AS t, CAST(pos * 1000 AS SMALLINT) AS s, pos * 10000000000 AS l, " +
		"CAST(pos / 8.0 AS FLOAT) AS f, pos / 7.0D AS d, CAST(pos / 4.0 AS DECIMAL(10,2)) AS n, " +
		"CAST(concat('2026-02-', lpad(CAST(pos + 1 AS STRING), 2, '0')) AS DATE) AS day, " +
		"CAST(concat('2026-11-26 10:20:30.', CAST(pos AS STRING)) AS TIMESTAMP) AS at, concat('text ü ', CAST(pos AS STRING)) AS text, " +
		"CAST(concat('v', CAST(pos AS STRING)) AS VARCHAR(10)) AS v, CAST('c' AS CHAR(3)) AS c, CAST(concat('bin', CAST(pos AS STRING)) AS BINARY) AS raw, " +
		"array(pos, pos + 1) AS a, map('k', pos) AS m, named_struct('a', pos, 'b', 'x') AS st" + rowsFrom(20),
	"nulls": "SELECT IF(pos % 5 = 0, NULL, pos) AS i, IF(pos % 3 = 0, NULL, pos % 2 = 0) AS b, IF(pos % 7 < 3, NULL, CAST(pos AS TINYINT)) AS t, " +
		"IF(pos % 7 = 0, NULL, CAST(pos AS SMALLINT)) AS s, IF(pos < 40, NULL, pos * 10000000000) AS l, IF(pos % 2 = 0, NULL, pos / 7.0D) AS d, " +
		"IF(pos % 11 = 0, NULL, CAST(pos / 4.0 AS DECIMAL(20,6))) AS n, IF(pos % 4 = 0, NULL, CAST('2026-02-03' AS DATE)) AS day, " +
		"IF(pos % 4 = 1, NULL, CAST('2026-11-26 10:20:30' AS TIMESTAMP)) AS at, IF(pos >= 8, NULL, concat('text ', CAST(pos AS STRING))) AS text, " +
		"IF(pos % 2 = 0, NULL, CAST('bin' AS BINARY)) AS raw, IF(pos = 0, NULL, array(pos)) AS a" + rowsFrom(77),
	"many":    "SELECT pos AS i, concat('row ', CAST(pos AS STRING)) AS text, IF(pos % 3 = 0, NULL, pos / 3.0D) AS d" + rowsFrom(4000),
	"empty":   "SELECT pos AS i, 'x' AS text" + rowsFrom(1) + " WHERE pos < 0",
	"strings": `SELECT 'it\'s "quoted"' AS a, 'back\\slash' AS b, 'line\nfeed\ttab' AS c, '' AS d, '日本語 🐝' AS e, CAST(NULL AS STRING) AS f`,
	"edges": "SELECT CAST('NaN' AS DOUBLE) AS nan, CAST('Infinity' AS DOUBLE) AS inf, CAST('-9223372036854775808' AS BIGINT) AS least, 9223372036854775807 AS most, " +
		"CAST('-99999999999999999999999999999999999999' AS DECIMAL(38,0)) AS low, CAST('0.00000000000000000000000000000000000001' AS DECIMAL(38,38)) AS tiny, " +
		"CAST('0001-01-01' AS DATE) AS first, CAST('9999-12-31 23:59:59.999999' AS TIMESTAMP) AS last, CAST(-0.0D AS DOUBLE) AS zero",
}

// recorder writes the replies of a real server.
type recorder struct {
	rpc.Caller
	dir     string
	fetches int
}

func (r *recorder) Call(ctx context.Context, m *rpc.Method, args nocopy.Struct) (nocopy.Struct, error) {
	result, err := r.Caller.Call(ctx, m, args)
	if err != nil {
		return result, err
	}
	switch m.Name {
	case "GetResultSetMetadata":
		err = os.WriteFile(filepath.Join(r.dir, "schema.thrift"), tcli.TCLIServiceGetResultSetMetadataResult(result).GetSuccess().AppendTo(nil), 0o666)
	case "FetchResults":
		name := filepath.Join(r.dir, fmt.Sprintf("fetch-%d.thrift", r.fetches))
		err = os.WriteFile(name, tcli.TCLIServiceFetchResultsResult(result).GetSuccess().AppendTo(nil), 0o666)
		r.fetches++
	}
	return result, err
}

// TestRecord writes testdata anew from the server of ./spark.sh or ./hive.sh, if
// NOCOPY_HIVE_RECORD is set to the Python that has PyHive, which writes what the values must be.
func TestRecord(t *testing.T) {
	python := os.Getenv("NOCOPY_HIVE_RECORD")
	if python == "" {
		t.Skip("SKIPPED: NOCOPY_HIVE_RECORD=PYTHON records from a real server")
	}
	cfg, err := ParseDSN(os.Getenv("NOCOPY_HIVE_DSN"))
	if err != nil {
		t.Fatal(err)
	}
	for name, sql := range recorded {
		dir := filepath.Join("testdata", os.Getenv("NOCOPY_HIVE_SERVER"), name)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "statement.sql"), []byte(sql+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		c, err := Connect(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		c.client = tcli.NewTCLIServiceClient(&recorder{Caller: c.caller, dir: dir})
		r, err := c.Query(t.Context(), sql)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for r.Next() {
		}
		if r.Err() != nil || r.Close() != nil || c.Close() != nil {
			t.Error(r.Err())
		}
		want, err := judge(python, cfg, sql)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "values.json"), want, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// judge returns what PyHive reads, as lines of JSON.
func judge(python string, cfg Config, sql string) ([]byte, error) {
	host, port, _ := bytes.Cut([]byte(cfg.Addr), []byte(":"))
	auth := "NONE"
	if cfg.NoSASL {
		auth = "NOSASL"
	}
	cmd := exec.Command(python, "-B", "testdata/judge.py", string(host), string(port), auth)
	cmd.Stdin = bytes.NewBufferString(sql + "\n")
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, problem.Bytes())
	}
	return bytes.TrimSuffix(out, []byte("\n")), nil
}
