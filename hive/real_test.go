package hive_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/hive"
)

// realServer returns the address of the server that ./spark.sh or ./hive.sh has started.
func realServer(t *testing.T) string {
	t.Helper()
	dsn := os.Getenv("NOCOPY_HIVE_DSN")
	if dsn == "" {
		t.Skip("SKIPPED: no real server; ./spark.sh go test . runs beside Spark, ./hive.sh go test . beside Hive")
	}
	return dsn
}

// TestRealArguments: a real server reads arguments as the values that they are.
func TestRealArguments(t *testing.T) {
	db, err := sql.Open("hive", realServer(t))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "plain", "it's", `back\slash`, `\`, `\\'`, "line\nfeed\r\ttab", "${system:user.home} ${hiveconf:x} ${env:HOME}", `100% _ \% \_`,
		"日本語 🐝", "\x00 zero", "\x1a", "? -- /* */ ;", `"double" and ` + "`back`", `\u0041 \101`, "a\\nb", "$", "{$}"} {
		var got string
		if err := db.QueryRowContext(t.Context(), "SELECT ? AS x", text).Scan(&got); err != nil || got != text {
			t.Errorf("%q: %q %v", text, got, err)
		}
	}
	for _, n := range []int64{0, 1, -1, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64} {
		var got int64
		if err := db.QueryRowContext(t.Context(), "SELECT ? AS x", n).Scan(&got); err != nil || got != n {
			t.Error(n, got, err)
		}
		if n != 0 {
			continue
		}
		if err := db.QueryRowContext(t.Context(), "SELECT 1-? AS x", -1).Scan(&got); err != nil || got != 2 {
			t.Error(got, err)
		}
	}
	for _, f := range []float64{0, 1.5, -1e300, 5e-324, math.MaxFloat64, math.Inf(1), math.Inf(-1), 1.0 / 3} {
		var got float64
		if err := db.QueryRowContext(t.Context(), "SELECT ? AS x", f).Scan(&got); err != nil || got != f {
			t.Error(f, got, err)
		}
	}
	for _, b := range [][]byte{{}, {0}, []byte("\xff\xfe'\\")} {
		var got []byte
		if err := db.QueryRowContext(t.Context(), "SELECT ? AS x", b).Scan(&got); err != nil || !bytes.Equal(got, b) {
			t.Error(b, got, err)
		}
	}
	for _, at := range []time.Time{time.Date(2026, 11, 26, 1, 2, 3, 0, time.UTC), time.Date(1999, 12, 31, 23, 59, 59, 123456000, time.FixedZone("", -7200))} {
		var got time.Time
		if err := db.QueryRowContext(t.Context(), "SELECT ? AS x", at).Scan(&got); err != nil || !got.Equal(at) {
			t.Error(at, got, err)
		}
	}
	for _, text := range []string{"-12.345", "0.00", "99999999999999999999.99"} {
		d, err := hive.ParseDecimal(text)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if err := db.QueryRowContext(t.Context(), "SELECT ? AS x", d).Scan(&got); err != nil || got != text {
			t.Error(text, got, err)
		}
	}
	var isNull, isTrue bool
	if err := db.QueryRowContext(t.Context(), "SELECT ? IS NULL AS n, ? AS t", nil, true).Scan(&isNull, &isTrue); err != nil || !isNull || !isTrue {
		t.Error(isNull, isTrue, err)
	}
}

// TestRealCancel: a query that takes long ends when its context does, and the session goes on.
func TestRealCancel(t *testing.T) {
	cfg, err := hive.ParseDSN(realServer(t))
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, cfg)
	name, version, err := c.Server(t.Context())
	t.Log(name, version, err)
	if err != nil {
		t.Fatal(err)
	}
	// 10^12 pairs
	const side = "(SELECT pos FROM (SELECT 1 AS one) t LATERAL VIEW posexplode(split(space(999999), ' ')) e AS pos, x)"
	const forever = "SELECT sum(a.pos * b.pos) FROM " + side + " a CROSS JOIN " + side + " b WHERE (a.pos + b.pos) % 7 = 3"
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	began := time.Now()
	if _, err := c.Query(ctx, forever); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if d := time.Since(began); d > 10*time.Second {
		t.Error(d)
	}
	r, err := c.Query(t.Context(), "SELECT 'after' AS x")
	if err != nil {
		t.Fatal(err)
	}
	compareLines(t, rowsOf(t, r), []string{`["after"]`})
	_, err = c.Query(t.Context(), "SELECT nothing FROM nowhere")
	var e *hive.Error
	if !errors.As(err, &e) || !strings.Contains(e.Message, "nowhere") || strings.Contains(e.Error(), "\n\tat ") {
		t.Errorf("%v", err)
	}
}

// TestRealSession: settings and the database reach the session, and a session that was closed is
// ErrSession.
func TestRealSession(t *testing.T) {
	cfg, err := hive.ParseDSN(realServer(t))
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, cfg)
	if err := c.Exec(t.Context(), "CREATE DATABASE IF NOT EXISTS other"); err != nil {
		t.Fatal(err)
	}
	cfg.Database = "other"
	cfg.Settings = map[string]string{"hive.exec.parallel": "true"}
	c = connect(t, cfg)
	for sql, want := range map[string]string{"SELECT current_database() AS d": "other", "SET hive.exec.parallel": "true"} {
		r, err := c.Query(t.Context(), sql)
		if err != nil {
			t.Fatal(err)
		}
		if lines := rowsOf(t, r); len(lines) != 1 || !strings.Contains(lines[0], want) {
			t.Error(sql, lines)
		}
	}
	cfg.Database = "missing"
	if c, err := hive.Connect(t.Context(), cfg); err == nil {
		t.Error("there is no such database")
		c.Close()
	}
}

// judgedRows is a statement with 100,000 rows of all types.
var judgedRows = "SELECT pos AS i, pos % 2 = 0 AS b, CAST(pos % 100 - 50 AS TINYINT) AS t, CAST(pos % 30000 AS SMALLINT) AS s, " +
	"IF(pos % 6 = 0, NULL, pos * 1234567891) AS l, CAST(pos % 64 / 8.0 AS FLOAT) AS f, IF(pos % 9 = 0, NULL, pos / 7.0D) AS d, CAST(pos / 4.0 AS DECIMAL(18,4)) AS n, " +
	"date_add(CAST('1970-01-01' AS DATE), pos) AS day, IF(pos % 4 = 1, NULL, CAST(concat('2026-11-26 10:20:30.', CAST(pos AS STRING)) AS TIMESTAMP)) AS at, " +
	"IF(pos % 5 = 3, NULL, concat('text ü ', CAST(pos AS STRING))) AS text, CAST(concat('bin', CAST(pos AS STRING)) AS BINARY) AS raw, array(pos, NULL) AS a" +
	" FROM (SELECT 1 AS one) t LATERAL VIEW posexplode(split(space(99999), ' ')) e AS pos, x"

// judge returns what judge.py prints for a statement. The Python that has PyHive is
// NOCOPY_HIVE_PYTHON.
func judge(t *testing.T, cfg hive.Config, sql string, how ...string) []string {
	t.Helper()
	python := os.Getenv("NOCOPY_HIVE_PYTHON")
	if python == "" {
		t.Skip("SKIPPED: NOCOPY_HIVE_PYTHON is not set to a Python that has PyHive")
	}
	host, port, _ := strings.Cut(cfg.Addr, ":")
	auth := "NONE"
	switch {
	case cfg.HTTP:
		auth = "HTTP"
	case cfg.NoSASL:
		auth = "NOSASL"
	}
	cmd := exec.Command(python, append([]string{"-B", "testdata/judge.py", host, port, auth}, how...)...)
	cmd.Stdin = strings.NewReader(sql + "\n")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return wanted(t, strings.TrimSuffix(string(out), "\n"))
}

// TestRealJudge compares 100,000 rows with what PyHive reads.
func TestRealJudge(t *testing.T) {
	cfg, err := hive.ParseDSN(realServer(t))
	if err != nil {
		t.Fatal(err)
	}
	want := judge(t, cfg, judgedRows)
	r, err := connect(t, cfg).Query(t.Context(), judgedRows)
	if err != nil {
		t.Fatal(err)
	}
	got := rowsOf(t, r)
	if len(got) != 100_000 {
		t.Error(len(got), "rows")
	}
	compareLines(t, got, want)
}

// summedRows is a statement with 1,000,000 rows, 100 MB.
var summedRows = "SELECT pos * 1234567891 AS l, pos / 7.0D AS d, concat('some longer text, ü, about the row with the number ', CAST(pos AS STRING), space(24)) AS text" +
	" FROM (SELECT 1 AS one) t LATERAL VIEW posexplode(split(space(999999), ' ')) e AS pos, x"

// TestRealSums compares the sums of 100 MB with those of PyHive.
func TestRealSums(t *testing.T) {
	cfg, err := hive.ParseDSN(realServer(t))
	if err != nil {
		t.Fatal(err)
	}
	want := judge(t, cfg, summedRows, "sums")
	r, err := connect(t, cfg).Query(t.Context(), summedRows)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var count, ints, size int64
	var floats float64
	crc := crc32.NewIEEE()
	for r.Next() {
		b := r.Batch()
		count += int64(b.Len())
		for _, v := range b.Column(0).Int64s() {
			ints += v
		}
		for _, v := range b.Column(1).Float64s() {
			floats += v
		}
		for _, v := range b.Column(2).Strings() {
			size += int64(len(v))
			io.WriteString(crc, v)
		}
	}
	if err := r.Err(); err != nil || count != 1_000_000 {
		t.Fatal(count, err)
	}
	compareLines(t, []string{asJSON(t, []any{count, ints, floats, size, crc.Sum32()})}, want)
}

// TestRealAdvice: clients that do not fit a real server are told what to change.
func TestRealAdvice(t *testing.T) {
	fits, err := hive.ParseDSN(realServer(t))
	if err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(*hive.Config){
		"Config.NoSASL": func(c *hive.Config) { c.NoSASL = !c.NoSASL },
		"Config.TLS":    func(c *hive.Config) { c.TLS = &tls.Config{} },
		"Config.HTTP":   func(c *hive.Config) { c.HTTP = !c.HTTP },
	} {
		cfg := fits
		change(&cfg)
		cfg.Timeout = 5 * time.Second
		if cfg.HTTP && fits.HTTP && what == "Config.NoSASL" {
			continue // has no effect
		}
		c, err := hive.Connect(t.Context(), cfg)
		if err == nil {
			c.Close()
			t.Error(what, "was changed, and the client has connected")
			continue
		}
		if t.Log(err); !strings.Contains(err.Error(), what) {
			t.Errorf("%v, not %s", err, what)
		}
	}
}
