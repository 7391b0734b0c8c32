package hive_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/hive"
	"github.com/nocopythrift/nocopythrift/hive/internal/fakehive"
	"github.com/nocopythrift/nocopythrift/hive/internal/tcli"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// running makes a query seem to run until it is cancelled.
func running(_ int, s tcli.TGetOperationStatusResp) {
	s.SetOperationState(tcli.TOperationState_RUNNING_STATE)
}

// TestContextEnds: the end of a query's context cancels it at the server, over a connection of
// its own, while the query runs and while rows are fetched. The session goes on.
func TestContextEnds(t *testing.T) {
	fetching, release := make(chan struct{}, 9), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	s := &fakehive.Server{Queries: map[string]*fakehive.Query{
		"runs": {Schema: schemaOf(hive.TypeBigInt), Status: func(n int, s tcli.TGetOperationStatusResp) {
			if running(n, s); n == 1 {
				cancel()
			}
		}},
		"stuck": {Schema: schemaOf(hive.TypeBigInt), Fetch: func(ctx context.Context, n int, _ int64) tcli.TFetchResultsResp {
			fetching <- struct{}{}
			select {
			case <-release:
			case <-ctx.Done():
			}
			return fakehive.Empty()
		}},
		"good": {Schema: schemaOf(hive.TypeBigInt), Fetches: []tcli.TFetchResultsResp{fetchOf(int64Column(nil, 1, 2))}},
	}}
	c := connect(t, serve(t, s))
	ended(t, "Query", func() {
		if _, err := c.Query(ctx, "runs"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	stuck, end := context.WithTimeoutCause(t.Context(), time.Hour, errors.New("never"))
	r, err := c.Query(stuck, "stuck")
	if err != nil {
		t.Fatal(err)
	}
	<-fetching
	end()
	ended(t, "Next", func() {
		if r.Next() || !errors.Is(r.Err(), context.Canceled) {
			t.Error(r.Err())
		}
	})
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if !fakehive.Eventually(func() bool { return s.Operations() == 0 && s.Count("CancelOperation") == 2 }) {
		t.Error(s.Operations(), s.Count("CancelOperation"))
	}
	close(release)
	if r, err = c.Query(t.Context(), "good"); err != nil {
		t.Fatal(err)
	}
	compareLines(t, rowsOf(t, r), []string{"[1]", "[2]"})
}

// TestCancel: Cancel ends a query for all goroutines that wait for it.
func TestCancel(t *testing.T) {
	s := &fakehive.Server{Queries: map[string]*fakehive.Query{"runs": {Schema: schemaOf(hive.TypeBigInt), Status: running}}}
	c := connect(t, serve(t, s))
	r, err := c.Start(t.Context(), "runs")
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(20*time.Millisecond, func() {
		if err := r.Cancel(t.Context()); err != nil {
			t.Error(err)
		}
	})
	ended(t, "Wait", func() {
		if err := r.Wait(nil); !errors.Is(err, hive.ErrCanceled) {
			t.Error(err)
		}
	})
	if r.Next() || !errors.Is(r.Err(), hive.ErrCanceled) {
		t.Error(r.Err())
	}
	if err := r.Close(); err != nil || s.Operations() != 0 {
		t.Error(err, s.Operations())
	}
}

// TestAbandonedStart: a statement that the server accepts after its context has ended is
// cancelled and closed. Meanwhile no other is begun.
func TestAbandonedStart(t *testing.T) {
	accept := make(chan struct{})
	abandoned, abandon := context.WithCancel(t.Context())
	s := &fakehive.Server{Queries: map[string]*fakehive.Query{
		"slow": {Execute: func(ctx context.Context, _ tcli.TExecuteStatementResp) bool {
			abandon()
			select {
			case <-accept:
			case <-ctx.Done():
			}
			return false
		}},
		"good": {},
	}}
	cfg := serve(t, s)
	c := connect(t, cfg)
	ended(t, "Query", func() {
		if _, err := c.Query(abandoned, "slow"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	ended(t, "Query", func() {
		if _, err := c.Query(ctx, "good"); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
	close(accept)
	if !fakehive.Eventually(func() bool { return s.Count("CloseOperation") == 1 && s.Operations() == 0 }) {
		t.Error(s.Operations())
	}
	if err := c.Exec(t.Context(), "good"); err != nil {
		t.Error(err)
	}

	// Closing the session does not wait for a server that never accepts
	abandoned, abandon = context.WithCancel(t.Context())
	s2 := &fakehive.Server{Queries: map[string]*fakehive.Query{"slow": {Execute: func(ctx context.Context, _ tcli.TExecuteStatementResp) bool {
		abandon()
		<-ctx.Done()
		return false
	}}}}
	cfg = serve(t, s2)
	cfg.Timeout = 3 * time.Second // Close waits for as long
	c = connect(t, cfg)
	if _, err := c.Query(abandoned, "slow"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	ended(t, "Close", func() { c.Close() })
}

// TestEndedContext: a statement whose context has ended already is not sent.
func TestEndedContext(t *testing.T) {
	s := &fakehive.Server{Queries: map[string]*fakehive.Query{"q": {}}}
	c := connect(t, serve(t, s))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 50 {
		if err := c.Exec(ctx, "q"); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	c.Close() // waits for what was sent
	if n := s.Count("ExecuteStatement"); n != 0 {
		t.Error(n, "statements were sent")
	}
}

// TestErrors: the server's text of an error arrives, from each kind of call.
func TestErrors(t *testing.T) {
	failed := func(status tcli.TStatus) {
		status.SetStatusCode(tcli.TStatusCode_ERROR_STATUS)
		status.SetErrorMessage("broken\n\tat a.b.C")
		status.SetSqlState("HY000")
		status.SetErrorCode(7)
		status.SetInfoMessages([]string{"one", "two"})
	}
	badFetch := tcli.NewTFetchResultsResp()
	failed(badFetch.NewStatus())
	badSchema := tcli.NewTGetResultSetMetadataResp()
	failed(badSchema.NewStatus())
	s := &fakehive.Server{Queries: map[string]*fakehive.Query{
		"execute": {Execute: func(_ context.Context, resp tcli.TExecuteStatementResp) bool { failed(resp.NewStatus()); return true }},
		"call":    {Status: func(_ int, s tcli.TGetOperationStatusResp) { failed(s.NewStatus()) }},
		"state": {Status: func(_ int, s tcli.TGetOperationStatusResp) {
			s.SetOperationState(tcli.TOperationState_ERROR_STATE)
			s.SetErrorMessage("broken")
			s.SetSqlState("HY000")
			s.SetErrorCode(7)
		}},
		"schema": {Schema: badSchema},
		"fetch":  {Schema: schemaOf(hive.TypeInt), Fetches: []tcli.TFetchResultsResp{badFetch}},
		"timed out": {Status: func(_ int, s tcli.TGetOperationStatusResp) {
			s.SetOperationState(tcli.TOperationState_TIMEDOUT_STATE)
		}},
		"no state": {Status: func(_ int, s tcli.TGetOperationStatusResp) {}},
		"session": {Execute: func(_ context.Context, resp tcli.TExecuteStatementResp) bool {
			resp.NewStatus().SetStatusCode(tcli.TStatusCode_INVALID_HANDLE_STATUS)
			return true
		}},
		"hive's session": {Execute: func(_ context.Context, resp tcli.TExecuteStatementResp) bool {
			failed(resp.NewStatus())
			resp.GetStatus().SetErrorMessage("Invalid SessionHandle: SessionHandle [1-2]")
			return true
		}},
		"no handle": {Execute: func(_ context.Context, resp tcli.TExecuteStatementResp) bool {
			resp.NewStatus().SetStatusCode(tcli.TStatusCode_SUCCESS_STATUS)
			return true
		}},
	}}
	c := connect(t, serve(t, s))
	for _, name := range []string{"execute", "call", "state", "schema", "fetch"} {
		r, err := c.Query(t.Context(), name)
		if err == nil {
			if r.Next() {
				t.Error(name, "has rows")
			}
			err = r.Err()
			r.Close()
		}
		var e *hive.Error
		if !errors.As(err, &e) || e.State != "HY000" || e.Code != 7 || !strings.HasPrefix(e.Message, "broken") {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := e.Error(); got != `hive: broken (SQLSTATE "HY000", code 7)` {
			t.Error(got)
		}
		if name == "execute" && !slices.Equal(e.Info, []string{"one", "two"}) {
			t.Error(e.Info)
		}
	}
	for name, want := range map[string]string{
		"timed out": "TIMEDOUT", "no state": "INITIALIZED", "session": "does not know the session",
		"hive's session": "does not know the session", "no handle": "there is none", "unknown": "unknown statement",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if name == "no state" { // is that of a query that has not begun
			cancel()
			continue
		}
		_, err := c.Query(ctx, name)
		cancel()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
		if strings.Contains(name, "session") != errors.Is(err, hive.ErrSession) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "no handle" && !errors.Is(err, hive.ErrReply) {
			t.Error(err)
		}
	}
	if s.Operations() != 0 {
		t.Error(s.Operations(), "operations are open")
	}
}

// TestNoState: an answer that does not say how far a query is ends it, instead of being asked for
// until the context ends.
func TestNoState(t *testing.T) {
	s := &fakehive.Server{Queries: map[string]*fakehive.Query{"q": {Status: func(int, tcli.TGetOperationStatusResp) {}}}}
	if err := connect(t, serve(t, s)).Exec(t.Context(), "q"); !errors.Is(err, hive.ErrReply) {
		t.Error(err)
	}
	if s.Operations() != 0 {
		t.Error("the query stays open")
	}
}

// TestProgress: progress is shown while a query runs.
func TestProgress(t *testing.T) {
	s := &fakehive.Server{Queries: map[string]*fakehive.Query{"q": {Status: func(n int, s tcli.TGetOperationStatusResp) {
		s.SetOperationState(tcli.TOperationState_RUNNING_STATE)
		s.SetOperationStarted(1000)
		if n == 5 {
			s.SetOperationState(tcli.TOperationState_FINISHED_STATE)
			s.SetNumModifiedRows(12)
			return
		}
		u := s.NewProgressUpdateResponse()
		u.SetHeaderNames([]string{"VERTEX", "STATUS"})
		rows := u.NewRows(1)
		rows.NewAt(0, 2).Set(0, "Map 1")
		rows.At(0).Set(1, "RUNNING")
		u.SetProgressedPercentage([]float64{0, 0.5, math.NaN(), -3, math.Inf(1)}[n])
		u.SetFooterSummary("VERTICES: 00/01")
	}}}}
	r, err := connect(t, serve(t, s)).Start(t.Context(), "q")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var seen []string
	if err := r.Wait(func(p hive.Progress) {
		seen = append(seen, fmt.Sprint(p.State, p.Percent, p.Header, p.Rows, p.Footer, p.Started.Unix(), p.Finished.IsZero()))
	}); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, percent := range []string{"0", "50", "-1", "-1", "100"} {
		want = append(want, "RUNNING "+percent+" [VERTEX STATUS] [[Map 1 RUNNING]] VERTICES: 00/01 1 true")
	}
	want = append(want, "FINISHED -1 [] []  1 true")
	if strings.ReplaceAll(strings.Join(seen, ";"), " ", "") != strings.ReplaceAll(strings.Join(want, ";"), " ", "") {
		t.Errorf("%q", seen)
	}
	if n, known := r.RowsAffected(); n != 12 || !known {
		t.Error(n, known)
	}
	if r.Next() || r.Err() != nil || len(r.Columns()) != 0 {
		t.Error(r.Err(), r.Columns())
	}
}

// TestEnds: after Close, calls fail with ErrClosed. A second Close does nothing. Nothing stays
// open.
func TestEnds(t *testing.T) {
	s := &fakehive.Server{Queries: map[string]*fakehive.Query{"q": {Schema: schemaOf(hive.TypeBigInt), Fetch: func(context.Context, int, int64) tcli.TFetchResultsResp {
		return fetchOf(int64Column(nil, 1))
	}}}}
	c := connect(t, serve(t, s))
	r, err := c.Query(t.Context(), "q")
	if err != nil || !r.Next() || r.Batch().Len() != 1 {
		t.Fatal(err)
	}
	for range 2 {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if r.Next() || !errors.Is(r.Err(), hive.ErrClosed) || r.Batch().Len() != 0 || s.Operations() != 0 {
		t.Error(r.Err(), r.Batch().Len(), s.Operations())
	}
	if r, err = c.Query(t.Context(), "q"); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	for r.Next() {
	}
	if !errors.Is(r.Err(), hive.ErrClosed) {
		t.Error(r.Err())
	}
	r.Close()
	if err := c.Close(); !errors.Is(err, hive.ErrClosed) {
		t.Error(err)
	}
	if _, err := c.Query(t.Context(), "q"); !errors.Is(err, hive.ErrClosed) {
		t.Error(err)
	}
	if err := c.Ping(t.Context()); !errors.Is(err, hive.ErrClosed) {
		t.Error(err)
	}
	if s.Sessions() != 0 {
		t.Error(s.Sessions())
	}
}

// TestManyAtOnce: several results of a session, read by several goroutines.
func TestManyAtOnce(t *testing.T) {
	s := &fakehive.Server{Queries: map[string]*fakehive.Query{"q": {Schema: schemaOf(hive.TypeBigInt), Fetch: func(_ context.Context, n int, _ int64) tcli.TFetchResultsResp {
		if n == 20 {
			return fakehive.Empty()
		}
		return fetchOf(int64Column(nil, int64(n)))
	}}}}
	c := connect(t, serve(t, s))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			r, err := c.Query(t.Context(), "q")
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Close()
			sum := int64(0)
			for r.Next() {
				sum += r.Batch().Column(0).Int64s()[0]
			}
			if sum != 190 || r.Err() != nil {
				t.Error(sum, r.Err())
			}
		})
	}
	wg.Wait()
}

// TestServer: old servers are refused, and a server's name is told.
func TestServer(t *testing.T) {
	s := &fakehive.Server{}
	c := connect(t, serve(t, s))
	name, version, err := c.Server(t.Context())
	if name != "DBMS_NAME" || version != "DBMS_VER" || err != nil {
		t.Error(name, version, err)
	}
	for what, open := range map[string]func(tcli.TOpenSessionReq, tcli.TOpenSessionResp){
		"version 6": func(_ tcli.TOpenSessionReq, r tcli.TOpenSessionResp) {
			r.SetServerProtocolVersion(tcli.TProtocolVersion_HIVE_CLI_SERVICE_PROTOCOL_V5)
		},
		"there is none": func(_ tcli.TOpenSessionReq, r tcli.TOpenSessionResp) { r.UnsetSessionHandle() },
		"no such user": func(_ tcli.TOpenSessionReq, r tcli.TOpenSessionResp) {
			r.NewStatus().SetStatusCode(tcli.TStatusCode_ERROR_STATUS)
			r.GetStatus().SetErrorMessage("no such user")
		},
	} {
		if _, err := hive.Connect(t.Context(), serve(t, &fakehive.Server{Open: open})); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	var got map[string]string
	cfg := serve(t, &fakehive.Server{Open: func(req tcli.TOpenSessionReq, _ tcli.TOpenSessionResp) {
		got = map[string]string{"user": strings.Clone(req.GetUsername()), "password": strings.Clone(req.GetPassword())}
		for k, v := range req.GetConfiguration().All() {
			got[strings.Clone(k)] = strings.Clone(v)
		}
	}})
	cfg.User, cfg.Password, cfg.Database = "ada", "secret", "sales"
	cfg.Settings = map[string]string{"hive.a": "b"}
	connect(t, cfg)
	want := map[string]string{"user": "ada", "password": "secret", "use:database": "sales", "set:hiveconf:hive.a": "b", "set:hiveconf:spark.sql.session.timeZone": "UTC"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Error(got)
	}
	if _, err := hive.Connect(t.Context(), hive.Config{Addr: "nowhere"}); err == nil {
		t.Error("an address without a port was accepted")
	}
}

// TestServerGone: a server that has gone away is an error of package rpc, and Close returns.
func TestServerGone(t *testing.T) {
	s := &fakehive.Server{Queries: map[string]*fakehive.Query{"q": {}}}
	srv := &rpc.Server{}
	cfg := hive.Config{Addr: s.Serve(t, srv), NoSASL: true, Timeout: time.Minute}
	c := connect(t, cfg)
	srv.Close()
	if err := c.Exec(t.Context(), "q"); !errors.Is(err, rpc.ErrNotSent) && !errors.Is(err, rpc.ErrConnLost) {
		t.Error(err)
	}
	ended(t, "Close", func() {
		if c.Close() == nil {
			t.Error("a session was closed that was not there")
		}
	})
}
