package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"runtime/debug"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
	protocol "github.com/tliron/glsp/protocol_3_16"
)

// server answers an editor. It handles one message after the other, in a goroutine that the one
// which reads messages feeds. Only the analyzer works beside it.
type server struct {
	*workspace
	conn     *jsonrpc2.Conn
	analyzer *analyzer
	dirs     []string // of the command line

	queue chan *jsonrpc2.Request
	mu    sync.Mutex
	ends  map[jsonrpc2.ID]context.CancelCauseFunc // of requests that are not answered
	ctxs  map[jsonrpc2.ID]context.Context

	ctx         context.Context // of the request that is being handled
	initialized bool
	shutdown    bool
	exited      bool
	changed     bool // documents have changed since the last snapshot
	disk        bool // files on disk may have
	watched     bool // the editor tells changes on disk
}

// The codes of errors that the protocol adds to those of JSON-RPC.
const (
	codeNotInitialized = -32002
	codeCancelled      = -32800
	codeRequestFailed  = -32803
)

var errCancelled = &jsonrpc2.Error{Code: codeCancelled, Message: "cancelled"}

// failed returns the error for a request that can't be done, with a message for the user.
func failed(format string, args ...any) error {
	return &jsonrpc2.Error{Code: codeRequestFailed, Message: fmt.Sprintf(format, args...)}
}

// stream makes a connection of a reader and a writer.
type stream struct {
	io.Reader
	io.Writer
}

func (stream) Close() error { return nil }

// maxQueue is how many messages may wait. The editor's next one waits in the pipe.
const maxQueue = 256

func newServer(set settings) *server {
	s := &server{
		workspace: newWorkspace(), analyzer: newAnalyzer(), dirs: set.dirs, queue: make(chan *jsonrpc2.Request, maxQueue),
		ends: map[jsonrpc2.ID]context.CancelCauseFunc{}, ctxs: map[jsonrpc2.ID]context.Context{},
	}
	s.workspace.dirs, s.analyzer.settings = set.dirs, set
	return s
}

// serve answers an editor until it ends the connection, and reports whether it has asked for that
// by a shutdown.
func serve(ctx context.Context, in io.Reader, out io.Writer, set settings) bool {
	s := newServer(set)
	ready := make(chan struct{})
	s.analyzer.tell = s.tell
	s.analyzer.clear = func(uri string) {
		s.notify(protocol.ServerTextDocumentPublishDiagnostics, protocol.PublishDiagnosticsParams{URI: uri, Diagnostics: []protocol.Diagnostic{}})
	}
	s.analyzer.warn = func(message string) {
		s.notify(protocol.ServerWindowShowMessage, protocol.ShowMessageParams{Type: protocol.MessageTypeWarning, Message: message})
	}
	s.conn = jsonrpc2.NewConn(ctx, jsonrpc2.NewBufferedStream(stream{in, out}, jsonrpc2.VSCodeObjectCodec{}),
		reader{s, ready}, jsonrpc2.SetLogger(log.New(os.Stderr, "nocopy lsp: ", 0)))
	close(ready)
	var analyzing sync.WaitGroup
	analyzing.Go(s.analyzer.run)
	s.work()
	s.analyzer.stop()
	_ = s.conn.Close()
	analyzing.Wait()
	return s.shutdown
}

// reader gets the messages from the connection.
type reader struct {
	*server
	ready chan struct{} // closed when conn is set
}

// Handle implements jsonrpc2.Handler.
func (r reader) Handle(ctx context.Context, _ *jsonrpc2.Conn, m *jsonrpc2.Request) {
	<-r.ready
	if m.Method == string(protocol.MethodCancelRequest) {
		var p struct{ ID jsonrpc2.ID }
		if m.Params != nil && json.Unmarshal(*m.Params, &p) == nil {
			r.mu.Lock()
			if end := r.ends[p.ID]; end != nil {
				end(errCancelled)
			}
			r.mu.Unlock()
		}
		return
	}
	if !m.Notif {
		ctx, end := context.WithCancelCause(ctx)
		r.mu.Lock()
		r.ends[m.ID], r.ctxs[m.ID] = end, ctx
		r.mu.Unlock()
	}
	select {
	case r.queue <- m:
	case <-ctx.Done():
	}
}

// work handles messages until the connection ends. If none is waiting, it does what can wait: it
// gives the analyzer what has changed, and reads files of the workspace.
func (s *server) work() {
	for !s.exited {
		select {
		case m := <-s.queue:
			s.handle(m)
			continue
		default:
		}
		s.submit()
		if s.index() {
			continue
		}
		select {
		case m := <-s.queue:
			s.handle(m)
		case <-s.conn.DisconnectNotify():
			select {
			case m := <-s.queue: // it has arrived before the end
				s.handle(m)
			default:
				return
			}
		}
	}
}

// submit gives the analyzer what has changed.
func (s *server) submit() {
	if !s.changed && !s.disk {
		return
	}
	snap := &snapshot{docs: map[string]*document{}, roots: s.roots, dirs: s.dirs, disk: s.disk}
	for uri, d := range s.open {
		snap.docs[uri] = d
	}
	s.changed, s.disk = false, false
	s.analyzer.submit(snap)
}

// handle answers a message.
func (s *server) handle(m *jsonrpc2.Request) {
	ctx := context.Background()
	if !m.Notif {
		s.mu.Lock()
		if of := s.ctxs[m.ID]; of != nil { // nil if another request had the same id
			ctx = of
		}
		s.mu.Unlock()
	}
	s.ctx = ctx
	clear(s.known)
	result, err := s.answer(m)
	if m.Notif {
		return
	}
	s.mu.Lock()
	delete(s.ends, m.ID)
	delete(s.ctxs, m.ID)
	s.mu.Unlock()
	if context.Cause(ctx) == errCancelled {
		result, err = nil, errCancelled
	}
	if err == nil {
		if result == nil {
			result = json.RawMessage("null")
		}
		_ = s.conn.Reply(context.Background(), m.ID, result)
		return
	}
	var e *jsonrpc2.Error
	if !errors.As(err, &e) {
		e = &jsonrpc2.Error{Code: codeRequestFailed, Message: err.Error()}
	}
	_ = s.conn.ReplyWithError(context.Background(), m.ID, e)
}

// answer calls the method of a message. A panic, which is a mistake of this package, becomes an
// error: the editor's other documents are not to suffer.
func (s *server) answer(m *jsonrpc2.Request) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(os.Stderr, "nocopy lsp: panic in %s, please report this: %v\n%s", m.Method, p, debug.Stack())
			err = &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: fmt.Sprint("panic: ", p)}
		}
	}()
	call, ok := methods[m.Method]
	switch {
	case m.Method == string(protocol.MethodExit):
		s.exited = true
		return nil, nil
	case !s.initialized && m.Method != string(protocol.MethodInitialize):
		return nil, &jsonrpc2.Error{Code: codeNotInitialized, Message: "not initialized"}
	case s.shutdown:
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "after shutdown"}
	case !ok:
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "no method " + m.Method}
	case s.ctx.Err() != nil:
		return nil, errCancelled
	}
	params := json.RawMessage("null")
	if m.Params != nil {
		params = *m.Params
	}
	return call(s, params)
}

// method returns a function with typed parameters as one that takes JSON.
func method[P any](f func(*server, *P) (any, error)) func(*server, json.RawMessage) (any, error) {
	return func(s *server, params json.RawMessage) (any, error) {
		p := new(P)
		if err := json.Unmarshal(params, p); err != nil {
			return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: err.Error()}
		}
		return f(s, p)
	}
}

// methods are all that the server answers. It is set by init, since they refer to it.
var methods map[string]func(*server, json.RawMessage) (any, error)

func init() {
	methods = map[string]func(*server, json.RawMessage) (any, error){
		protocol.MethodInitialize:                     method((*server).initialize),
		protocol.MethodInitialized:                    method((*server).start),
		protocol.MethodShutdown:                       method(func(s *server, _ *any) (any, error) { s.shutdown = true; return nil, nil }),
		protocol.MethodTextDocumentDidOpen:            method((*server).didOpen),
		protocol.MethodTextDocumentDidChange:          method((*server).didChange),
		protocol.MethodTextDocumentDidClose:           method((*server).didClose),
		protocol.MethodTextDocumentDidSave:            method((*server).didSave),
		protocol.MethodWorkspaceDidChangeWatchedFiles: method((*server).didChangeFiles),
		"workspace/didChangeWorkspaceFolders":         method((*server).didChangeFolders),
		protocol.MethodTextDocumentDefinition:         method((*server).definition),
		protocol.MethodTextDocumentReferences:         method((*server).references),
		protocol.MethodTextDocumentPrepareRename:      method((*server).prepareRename),
		protocol.MethodTextDocumentRename:             method((*server).rename),
		protocol.MethodTextDocumentHover:              method((*server).hover),
		protocol.MethodTextDocumentDocumentSymbol:     method((*server).documentSymbols),
		protocol.MethodWorkspaceSymbol:                method((*server).workspaceSymbols),
		protocol.MethodTextDocumentCompletion:         method((*server).completion),
		protocol.MethodTextDocumentFormatting:         method((*server).formatting),
		protocol.MethodTextDocumentRangeFormatting:    method((*server).rangeFormatting),
		protocol.MethodTextDocumentFoldingRange:       method((*server).foldingRanges),
		protocol.MethodTextDocumentSemanticTokensFull: method((*server).semanticTokens),
		protocol.MethodTextDocumentCodeAction:         method((*server).codeActions),
	}
}

// notify sends a notification.
func (s *server) notify(method string, params any) {
	_ = s.conn.Notify(context.Background(), method, params)
}

// tell shows what was found in a document.
func (s *server) tell(d *document, problems []problem) {
	version := uint32(max(d.version, 0))
	list := []protocol.Diagnostic{}
	for _, p := range problems {
		list = append(list, p.diagnostic(d.file.lines()))
	}
	s.notify(protocol.ServerTextDocumentPublishDiagnostics, protocol.PublishDiagnosticsParams{URI: d.uri, Version: &version, Diagnostics: list})
}

// diagnostic returns a problem as the protocol has it.
func (p problem) diagnostic(l *lines) protocol.Diagnostic {
	return protocol.Diagnostic{Range: l.rangeOf(p.span), Severity: &p.severity, Code: &protocol.IntegerOrString{Value: p.code}, Source: &p.source, Message: p.message}
}

// at returns a document's file, and the offset of a position.
func (s *server) at(p protocol.TextDocumentPositionParams) (*file, int, error) {
	f, err := s.file(p.TextDocument.URI)
	if err != nil {
		return nil, 0, err
	}
	return f, f.lines().offset(p.Position), nil
}

// file returns the file of a URI, which need not be open.
func (s *server) file(uri string) (*file, error) {
	if d := s.open[uri]; d != nil {
		return d.file, nil
	}
	if name := pathOf(uri); name != "" {
		if f := s.load(name); f != nil {
			return f, nil
		}
	}
	return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "no document " + uri}
}
