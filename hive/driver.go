package hive

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// This file is the driver for database/sql.

func init() { sql.Register("hive", Driver{}) }

// Driver is the driver that database/sql knows as "hive". [ParseDSN] says what data source names
// look like. Use sql.OpenDB([NewConnector](cfg)) for what they can't say.
//
// Values that are read are bool, int64, float64, []byte for BINARY, time.Time in Config.Location
// for TIMESTAMP and DATE, and string for all others, such as DECIMAL, and ARRAY as JSON. The types
// of columns that database/sql says hold NULL, such as sql.NullInt64. Arguments are those of
// [Conn.Start].
//
// A connection of database/sql's is a session of the server, which keeps what statements have
// changed: the database of USE, the settings of SET, temporary tables and views, functions, and
// files of ADD. The pool later gives it to any other part of the program. Set Config.Database and
// Settings, which all sessions have; use a sql.Conn for statements that belong together; or set
// Config.ResetSession, and each use begins with a new session.
//
// Statements are cancelled when their contexts end. There are no transactions, and no ids of
// rows.
type Driver struct{}

// Open connects to the server that a data source name says.
func (d Driver) Open(dsn string) (driver.Conn, error) {
	c, err := d.OpenConnector(dsn)
	if err != nil {
		return nil, err
	}
	return c.Connect(context.Background())
}

// OpenConnector parses a data source name.
func (Driver) OpenConnector(dsn string) (driver.Connector, error) {
	cfg, err := ParseDSN(dsn)
	if err != nil {
		return nil, err
	}
	return NewConnector(cfg), nil
}

// NewConnector returns a Connector for sql.OpenDB.
func NewConnector(cfg Config) driver.Connector { return connector{&cfg} }

// connector has a pointer, since package fmt would print the secrets of a Config.
type connector struct{ cfg *Config }

func (c connector) Driver() driver.Driver { return Driver{} }

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := Connect(ctx, *c.cfg)
	if err != nil {
		return nil, err
	}
	return &sqlConn{c: conn}, nil
}

// sqlConn is a connection of database/sql's, which uses it in one goroutine at a time.
type sqlConn struct {
	c    *Conn
	bad  bool // no call will succeed any more
	used bool // there was a statement in its session
}

var (
	_ driver.QueryerContext     = (*sqlConn)(nil)
	_ driver.ExecerContext      = (*sqlConn)(nil)
	_ driver.ConnPrepareContext = (*sqlConn)(nil)
	_ driver.ConnBeginTx        = (*sqlConn)(nil)
	_ driver.Pinger             = (*sqlConn)(nil)
	_ driver.SessionResetter    = (*sqlConn)(nil)
	_ driver.Validator          = (*sqlConn)(nil)
	_ driver.NamedValueChecker  = (*sqlConn)(nil)
)

// note notes what an error says about the connection, and returns it.
func (c *sqlConn) note(err error) error {
	if errors.Is(err, rpc.ErrNotSent) || errors.Is(err, rpc.ErrConnLost) || errors.Is(err, ErrSession) {
		c.bad = true
	}
	return err
}

// notBegun is note for a call that has done nothing if it failed: database/sql may make it again.
func (c *sqlConn) notBegun(err error) error {
	if c.note(err); errors.Is(err, rpc.ErrNotSent) || errors.Is(err, ErrSession) {
		return fmt.Errorf("%w: %w", driver.ErrBadConn, err) // DB.Ping returns it
	}
	return err
}

func (c *sqlConn) Close() error {
	err := c.c.Close()
	if c.bad { // there was nothing to be closed
		return nil
	}
	return err
}

func (c *sqlConn) Ping(ctx context.Context) error { return c.notBegun(c.c.Ping(ctx)) }

func (c *sqlConn) IsValid() bool { return !c.bad }

// ResetSession is called before the connection is used again. After an error, the pool makes
// another one.
func (c *sqlConn) ResetSession(ctx context.Context) error {
	if !c.bad && c.used && c.c.cfg.ResetSession {
		if err := c.c.reset(ctx); err != nil {
			c.bad = true
		}
		c.used = false
	}
	if c.bad {
		return driver.ErrBadConn
	}
	return nil
}

// CheckNamedValue accepts what is written as a DECIMAL, which is no driver.Value. The rest is left
// to database/sql.
func (c *sqlConn) CheckNamedValue(v *driver.NamedValue) error {
	arg, err := resolved(v.Value)
	if err != nil {
		return err
	}
	v.Value = arg
	if _, ok := arg.(Decimal); ok {
		return nil
	}
	return driver.ErrSkip
}

func (c *sqlConn) Begin() (driver.Tx, error) { return nil, errTransaction }

func (c *sqlConn) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) {
	return nil, errTransaction
}

var errTransaction = errors.New("hive: there are no transactions")

func (c *sqlConn) Prepare(text string) (driver.Stmt, error) { return &sqlStmt{c, text}, nil }

func (c *sqlConn) PrepareContext(_ context.Context, text string) (driver.Stmt, error) {
	return c.Prepare(text)
}

// run runs a statement until it has ended.
func (c *sqlConn) run(ctx context.Context, text string, named []driver.NamedValue) (*Result, error) {
	args := make([]any, len(named))
	for i, v := range named {
		if v.Name != "" {
			return nil, fmt.Errorf("hive: the argument %q has a name: there are placeholders ? alone", v.Name)
		}
		args[i] = v.Value
	}
	c.used = true
	r, err := c.c.Start(ctx, text, args...)
	if err != nil {
		return nil, c.notBegun(err)
	}
	if err := r.Wait(nil); err != nil {
		r.Close()
		return nil, c.note(err)
	}
	return r, nil
}

func (c *sqlConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	r, err := c.run(ctx, text, args)
	if err != nil {
		return nil, err
	}
	return newRows(c, r), nil
}

func (c *sqlConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	r, err := c.run(ctx, text, args)
	if err != nil {
		return nil, err
	}
	n, known := r.RowsAffected()
	return sqlResult{n, known}, c.note(r.Close())
}

// sqlResult is the result of Exec.
type sqlResult struct {
	rows  int64
	known bool
}

func (sqlResult) LastInsertId() (int64, error) {
	return 0, errors.New("hive: rows have no ids")
}

func (r sqlResult) RowsAffected() (int64, error) {
	if !r.known {
		return 0, errors.New("hive: the server does not tell how many rows were affected")
	}
	return r.rows, nil
}

// sqlStmt is a statement. The server does not know of it before it is run.
type sqlStmt struct {
	c    *sqlConn
	text string
}

func (s *sqlStmt) Close() error  { return nil }
func (s *sqlStmt) NumInput() int { return -1 } // bind counts them

func (s *sqlStmt) Exec(args []driver.Value) (driver.Result, error) {
	return s.ExecContext(context.Background(), numbered(args))
}

func (s *sqlStmt) Query(args []driver.Value) (driver.Rows, error) {
	return s.QueryContext(context.Background(), numbered(args))
}

func (s *sqlStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.c.ExecContext(ctx, s.text, args)
}

func (s *sqlStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.c.QueryContext(ctx, s.text, args)
}

// CheckNamedValue accepts what the connection does.
func (s *sqlStmt) CheckNamedValue(v *driver.NamedValue) error { return s.c.CheckNamedValue(v) }

func numbered(args []driver.Value) []driver.NamedValue {
	named := make([]driver.NamedValue, len(args))
	for i, v := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return named
}

// copyTexts replaces texts by copies that outlive the batch. Short ones share blocks of at most 4
// KiB. This saves allocations, and a text that is kept keeps few others alive.
func copyTexts(texts []string) {
	const most = 4 << 10
	var b strings.Builder
	for i := 0; i < len(texts); {
		size, end := len(texts[i]), i+1
		for end < len(texts) && size+len(texts[end]) <= most {
			size += len(texts[end])
			end++
		}
		b.Grow(size)
		for _, t := range texts[i:end] {
			b.WriteString(t)
		}
		all := b.String()
		for ; i < end; i++ {
			texts[i], all = all[:len(texts[i])], all[len(texts[i]):]
		}
		b = strings.Builder{}
	}
}
