package hive

import (
	"context"
	"database/sql"
	"errors"

	"github.com/nocopythrift/nocopythrift/hive/internal/tcli"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// This file asks for what a server has: databases, tables and columns, and the log of a statement.

// Schemas lists the databases whose names match a pattern: % stands for any characters, _ for one,
// and "" for all names. The columns of the Result are those of JDBC's getSchemas: TABLE_SCHEM and
// TABLE_CATALOG. The caller must Close it.
func (c *Conn) Schemas(ctx context.Context, schema string) (*Result, error) {
	return c.list(ctx, func(ctx context.Context) operation {
		r, err := c.client.GetSchemas(ctx, func(args tcli.TCLIServiceGetSchemasArgs) {
			req := args.NewReq()
			c.session.put(req.NewSessionHandle().NewSessionId())
			pattern(schema, req.SetSchemaName)
		})
		if err != nil {
			return operation{err: hiveError("listing databases", err)}
		}
		defer r.Release()
		return accepted("GetSchemas", r.GetSuccess().GetStatus(), r.GetSuccess().GetOperationHandle())
	})
}

// Tables lists the tables and views whose names match patterns: see [Conn.Schemas]. types, such as
// "TABLE" and "VIEW", are those wanted; none means all. The columns of the Result are those of
// JDBC's getTables, such as TABLE_SCHEM, TABLE_NAME, TABLE_TYPE and REMARKS. The caller must Close
// it.
func (c *Conn) Tables(ctx context.Context, schema, table string, types ...string) (*Result, error) {
	return c.list(ctx, func(ctx context.Context) operation {
		r, err := c.client.GetTables(ctx, func(args tcli.TCLIServiceGetTablesArgs) {
			req := args.NewReq()
			c.session.put(req.NewSessionHandle().NewSessionId())
			pattern(schema, req.SetSchemaName)
			pattern(table, req.SetTableName)
			if len(types) > 0 {
				req.SetTableTypes(types)
			}
		})
		if err != nil {
			return operation{err: hiveError("listing tables", err)}
		}
		defer r.Release()
		return accepted("GetTables", r.GetSuccess().GetStatus(), r.GetSuccess().GetOperationHandle())
	})
}

// Columns lists the columns whose names match patterns: see [Conn.Schemas]. The columns of the
// Result are those of JDBC's getColumns, such as TABLE_SCHEM, TABLE_NAME, COLUMN_NAME, TYPE_NAME
// and ORDINAL_POSITION. The caller must Close it.
func (c *Conn) Columns(ctx context.Context, schema, table, column string) (*Result, error) {
	return c.list(ctx, func(ctx context.Context) operation {
		r, err := c.client.GetColumns(ctx, func(args tcli.TCLIServiceGetColumnsArgs) {
			req := args.NewReq()
			c.session.put(req.NewSessionHandle().NewSessionId())
			pattern(schema, req.SetSchemaName)
			pattern(table, req.SetTableName)
			pattern(column, req.SetColumnName)
		})
		if err != nil {
			return operation{err: hiveError("listing columns", err)}
		}
		defer r.Release()
		return accepted("GetColumns", r.GetSuccess().GetStatus(), r.GetSuccess().GetOperationHandle())
	})
}

// pattern sets a pattern. Servers take an empty one for an empty name.
func pattern(p string, set func(string)) {
	if p != "" {
		set(p)
	}
}

// list makes a call, and waits until its operation has ended.
func (c *Conn) list(ctx context.Context, call func(context.Context) operation) (*Result, error) {
	if err := c.take(ctx); err != nil {
		return nil, err
	}
	r, err := c.begin(ctx, false, call)
	if err != nil {
		return nil, err
	}
	return r.waited()
}

// logLines is how many lines of a log are asked for at once.
const logLines = 1000

// Log returns the lines that the server has logged about the statement since the last call, at
// most 1,000: none if there are no new ones. The function that [Result.Wait] calls may call it, to
// show how a statement proceeds. HiveServer2 has logs unless
// hive.server2.logging.operation.enabled is false, and then the error is an [*Error]. Spark's
// Thrift server has none.
func (r *Result) Log(ctx context.Context) ([]string, error) {
	if r.closed || r.c.closed.Load() {
		return nil, ErrClosed
	}
	call, err := r.c.client.FetchResults(ctx, func(args tcli.TCLIServiceFetchResultsArgs) {
		req := args.NewReq()
		r.op.put(req.NewOperationHandle())
		req.SetOrientation(tcli.TFetchOrientation_FETCH_NEXT)
		req.SetMaxRows(logLines)
		req.SetFetchType(1)
	})
	if err != nil {
		return nil, hiveError("reading a log", err)
	}
	defer call.Release()
	if err := statusError(call.GetSuccess().GetStatus()); err != nil {
		return nil, err
	}
	columns := call.GetSuccess().GetResults().GetColumns()
	if columns.Len() == 0 {
		return nil, nil
	}
	if which := columns.At(0).Which(); which != tcli.TColumn_StringVal {
		return nil, badReply(rowSetPath+".columns[0]", "the lines of a log come as %v", which)
	}
	return linesOf(columns.At(0).GetStringVal().GetValues()), nil
}

// linesOf returns copies of texts, each bounded, at most as many as a log's lines.
func linesOf(l nocopy.StringList) (texts []string) {
	for i, text := range l.All() {
		if i == logLines {
			break
		}
		texts = append(texts, bounded(text))
	}
	return texts
}

// WithConn calls f with the session of a connection of database/sql's, for what database/sql has
// no words for: columns, lists of tables, progress and logs. f must not close it, and must close
// its Results. The connection must be one of this driver's.
func WithConn(conn *sql.Conn, f func(*Conn) error) error {
	return conn.Raw(func(c any) error {
		own, ok := c.(*sqlConn)
		if !ok {
			return errors.New("hive: the connection is one of another driver")
		}
		own.used = true
		return own.note(f(own.c))
	})
}
