package hive_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/hive"
	"github.com/nocopythrift/nocopythrift/hive/internal/fakehive"
	"github.com/nocopythrift/nocopythrift/hive/internal/tcli"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

func openDB(t *testing.T, s *fakehive.Server) *sql.DB {
	t.Helper()
	db, err := sql.Open("hive", "hive://"+s.Serve(t, &rpc.Server{})+"/?auth=NOSASL")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// scanned returns what judge.py writes for a value that was scanned into a pointer.
func scanned(dest any, typ string) any {
	v, err := dest.(driver.Valuer).Value()
	if err != nil {
		return err.Error()
	}
	switch v := v.(type) {
	case float64:
		switch {
		case math.IsNaN(v):
			return "nan"
		case math.IsInf(v, 1):
			return "inf"
		}
	case time.Time:
		if typ == "DATE" {
			return v.Format("2006-01-02")
		}
		return v.Format("2006-01-02 15:04:05.000000")
	}
	return v
}

// TestSQL compares what database/sql reads of recorded replies with what PyHive has read. Values
// are scanned into the types that the driver proposes.
func TestSQL(t *testing.T) {
	for _, dir := range recordings(t) {
		queries, err := fakehive.Load(filepath.Dir(dir))
		if err != nil {
			t.Fatal(err)
		}
		s := &fakehive.Server{Queries: queries}
		db := openDB(t, s)
		rows, err := db.QueryContext(t.Context(), strings.TrimSuffix(readFile(t, dir, "statement.sql"), "\n"))
		if err != nil {
			t.Fatal(err)
		}
		types, err := rows.ColumnTypes()
		if err != nil {
			t.Fatal(err)
		}
		dest := make([]any, len(types))
		for i, typ := range types {
			dest[i] = reflect.New(typ.ScanType()).Interface()
			if nullable, ok := typ.Nullable(); !nullable || !ok {
				t.Error(typ.Name())
			}
			if p, s, ok := typ.DecimalSize(); ok != (typ.DatabaseTypeName() == "DECIMAL") || ok && (p == 0 || s > p) {
				t.Error(typ.Name(), p, s, ok)
			}
		}
		var got []string
		for rows.Next() {
			if err := rows.Scan(dest...); err != nil {
				t.Fatal(err)
			}
			row := make([]any, len(dest))
			for i, d := range dest {
				switch d := d.(type) {
				case *[]byte:
					if *d != nil {
						row[i] = hex.EncodeToString(*d)
					}
				default:
					row[i] = scanned(d, types[i].DatabaseTypeName())
				}
			}
			got = append(got, asJSON(t, row))
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
		want := wanted(t, readFile(t, dir, "values.json"))
		compareLines(t, got, want)
		if s.Operations() != 0 {
			t.Error("the query stays open")
		}
	}
}

// TestSQLKeeps: values outlive the rows that they come from.
func TestSQLKeeps(t *testing.T) {
	s := &fakehive.Server{Queries: map[string]*fakehive.Query{"q": {Schema: schemaOf(hive.TypeString, hive.TypeBinary), Fetch: func(_ context.Context, n int, _ int64) tcli.TFetchResultsResp {
		if n == 50 {
			return fakehive.Empty()
		}
		text := fmt.Sprint("text ", n)
		long := strings.Repeat(text, 1000)
		return fetchOf(stringColumn(nil, text, "", long), func(c tcli.TColumn) {
			v := c.NewBinaryVal()
			v.SetValues([][]byte{[]byte(text), nil, []byte(long)})
			v.SetNulls(nil)
		})
	}}}}
	rows, err := openDB(t, s).Query("q")
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	var values []any
	for rows.Next() {
		var text string
		var value any
		if err := rows.Scan(&text, &value); err != nil {
			t.Fatal(err)
		}
		texts, values = append(texts, text), append(values, value)
	}
	if rows.Err() != nil || len(texts) != 150 {
		t.Fatal(len(texts), rows.Err())
	}
	for i := range texts {
		want := fmt.Sprint("text ", i/3)
		switch i % 3 {
		case 1:
			want = ""
		case 2:
			want = strings.Repeat(want, 1000)
		}
		if texts[i] != want || string(values[i].([]byte)) != want {
			t.Fatalf("row %d: %.20q, %.20q, want %.20q", i, texts[i], values[i], want)
		}
	}
}

// TestSQLScan: the conversions of database/sql hold.
func TestSQLScan(t *testing.T) {
	s := &fakehive.Server{Queries: map[string]*fakehive.Query{"q": {
		Schema:  schemaOf(hive.TypeBigInt, hive.TypeString, hive.TypeTimestamp, hive.TypeString, hive.TypeDecimal),
		Fetches: []tcli.TFetchResultsResp{fetchOf(int64Column(nil, 7), stringColumn(nil, "12"), stringColumn(nil, "2026-11-26 01:02:03.5"), stringColumn([]byte{1}, ""), stringColumn(nil, "1.50"))},
	}, "bad": {
		Schema:  schemaOf(hive.TypeTimestamp),
		Fetches: []tcli.TFetchResultsResp{fetchOf(stringColumn(nil, "tomorrow"))},
	}}}
	db := openDB(t, s)
	var text, number string
	var i int32
	var at any
	var null *string
	var price float64
	if err := db.QueryRow("q").Scan(&text, &i, &at, &null, &price); err != nil {
		t.Fatal(err)
	}
	if text != "7" || i != 12 || !at.(time.Time).Equal(time.Date(2026, 11, 26, 1, 2, 3, 5e8, time.UTC)) || null != nil || price != 1.5 {
		t.Error(text, i, at, null, price)
	}
	var exact hive.Decimal
	if err := db.QueryRow("q").Scan(&exact, &i, &at, &null, &exact); err != nil || exact != (hive.Decimal{Lo: 150, Scale: 2}) {
		t.Error(exact, err)
	}
	if err := db.QueryRow("q").Scan(&text, &i, &at, &number, &price); err == nil {
		t.Error("NULL was scanned into a string")
	}
	if err := db.QueryRow("q").Scan(&at, &at, &number, &null, &price); err != nil || number != "2026-11-26T01:02:03.5Z" {
		t.Error(number, err)
	}
	if err := db.QueryRow("bad").Scan(&at); !errors.Is(err, hive.ErrReply) {
		t.Error(err)
	}
}

// TestSQLArguments: arguments arrive as literals, from all kinds of statements.
func TestSQLArguments(t *testing.T) {
	want := "INSERT INTO t VALUES ((-5), 'it\\'s', NULL, CAST('1.50' AS DECIMAL(38,2)), unhex('00ff'))"
	s := &fakehive.Server{Queries: map[string]*fakehive.Query{want: {Status: func(_ int, s tcli.TGetOperationStatusResp) {
		s.SetOperationState(tcli.TOperationState_FINISHED_STATE)
		s.SetNumModifiedRows(3)
	}}, "no rows": {}}}
	db := openDB(t, s)
	const text = "INSERT INTO t VALUES (?, ?, ?, ?, ?)"
	args := []any{-5, "it's", sql.Null[hive.Decimal]{}, &sql.Null[*hive.Decimal]{V: &hive.Decimal{Lo: 150, Scale: 2}, Valid: true}, []byte{0, 255}}
	res, err := db.Exec(text, args...)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := res.RowsAffected(); n != 3 || err != nil {
		t.Error(n, err)
	}
	if _, err := res.LastInsertId(); err == nil {
		t.Error("there is an id")
	}
	stmt, err := db.Prepare(text)
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	if _, err := stmt.Exec(args...); err != nil {
		t.Error(err)
	}
	if rows, err := stmt.Query(args...); err != nil {
		t.Error(err)
	} else {
		if rows.Next() || rows.Err() != nil {
			t.Error(rows.Err())
		}
		rows.Close()
	}
	if _, err := stmt.Exec(1); err == nil || !strings.Contains(err.Error(), "5 placeholders, the call 1") {
		t.Error(err)
	}
	if _, err := db.Exec(text, sql.Named("x", 1)); err == nil || !strings.Contains(err.Error(), "name") {
		t.Error(err)
	}
	if _, err := db.Begin(); err == nil {
		t.Error("a transaction has begun")
	}
	if res, err = db.Exec("no rows"); err != nil {
		t.Fatal(err)
	}
	if _, err := res.RowsAffected(); err == nil {
		t.Error("the server has told how many rows")
	}
}

// TestBadConn: database/sql connects again when a session has ended, unless a statement may have
// been carried out.
func TestBadConn(t *testing.T) {
	var expired atomic.Bool
	s := &fakehive.Server{Queries: map[string]*fakehive.Query{"q": {Execute: func(_ context.Context, resp tcli.TExecuteStatementResp) bool {
		if expired.Swap(false) {
			resp.NewStatus().SetStatusCode(tcli.TStatusCode_INVALID_HANDLE_STATUS)
			return true
		}
		return false
	}}}}
	db := openDB(t, s)
	db.SetMaxOpenConns(1)
	for i := range 3 {
		expired.Store(i == 1)
		if _, err := db.Exec("q"); err != nil {
			t.Error(err)
		}
	}
	if n := s.Count("OpenSession"); n != 2 {
		t.Error(n, "sessions")
	}

	// The server closes connections, as those that are idle
	s = &fakehive.Server{Queries: map[string]*fakehive.Query{"q": {}}}
	conns := make(chan net.Conn, 10)
	addr := s.Serve(t, &rpc.Server{ConnContext: func(ctx context.Context, nc net.Conn) context.Context {
		conns <- nc
		return ctx
	}})
	db = sql.OpenDB(hive.NewConnector(hive.Config{Addr: addr, NoSASL: true}))
	defer db.Close()
	for range 2 {
		if err := db.PingContext(t.Context()); err != nil {
			t.Error(err)
		}
		(<-conns).Close()
		time.Sleep(50 * time.Millisecond) // the client usually notices it
		if _, err := db.Exec("q"); err != nil {
			t.Error(err)
		}
	}
	if n := s.Count("ExecuteStatement"); n != 2 {
		t.Error(n, "statements")
	}
}

// TestSQLContext: the end of a context cancels the query and returns.
func TestSQLContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &fakehive.Server{Queries: map[string]*fakehive.Query{"runs": {Schema: schemaOf(hive.TypeBigInt), Status: func(n int, s tcli.TGetOperationStatusResp) {
		if running(n, s); n == 1 {
			cancel()
		}
	}}}}
	db := openDB(t, s)
	ended(t, "Query", func() {
		if _, err := db.QueryContext(ctx, "runs"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	if !fakehive.Eventually(func() bool { return s.Operations() == 0 && s.Count("CancelOperation") == 1 }) {
		t.Error(s.Operations(), s.Count("CancelOperation"))
	}
}

// TestAllocations: reading columns allocates nothing for a row, and nothing for a batch but its
// few calls; database/sql allocates at most one box for a value.
func TestAllocations(t *testing.T) {
	const rows, replies = 1000, 20
	texts, values := make([]string, rows), make([]int64, rows)
	for i := range texts {
		texts[i], values[i] = fmt.Sprint("some text ", i), int64(i)*1e9
	}
	reply := fetchOf(int64Column(nil, values...), stringColumn(nil, texts...))
	s := &fakehive.Server{Queries: map[string]*fakehive.Query{"q": {Schema: schemaOf(hive.TypeBigInt, hive.TypeString), Fetch: func(_ context.Context, n int, _ int64) tcli.TFetchResultsResp {
		if n >= replies {
			return fakehive.Empty()
		}
		return reply
	}}}}
	c := connect(t, serve(t, s))
	columns := testing.AllocsPerRun(3, func() {
		r, err := c.Query(t.Context(), "q")
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for r.Next() {
			n += len(r.Batch().Column(0).Int64s())
			n += len(r.Batch().Column(1).Strings())
		}
		if n != 2*rows*replies || r.Err() != nil || r.Close() != nil {
			t.Fatal(n, r.Err())
		}
	})
	if perReply := columns / replies; perReply > 120 { // of the fake server's, too
		t.Errorf("%.0f allocations for a reply of %d rows", perReply, rows)
	}
	db := openDB(t, s)
	bySQL := testing.AllocsPerRun(3, func() {
		r, err := db.Query("q")
		if err != nil {
			t.Fatal(err)
		}
		var id int64
		var text string
		for r.Next() {
			if err := r.Scan(&id, &text); err != nil {
				t.Fatal(err)
			}
		}
	})
	if perRow := (bySQL - columns) / (rows * replies); perRow > 2.2 {
		t.Errorf("%.2f allocations for a row of 2 values", perRow)
	}
}

// TestSQLGone: after the server has gone away, Ping says why, and the pool connects again when it
// is back.
func TestSQLGone(t *testing.T) {
	s := &fakehive.Server{}
	srv := &rpc.Server{}
	addr := s.Serve(t, srv)
	db := sql.OpenDB(hive.NewConnector(hive.Config{Addr: "h:1", NoSASL: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, addr)
	}}))
	defer db.Close()
	if err := db.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	srv.Close()
	time.Sleep(20 * time.Millisecond) // the client usually notices it; both cases are tested
	if err := db.PingContext(t.Context()); !errors.Is(err, rpc.ErrNotSent) && !errors.Is(err, rpc.ErrConnLost) {
		t.Error(err)
	}
	addr = s.Serve(t, &rpc.Server{})
	if err := db.PingContext(t.Context()); err != nil {
		t.Error(err)
	}
}
