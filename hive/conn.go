package hive

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/hive/internal/tcli"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// Conn is a session with a server. Any number of goroutines may use it, and several Results may
// be open at the same time; the server handles calls of a binary connection one after the other.
type Conn struct {
	cfg     *Config // not printed by package fmt
	caller  caller
	client  tcli.TCLIServiceClient
	session identifier
	zone    sessionZone

	// Holds a value while a statement is being given to the server. If its caller has gone away,
	// it is held until the server has answered and the query is closed.
	starting chan struct{}

	mu     sync.Mutex     // for closed, where it decides whether ending begins
	ending sync.WaitGroup // what ends queries whose contexts have ended
	closed atomic.Bool
	once   sync.Once // for Close
}

// inBackground calls f, for which Close waits. It does nothing if the Conn is closed already.
func (c *Conn) inBackground(f func()) {
	c.mu.Lock()
	if c.closed.Load() {
		c.mu.Unlock()
		return
	}
	c.ending.Add(1)
	c.mu.Unlock()
	defer c.ending.Done()
	f()
}

// identifier is the server's name for a session or an operation.
type identifier struct{ guid, secret []byte }

func identifierOf(h tcli.THandleIdentifier) identifier {
	return identifier{slices.Clone(h.GetGUID()), slices.Clone(h.GetSecret())}
}

func (id identifier) put(h tcli.THandleIdentifier) {
	h.SetGUID(id.guid)
	h.SetSecret(id.secret)
}

// clientProtocol is the newest version that all servers alive know: others refuse what they do
// not know. Newer ones have nothing that is used here.
const clientProtocol = tcli.TProtocolVersion_HIVE_CLI_SERVICE_PROTOCOL_V8

// newConn returns a Conn that is not connected.
func newConn(cfg Config) *Conn {
	cfg = cfg.withDefaults()
	return &Conn{
		cfg:      &cfg,
		starting: make(chan struct{}, 1),
		zone:     sessionZone{loc: cfg.Location, turn: make(chan struct{}, 1), asked: -1},
	}
}

// Connect opens a session. If there are several servers, it tries them one after the other until
// one has opened it; the session stays there. After a refused login it tries no other server. ctx
// bounds connecting alone. The caller must Close the Conn.
func Connect(ctx context.Context, cfg Config) (*Conn, error) { return connectAny(ctx, cfg) }

// connectTo opens a session with the one server that cfg.Addr is.
func connectTo(ctx context.Context, cfg Config) (_ *Conn, err error) {
	c := newConn(cfg)
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	var reached atomic.Bool
	defer func() {
		if err != nil && reached.Load() && c.session.guid == nil {
			err = c.cfg.advised(err)
		}
	}()
	if c.caller, err = c.cfg.dial(ctx, &reached); err != nil {
		return nil, hiveError("connecting", err)
	}
	c.client = tcli.NewTCLIServiceClient(c.caller)
	if err := c.openSession(ctx); err != nil {
		c.caller.Close()
		return nil, err
	}
	return c, nil
}

// hiveError says what has failed, unless the server does.
func hiveError(what string, err error) error {
	var e *Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	return fmt.Errorf("hive: %s: %w", what, err)
}

// openSession opens a session, and sets its time zone. A server may refuse that: then checkZone
// finds out what the zone is.
func (c *Conn) openSession(ctx context.Context) error {
	name, err := zoneName(c.zone.loc)
	if err != nil {
		return err
	}
	settings := maps.Clone(c.cfg.Settings)
	_, chosen := settings[hiveconf+sparkZone]
	if !chosen {
		settings[hiveconf+sparkZone] = name
	}
	err = c.openWith(ctx, settings)
	if e := refusal(err); e != nil && !chosen && strings.Contains(e.Message, sparkZone) {
		c.zone.refused = e
		err = c.openWith(ctx, c.cfg.Settings)
	}
	if err != nil {
		return err
	}
	return c.setHiveZone(ctx, name)
}

// openWith opens a session with these settings.
func (c *Conn) openWith(ctx context.Context, settings map[string]string) error {
	r, err := c.client.OpenSession(ctx, func(args tcli.TCLIServiceOpenSessionArgs) {
		req := args.NewReq()
		req.SetClientProtocol(clientProtocol)
		req.SetUsername(c.cfg.User)
		req.SetPassword(c.cfg.Password)
		if len(settings) > 0 {
			req.SetConfigurationMap(settings)
		}
	})
	if err != nil {
		return hiveError("opening a session", err)
	}
	defer r.Release()
	resp := r.GetSuccess()
	if err := statusError(resp.GetStatus()); err != nil {
		return err
	}
	if v := resp.GetServerProtocolVersion(); v < tcli.TProtocolVersion_HIVE_CLI_SERVICE_PROTOCOL_V6 {
		return fmt.Errorf("hive: the server speaks %v: results in columns need version 6, of Hive 0.13", v)
	}
	if !resp.IsSetSessionHandle() {
		return badReply("OpenSession.success.sessionHandle", "there is none")
	}
	c.session = identifierOf(resp.GetSessionHandle().GetSessionId())
	return nil
}

// Close closes the session, with all its queries, and the connection. It waits for queries that
// are being cancelled, each for at most Config.Timeout. Results must not be used any more: they
// fail with ErrClosed.
func (c *Conn) Close() error {
	err := ErrClosed
	c.once.Do(func() {
		c.mu.Lock()
		c.closed.Store(true)
		c.mu.Unlock()
		c.ending.Wait()
		ctx, cancel := c.short(context.Background())
		defer cancel()
		err = c.closeSession(ctx)
		c.caller.Close()
	})
	return err
}

func (c *Conn) closeSession(ctx context.Context) error {
	r, err := c.client.CloseSession(ctx, func(args tcli.TCLIServiceCloseSessionArgs) {
		c.session.put(args.NewReq().NewSessionHandle().NewSessionId())
	})
	if err != nil {
		return hiveError("closing the session", err)
	}
	defer r.Release()
	return statusError(r.GetSuccess().GetStatus())
}

// reset closes the session and opens a new one. There must be no Result of the old one.
func (c *Conn) reset(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	select {
	case c.starting <- struct{}{}: // not before a statement that was given up is accepted
		defer func() { <-c.starting }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := c.closeSession(ctx); err != nil && !errors.Is(err, ErrSession) {
		return err
	}
	c.zone.renew()
	return c.openSession(ctx)
}

// short returns a context for a call that ends something: also when ctx has ended.
func (c *Conn) short(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), c.cfg.Timeout)
}

// Ping asks the server whether it knows the session. The error wraps ErrSession if it does not.
func (c *Conn) Ping(ctx context.Context) error {
	_, err := c.info(ctx, tcli.TGetInfoType_CLI_DBMS_NAME)
	return err
}

// Server returns the name and the version of the server's software, such as "Spark SQL", "3.5.5".
func (c *Conn) Server(ctx context.Context) (name, version string, err error) {
	if name, err = c.info(ctx, tcli.TGetInfoType_CLI_DBMS_NAME); err != nil {
		return "", "", err
	}
	version, err = c.info(ctx, tcli.TGetInfoType_CLI_DBMS_VER)
	return name, version, err
}

func (c *Conn) info(ctx context.Context, what tcli.TGetInfoType) (string, error) {
	if c.closed.Load() {
		return "", ErrClosed
	}
	r, err := c.client.GetInfo(ctx, func(args tcli.TCLIServiceGetInfoArgs) {
		req := args.NewReq()
		c.session.put(req.NewSessionHandle().NewSessionId())
		req.SetInfoType(what)
	})
	if err != nil {
		return "", hiveError("asking for the server's name", err)
	}
	defer r.Release()
	if err := statusError(r.GetSuccess().GetStatus()); err != nil {
		return "", err
	}
	return bounded(r.GetSuccess().GetInfoValue().GetStringValue()), nil
}

// Query runs a statement and waits until it has ended. Placeholders in it, which are question
// marks outside of quotes and comments, are replaced by args: see [Conn.Start]. ctx bounds the
// query and the reading of its result: when it ends, the query is cancelled. The caller must
// Close the Result.
func (c *Conn) Query(ctx context.Context, sql string, args ...any) (*Result, error) {
	r, err := c.Start(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return r.waited()
}

// Exec runs a statement that has no result, or whose result is not needed.
func (c *Conn) Exec(ctx context.Context, sql string, args ...any) error {
	r, err := c.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	return r.Close()
}

// Start begins a statement, and returns as soon as the server has accepted it. [Result.Wait]
// waits for it, and shows its progress. Otherwise Start is like Query.
//
// The client writes args into the statement as literals, which mean the same with any
// contents:
//
//	nil, nil pointers                   NULL
//	bool, integers, floats              numbers; floats as DOUBLE
//	uint64 from 1<<63 on                DECIMAL(38, 0)
//	string                              a literal; it must be UTF-8
//	[]byte                              BINARY
//	time.Time                           TIMESTAMP in Config.Location, of the years 1 to 9999
//	Decimal, structs that embed one     DECIMAL(38, Scale)
//	driver.Valuer, sql.Null, pointers,
//	own types                           the value that they have or point to
//
// If there are no args, the statement is sent as it is.
func (c *Conn) Start(ctx context.Context, sql string, args ...any) (*Result, error) {
	l := literals{zone: clock{loc: c.zone.loc}}
	text, err := l.bind(sql, args)
	if err != nil {
		return nil, err
	}
	if err := c.take(ctx); err != nil {
		return nil, err
	}
	if len(l.times) > 0 {
		if text, err = c.checkTimes(ctx, &l, text, sql, args); err != nil {
			<-c.starting
			return nil, err
		}
	}
	return c.begin(ctx, mayChangeZone(text), func(ctx context.Context) operation { return c.execute(ctx, text) })
}

// take waits until starting is free, and takes it.
func (c *Conn) take(ctx context.Context) error {
	if c.closed.Load() {
		return ErrClosed
	}
	if ctx.Err() != nil { // select would choose at random
		return hiveError("starting a query", context.Cause(ctx))
	}
	select {
	case c.starting <- struct{}{}:
		return nil
	case <-ctx.Done():
		return hiveError("starting a query", context.Cause(ctx))
	}
}

// begin makes the call that starts an operation, and frees starting afterwards. changes says that
// the operation may change the session's time zone.
func (c *Conn) begin(ctx context.Context, changes bool, call func(context.Context) operation) (*Result, error) {
	started := make(chan operation, 1)
	if changes {
		c.zone.count(1)
	}
	go func() {
		op := call(context.WithoutCancel(ctx))
		if op.changesZone = changes; changes && op.err != nil {
			c.zone.count(-1)
		}
		started <- op
		<-c.starting
	}()
	select {
	case op := <-started:
		if op.err != nil {
			return nil, op.err
		}
		return newResult(ctx, c, op), nil
	case <-ctx.Done():
		c.abandon(started)
		return nil, hiveError("starting a query", context.Cause(ctx))
	}
}

// operation is the server's answer to a statement that it has accepted.
type operation struct {
	identifier
	kind        tcli.TOperationType
	hasRows     bool
	modified    int64 // rows; -1 if that is not known
	changesZone bool  // it may change the session's time zone
	err         error // it has not accepted it
}

// execute gives a statement to the server.
func (c *Conn) execute(ctx context.Context, sql string) operation {
	r, err := c.client.ExecuteStatement(ctx, func(args tcli.TCLIServiceExecuteStatementArgs) {
		req := args.NewReq()
		c.session.put(req.NewSessionHandle().NewSessionId())
		req.SetStatement(sql)
		req.SetRunAsync(true)
	})
	if err != nil {
		return operation{err: hiveError("starting a query", err)}
	}
	defer r.Release()
	resp := r.GetSuccess()
	return accepted("ExecuteStatement", resp.GetStatus(), resp.GetOperationHandle())
}

// accepted returns the operation of a server's answer to a call.
func accepted(call string, status tcli.TStatus, h tcli.TOperationHandle) operation {
	if err := statusError(status); err != nil {
		return operation{err: err}
	}
	if !h.Valid() {
		return operation{err: badReply(call+".success.operationHandle", "there is none")}
	}
	op := operation{
		identifier: identifierOf(h.GetOperationId()),
		kind:       h.GetOperationType(), hasRows: h.GetHasResultSet(), modified: -1,
	}
	if h.IsSetModifiedRowCount() {
		op.modified = int64(h.GetModifiedRowCount())
	}
	return op
}

// abandon ends a query that nobody waits for any more, as soon as the server has accepted it.
func (c *Conn) abandon(started <-chan operation) {
	go c.inBackground(func() {
		timer := time.NewTimer(c.cfg.Timeout)
		defer timer.Stop()
		select {
		case op := <-started:
			if op.err == nil {
				c.cancelAndClose(op)
				op.endChange(c)
			}
		case <-timer.C: // the session's end will be the query's
		}
	})
}

// cancelAndClose ends an operation, which may be running. Errors have no consequences: the
// session's end is also the operation's.
func (c *Conn) cancelAndClose(op operation) {
	ctx, cancel := c.short(context.Background())
	defer cancel()
	c.aside(ctx, func(client tcli.TCLIServiceClient) error {
		if err := op.cancel(ctx, client); err != nil {
			return err
		}
		return op.close(ctx, client)
	})
}

// aside calls f with a client whose calls do not wait for those of the session.
func (c *Conn) aside(ctx context.Context, f func(tcli.TCLIServiceClient) error) error {
	if c.cfg.HTTP {
		return f(c.client)
	}
	second, err := c.cfg.dial(ctx, new(atomic.Bool))
	if err != nil {
		return hiveError("connecting, to cancel", err)
	}
	defer second.Close()
	return f(tcli.NewTCLIServiceClient(second))
}

// endChange notes that the statement does not change the session's time zone any more.
func (op *operation) endChange(c *Conn) {
	if op.changesZone {
		op.changesZone = false
		c.zone.count(-1)
	}
}

func (op *operation) put(h tcli.TOperationHandle) {
	op.identifier.put(h.NewOperationId())
	h.SetOperationType(op.kind)
	h.SetHasResultSet(op.hasRows)
}

func (op *operation) cancel(ctx context.Context, client tcli.TCLIServiceClient) error {
	r, err := client.CancelOperation(ctx, func(args tcli.TCLIServiceCancelOperationArgs) {
		op.put(args.NewReq().NewOperationHandle())
	})
	if err != nil {
		return hiveError("cancelling a query", err)
	}
	defer r.Release()
	return statusError(r.GetSuccess().GetStatus())
}

func (op *operation) close(ctx context.Context, client tcli.TCLIServiceClient) error {
	r, err := client.CloseOperation(ctx, func(args tcli.TCLIServiceCloseOperationArgs) {
		op.put(args.NewReq().NewOperationHandle())
	})
	if err != nil {
		return hiveError("closing a query", err)
	}
	defer r.Release()
	return statusError(r.GetSuccess().GetStatus())
}

var _ caller = (*rpc.Client)(nil)
