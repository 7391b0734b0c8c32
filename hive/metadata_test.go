package hive_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/hive"
	"github.com/nocopythrift/nocopythrift/hive/internal/fakehive"
	"github.com/nocopythrift/nocopythrift/hive/internal/tcli"
)

// TestMetadata: databases, tables and columns, by patterns. An empty pattern is not sent.
func TestMetadata(t *testing.T) {
	answer := func(name string) *fakehive.Query {
		return &fakehive.Query{Schema: schemaOf(hive.TypeString), Fetches: []tcli.TFetchResultsResp{fetchOf(stringColumn(nil, name))}}
	}
	s := &fakehive.Server{Queries: map[string]*fakehive.Query{}}
	for _, name := range []string{`schemas ""`, `schemas "s%"`, `tables "" "" []`, `tables "s" "t_" ["TABLE" "VIEW"]`, `columns "" "" ""`, `columns "s" "t" "c%"`} {
		s.Queries[name] = answer(name)
	}
	c := connect(t, serve(t, s))
	ctx := t.Context()
	for want, list := range map[string]func() (*hive.Result, error){
		`schemas ""`:                       func() (*hive.Result, error) { return c.Schemas(ctx, "") },
		`schemas "s%"`:                     func() (*hive.Result, error) { return c.Schemas(ctx, "s%") },
		`tables "" "" []`:                  func() (*hive.Result, error) { return c.Tables(ctx, "", "") },
		`tables "s" "t_" ["TABLE" "VIEW"]`: func() (*hive.Result, error) { return c.Tables(ctx, "s", "t_", "TABLE", "VIEW") },
		`columns "" "" ""`:                 func() (*hive.Result, error) { return c.Columns(ctx, "", "", "") },
		`columns "s" "t" "c%"`:             func() (*hive.Result, error) { return c.Columns(ctx, "s", "t", "c%") },
	} {
		r, err := list()
		if err != nil {
			t.Error(want, err)
			continue
		}
		compareLines(t, rowsOf(t, r), []string{asJSON(t, []any{want})})
	}
	if s.Operations() != 0 {
		t.Error(s.Operations(), "operations are open")
	}
	var e *hive.Error
	if _, err := c.Tables(ctx, "x", ""); !errors.As(err, &e) || !strings.Contains(e.Message, "no answer") {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := c.Schemas(ended, ""); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	c.Close()
	if _, err := c.Columns(ctx, "", "", ""); !errors.Is(err, hive.ErrClosed) {
		t.Error(err)
	}
}

// TestLog: the lines of a statement's log, also those of a server that lies about them.
func TestLog(t *testing.T) {
	var fill func(tcli.TFetchResultsResp)
	q := &fakehive.Query{Schema: schemaOf(hive.TypeBigInt), Fetches: []tcli.TFetchResultsResp{fetchOf(int64Column(nil, 1))}, Status: func(n int, s tcli.TGetOperationStatusResp) {
		if running(n, s); n > 2 {
			s.SetOperationState(tcli.TOperationState_FINISHED_STATE)
		}
	}, Log: func(resp tcli.TFetchResultsResp) { fill(resp) }}
	c := connect(t, serve(t, &fakehive.Server{Queries: map[string]*fakehive.Query{"q": q}}))
	lines := func(texts ...string) {
		fill = func(resp tcli.TFetchResultsResp) {
			stringColumn(nil, texts...)(resp.NewResults().NewColumns(0).AppendNew())
			resp.GetResults().NewRows(0)
		}
	}
	r, err := c.Start(t.Context(), "q")
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	n := 0
	if err := r.Wait(func(hive.Progress) {
		lines(fmt.Sprint("line ", n))
		n++
		got, err := r.Log(t.Context())
		if err != nil {
			t.Error(err)
		}
		seen = append(seen, got...)
	}); err != nil || len(seen) < 2 || seen[1] != "line 1" {
		t.Error(seen, err)
	}
	lines(slices.Repeat([]string{strings.Repeat("x", 70<<10)}, 1100)...)
	if got, err := r.Log(t.Context()); err != nil || len(got) != 1000 || len(got[0]) > 65<<10 {
		t.Error(len(got), err)
	}
	fill = func(resp tcli.TFetchResultsResp) { resp.NewResults().NewRows(0) }
	if got, err := r.Log(t.Context()); err != nil || got != nil {
		t.Error(got, err)
	}
	fill = func(resp tcli.TFetchResultsResp) {
		resp.NewResults().NewRows(0)
		int64Column(nil, 1)(resp.GetResults().NewColumns(0).AppendNew())
	}
	if _, err := r.Log(t.Context()); !errors.Is(err, hive.ErrReply) {
		t.Error(err)
	}
	fill = func(resp tcli.TFetchResultsResp) {
		resp.GetStatus().SetStatusCode(tcli.TStatusCode_ERROR_STATUS)
		resp.GetStatus().SetErrorMessage("Couldn't find log")
	}
	var e *hive.Error
	if _, err := r.Log(t.Context()); !errors.As(err, &e) {
		t.Error(err)
	}
	r.Close()
	if _, err := r.Log(t.Context()); !errors.Is(err, hive.ErrClosed) {
		t.Error(err)
	}
}

// TestWithConn: the session of a connection of database/sql's, which is not taken for good if it
// has ended.
func TestWithConn(t *testing.T) {
	s := good()
	db := sql.OpenDB(hive.NewConnector(serve(t, s)))
	defer db.Close()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := hive.WithConn(conn, func(c *hive.Conn) error {
		r, err := c.Query(t.Context(), "q")
		if err == nil {
			compareLines(t, rowsOf(t, r), []string{"[1]", "[2]", "[3]"})
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	if err := hive.WithConn(conn, func(*hive.Conn) error { return hive.ErrSession }); !errors.Is(err, hive.ErrSession) {
		t.Error(err)
	}
	conn.Close()
	if err := db.Ping(); err != nil || s.Count("OpenSession") != 2 {
		t.Error(err, s.Count("OpenSession"))
	}
}

// TestSQLUint64: an argument that is larger than a BIGINT, with Prepare and without.
func TestSQLUint64(t *testing.T) {
	const text = "SELECT CAST('18446744073709551615' AS DECIMAL(38,0))"
	s := good()
	s.Queries[text] = s.Queries["q"]
	db := sql.OpenDB(hive.NewConnector(serve(t, s)))
	defer db.Close()
	stmt, err := db.Prepare("SELECT ?")
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	var n int64
	for _, err := range []error{db.QueryRow("SELECT ?", uint64(1<<64-1)).Scan(&n), stmt.QueryRow(uint64(1<<64 - 1)).Scan(&n)} {
		if err != nil || n != 1 {
			t.Error(n, err)
		}
	}
}
