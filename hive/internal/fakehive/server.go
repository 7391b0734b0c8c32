// Package fakehive is a HiveServer2 for tests: it answers with replies that were recorded from
// real servers, or made by a test.
package fakehive

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nocopythrift/nocopythrift/hive/internal/tcli"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// Query is the server's state of a statement.
type Query struct {
	Schema  tcli.TGetResultSetMetadataResp // absent: the statement has no rows
	Fetches []tcli.TFetchResultsResp       // one after the other; then empty ones
	Fetch   func(ctx context.Context, n int, maxRows int64) tcli.TFetchResultsResp
	// Status, if not nil, fills the answer to call n, counted from 0; else the query has ended.
	Status func(n int, s tcli.TGetOperationStatusResp)
	// Execute, if not nil, is called before the statement is accepted, and may fill the reply.
	Execute func(ctx context.Context, resp tcli.TExecuteStatementResp) (done bool)
	Log     func(resp tcli.TFetchResultsResp) // fills the reply to a fetch of the log
}

// Server is the handler. Its fields may be set before it serves.
type Server struct {
	tcli.UnimplementedTCLIServiceHandler
	Queries map[string]*Query
	Open    func(req tcli.TOpenSessionReq, resp tcli.TOpenSessionResp) // more than the usual
	Info    func(resp tcli.TGetInfoResp)

	Zone     *time.Location // the sessions' time zone; nil means UTC
	KeepZone bool           // the settings of a session do not change it
	Silent   bool           // questions about the zone are answered with Answer, nil: not at all
	Answer   *Query

	mu         sync.Mutex
	Calls      []string // names of calls, in order
	sessions   int
	operations map[string]*operation
}

type operation struct {
	query    *Query
	fetches  int
	statuses int
	canceled bool
}

// Serve starts s on a loopback address, and returns it. srv may have other settings.
func (s *Server) Serve(t interface {
	Fatal(...any)
	Cleanup(func())
}, srv *rpc.Server) string {
	s.mu.Lock()
	if s.operations == nil {
		s.operations = map[string]*operation{}
	}
	s.mu.Unlock()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv.Processor = tcli.NewTCLIServiceProcessor(s)
	served := make(chan struct{})
	go func() {
		defer close(served)
		srv.Serve(l)
	}()
	t.Cleanup(func() {
		srv.Close()
		<-served
	})
	return l.Addr().String()
}

func (s *Server) note(call string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Calls = append(s.Calls, call)
}

// Count returns how often a call was made.
func (s *Server) Count(call string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, c := range s.Calls {
		if c == call {
			n++
		}
	}
	return n
}

// Sessions returns how many sessions are open.
func (s *Server) Sessions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions
}

// Operations returns how many operations are open.
func (s *Server) Operations() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.operations)
}

// Eventually waits until is, for a few seconds at most.
func Eventually(is func() bool) bool {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if is() {
			return true
		}
	}
	return is()
}

var success = tcli.TStatusCode_SUCCESS_STATUS

func (s *Server) OpenSession(_ context.Context, args tcli.TCLIServiceOpenSessionArgs, result tcli.TCLIServiceOpenSessionResult) error {
	s.note("OpenSession")
	resp := result.NewSuccess()
	resp.NewStatus().SetStatusCode(success)
	resp.SetServerProtocolVersion(args.GetReq().GetClientProtocol())
	id := resp.NewSessionHandle().NewSessionId()
	id.SetGUID([]byte("0123456789abcdef"))
	id.SetSecret([]byte("fedcba9876543210"))
	if name, ok := args.GetReq().GetConfiguration().Get("set:hiveconf:spark.sql.session.timeZone"); ok && !s.KeepZone {
		s.setZone(name)
	}
	if s.Open != nil {
		s.Open(args.GetReq(), resp)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions++
	return nil
}

func (s *Server) CloseSession(_ context.Context, _ tcli.TCLIServiceCloseSessionArgs, result tcli.TCLIServiceCloseSessionResult) error {
	s.note("CloseSession")
	result.NewSuccess().NewStatus().SetStatusCode(success)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions--
	return nil
}

func (s *Server) GetInfo(_ context.Context, args tcli.TCLIServiceGetInfoArgs, result tcli.TCLIServiceGetInfoResult) error {
	s.note("GetInfo")
	resp := result.NewSuccess()
	resp.NewStatus().SetStatusCode(success)
	resp.NewInfoValue().SetStringValue(strings.TrimPrefix(args.GetReq().GetInfoType().String(), "CLI_"))
	if s.Info != nil {
		s.Info(resp)
	}
	return nil
}

func (s *Server) ExecuteStatement(ctx context.Context, args tcli.TCLIServiceExecuteStatementArgs, result tcli.TCLIServiceExecuteStatementResult) error {
	s.note("ExecuteStatement")
	sql := strings.Clone(args.GetReq().GetStatement())
	q := s.Queries[sql]
	if q == nil {
		q = s.zoneQuery(sql)
	}
	resp := result.NewSuccess()
	if q == nil {
		status := resp.NewStatus()
		status.SetStatusCode(tcli.TStatusCode_ERROR_STATUS)
		status.SetErrorMessage("unknown statement: " + sql)
		status.SetSqlState("42000")
		status.SetErrorCode(40000)
		return nil
	}
	if q.Execute != nil && q.Execute(ctx, resp) {
		return nil
	}
	resp.NewStatus().SetStatusCode(success)
	s.accept(q, tcli.TOperationType_EXECUTE_STATEMENT, resp.NewOperationHandle())
	return nil
}

// accept makes an operation of a query.
func (s *Server) accept(q *Query, kind tcli.TOperationType, h tcli.TOperationHandle) {
	s.mu.Lock()
	id := fmt.Sprintf("operation %06d", len(s.Calls))
	s.operations[id] = &operation{query: q}
	s.mu.Unlock()
	h.SetHasResultSet(q.Schema.Valid())
	h.SetOperationType(kind)
	h.NewOperationId().SetGUID([]byte(id))
	h.GetOperationId().SetSecret([]byte("secret"))
}

// list answers a call about what there is, with the query of this name.
func (s *Server) list(name string, kind tcli.TOperationType, status tcli.TStatus, handle func() tcli.TOperationHandle) {
	q := s.Queries[name]
	if q == nil {
		status.SetStatusCode(tcli.TStatusCode_ERROR_STATUS)
		status.SetErrorMessage("no answer to " + name)
		return
	}
	status.SetStatusCode(success)
	s.accept(q, kind, handle())
}

// GetSchemas answers with the query "schemas", and the pattern quoted. So do the others.
func (s *Server) GetSchemas(_ context.Context, args tcli.TCLIServiceGetSchemasArgs, result tcli.TCLIServiceGetSchemasResult) error {
	s.note("GetSchemas")
	resp := result.NewSuccess()
	s.list(fmt.Sprintf("schemas %q", args.GetReq().GetSchemaName()), tcli.TOperationType_GET_SCHEMAS, resp.NewStatus(), resp.NewOperationHandle)
	return nil
}

func (s *Server) GetTables(_ context.Context, args tcli.TCLIServiceGetTablesArgs, result tcli.TCLIServiceGetTablesResult) error {
	s.note("GetTables")
	resp, req := result.NewSuccess(), args.GetReq()
	name := fmt.Sprintf("tables %q %q %q", req.GetSchemaName(), req.GetTableName(), req.GetTableTypes().AppendTo(nil))
	s.list(name, tcli.TOperationType_GET_TABLES, resp.NewStatus(), resp.NewOperationHandle)
	return nil
}

func (s *Server) GetColumns(_ context.Context, args tcli.TCLIServiceGetColumnsArgs, result tcli.TCLIServiceGetColumnsResult) error {
	s.note("GetColumns")
	resp, req := result.NewSuccess(), args.GetReq()
	name := fmt.Sprintf("columns %q %q %q", req.GetSchemaName(), req.GetTableName(), req.GetColumnName())
	s.list(name, tcli.TOperationType_GET_COLUMNS, resp.NewStatus(), resp.NewOperationHandle)
	return nil
}

// operation returns the operation with a handle, or nil.
func (s *Server) operation(h tcli.TOperationHandle) *operation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.operations[string(h.GetOperationId().GetGUID())]
}

func unknown(status tcli.TStatus) {
	status.SetStatusCode(tcli.TStatusCode_ERROR_STATUS)
	status.SetErrorMessage("Invalid OperationHandle")
}

func (s *Server) GetOperationStatus(_ context.Context, args tcli.TCLIServiceGetOperationStatusArgs, result tcli.TCLIServiceGetOperationStatusResult) error {
	s.note("GetOperationStatus")
	resp := result.NewSuccess()
	op := s.operation(args.GetReq().GetOperationHandle())
	if op == nil {
		unknown(resp.NewStatus())
		return nil
	}
	resp.NewStatus().SetStatusCode(success)
	s.mu.Lock()
	n, canceled := op.statuses, op.canceled
	op.statuses++
	s.mu.Unlock()
	switch {
	case canceled:
		resp.SetOperationState(tcli.TOperationState_CANCELED_STATE)
	case op.query.Status != nil:
		op.query.Status(n, resp)
	default:
		resp.SetOperationState(tcli.TOperationState_FINISHED_STATE)
	}
	return nil
}

func (s *Server) GetResultSetMetadata(_ context.Context, args tcli.TCLIServiceGetResultSetMetadataArgs, result tcli.TCLIServiceGetResultSetMetadataResult) error {
	s.note("GetResultSetMetadata")
	op := s.operation(args.GetReq().GetOperationHandle())
	if op == nil {
		unknown(result.NewSuccess().NewStatus())
		return nil
	}
	s.finish(op.query.Schema.Message())
	result.SetSuccess(op.query.Schema)
	return nil
}

func (s *Server) FetchResults(ctx context.Context, args tcli.TCLIServiceFetchResultsArgs, result tcli.TCLIServiceFetchResultsResult) error {
	s.note("FetchResults")
	op := s.operation(args.GetReq().GetOperationHandle())
	if op == nil {
		unknown(result.NewSuccess().NewStatus())
		return nil
	}
	if args.GetReq().GetFetchType() == 1 && op.query.Log != nil {
		resp := result.NewSuccess()
		resp.NewStatus().SetStatusCode(success)
		op.query.Log(resp)
		return nil
	}
	s.mu.Lock()
	n := op.fetches
	op.fetches++
	s.mu.Unlock()
	var resp tcli.TFetchResultsResp
	switch q := op.query; {
	case q.Fetch != nil:
		resp = q.Fetch(ctx, n, args.GetReq().GetMaxRows())
	case n < len(q.Fetches):
		resp = q.Fetches[n]
	default:
		resp = Empty()
	}
	s.finish(resp.Message())
	result.SetSuccess(resp)
	return nil
}

// finish finishes a message that several goroutines may send.
func (s *Server) finish(m *nocopy.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.Finish()
}

// Empty returns the reply to a fetch after the last row.
func Empty() tcli.TFetchResultsResp {
	resp := tcli.NewTFetchResultsResp()
	resp.NewStatus().SetStatusCode(success)
	resp.SetHasMoreRows(false)
	resp.NewResults().NewRows(0)
	return resp
}

func (s *Server) CancelOperation(_ context.Context, args tcli.TCLIServiceCancelOperationArgs, result tcli.TCLIServiceCancelOperationResult) error {
	s.note("CancelOperation")
	status := result.NewSuccess().NewStatus()
	op := s.operation(args.GetReq().GetOperationHandle())
	if op == nil {
		unknown(status)
		return nil
	}
	s.mu.Lock()
	op.canceled = true
	s.mu.Unlock()
	status.SetStatusCode(success)
	return nil
}

func (s *Server) CloseOperation(_ context.Context, args tcli.TCLIServiceCloseOperationArgs, result tcli.TCLIServiceCloseOperationResult) error {
	s.note("CloseOperation")
	status := result.NewSuccess().NewStatus()
	if s.operation(args.GetReq().GetOperationHandle()) == nil {
		unknown(status)
		return nil
	}
	s.mu.Lock()
	delete(s.operations, string(args.GetReq().GetOperationHandle().GetOperationId().GetGUID()))
	s.mu.Unlock()
	status.SetStatusCode(success)
	return nil
}

// Load returns the recorded queries below dir, by their statements: each has a folder with the
// files statement.sql, schema.thrift and fetch-0.thrift, and so on. The statement is sql, without
// its last line feed.
func Load(dir string) (map[string]*Query, error) {
	folders, err := filepath.Glob(filepath.Join(dir, "*", "statement.sql"))
	if err != nil {
		return nil, err
	}
	queries := map[string]*Query{}
	for _, name := range folders {
		sql, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		q := &Query{}
		folder := filepath.Dir(name)
		b, err := os.ReadFile(filepath.Join(folder, "schema.thrift"))
		if err != nil {
			return nil, err
		}
		if q.Schema, err = tcli.ParseTGetResultSetMetadataResp(b); err != nil {
			return nil, fmt.Errorf("%s: %w", folder, err)
		}
		for i := 0; ; i++ {
			b, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("fetch-%d.thrift", i)))
			if os.IsNotExist(err) {
				break
			}
			if err != nil {
				return nil, err
			}
			fetch, err := tcli.ParseTFetchResultsResp(b)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", folder, err)
			}
			q.Fetches = append(q.Fetches, fetch)
		}
		queries[string(bytes.TrimSuffix(sql, []byte("\n")))] = q
	}
	return queries, nil
}
