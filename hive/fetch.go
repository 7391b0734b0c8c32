package hive

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nocopythrift/nocopythrift/hive/internal/tcli"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// reply is the rows of one reply, whose columns were checked.
type reply struct {
	call    tcli.TCLIServiceFetchResultsResult
	columns []tcli.TColumn
	rows    int
	size    int // in bytes
	zone    zoneSpan
	err     error
}

// release gives back the memory. The zero reply has none.
func (r reply) release() { r.call.Release() }

func stateName(s tcli.TOperationState) string { return strings.TrimSuffix(s.String(), "_STATE") }

// schema asks for the columns of a query that has ended.
func (c *Conn) schema(ctx context.Context, op *operation) ([]ColumnInfo, error) {
	r, err := c.client.GetResultSetMetadata(ctx, func(args tcli.TCLIServiceGetResultSetMetadataArgs) {
		op.put(args.NewReq().NewOperationHandle())
	})
	if err != nil {
		return nil, hiveError("asking for the columns", err)
	}
	defer r.Release()
	if err := statusError(r.GetSuccess().GetStatus()); err != nil {
		return nil, err
	}
	if !r.GetSuccess().IsSetSchema() {
		return nil, badReply("GetResultSetMetadata.success.schema", "there is none")
	}
	return columnsOf(r.GetSuccess().GetSchema())
}

// fetch asks for rows. It asks again if the server has none yet, but says that there are more.
func (c *Conn) fetch(ctx context.Context, op *operation, columns []ColumnInfo, rows int) reply {
	for pause := time.Millisecond; ; pause = min(2*pause, time.Second) {
		before := c.zone.mark()
		call, err := c.client.FetchResults(ctx, func(args tcli.TCLIServiceFetchResultsArgs) {
			req := args.NewReq()
			op.put(req.NewOperationHandle())
			req.SetOrientation(tcli.TFetchOrientation_FETCH_NEXT)
			req.SetMaxRows(int64(rows))
		})
		if errors.Is(err, nocopy.ErrLimit) {
			return reply{err: fmt.Errorf("hive: the server's reply to a request for %d rows is too large; Config.MaxReply is %d: %w", rows, c.cfg.MaxReply, err)}
		}
		if err != nil {
			return reply{err: hiveError("fetching rows", err)}
		}
		resp := call.GetSuccess()
		if err := statusError(resp.GetStatus()); err != nil {
			call.Release()
			return reply{err: err}
		}
		waits := resp.GetStatus().GetStatusCode() == tcli.TStatusCode_STILL_EXECUTING_STATUS
		rep := checked(call, columns)
		rep.zone = zoneSpan{before, c.zone.mark()}
		if rep.err != nil {
			call.Release()
			return rep
		}
		if rep.rows > 0 || !resp.GetHasMoreRows() && !waits {
			return rep
		}
		rep.release()
		if err := sleep(ctx, pause); err != nil {
			return reply{err: hiveError("fetching rows", err)}
		}
	}
}

const rowSetPath = "FetchResults.success.results"

// checked checks the columns of a reply: their number, their kinds and their lengths.
func checked(call tcli.TCLIServiceFetchResultsResult, columns []ColumnInfo) reply {
	rep := reply{call: call, size: call.Message().Len()}
	set := call.GetSuccess().GetResults()
	if n := len(set.GetBinaryColumns()); n > 0 {
		rep.err = badReply(rowSetPath+".binaryColumns", "the server has serialized rows in its tasks: set hive.server2.thrift.resultset.serialize.in.tasks to false")
		return rep
	}
	if n := set.GetRows().Len(); n > 0 {
		rep.err = badReply(rowSetPath+".rows", "%d rows, where columns are expected", n)
		return rep
	}
	list := set.GetColumns()
	if list.Len() == 0 {
		return rep
	}
	if list.Len() != len(columns) {
		rep.err = badReply(rowSetPath+".columns", "%d columns, where the schema has %d", list.Len(), len(columns))
		return rep
	}
	rep.columns = make([]tcli.TColumn, 0, len(columns))
	for i, col := range list.All() {
		path := func() string { return fmt.Sprintf("%s.columns[%d]", rowSetPath, i) }
		if which, want := col.Which(), columns[i].Type.arm(); which != want {
			rep.err = badReply(path(), "the column %q is %v, which does not come as %v", columns[i].Name, columns[i].Type, which)
			return rep
		}
		n := columnLen(col)
		if i > 0 && n != rep.rows {
			rep.err = badReply(path(), "the column %q has %d values, others have %d", columns[i].Name, n, rep.rows)
			return rep
		}
		rep.rows = n
		rep.columns = append(rep.columns, col)
	}
	return rep
}

// columnLen returns how many values a column has.
func columnLen(c tcli.TColumn) int {
	switch c.Which() {
	case tcli.TColumn_BoolVal:
		return c.GetBoolVal().GetValues().Len()
	case tcli.TColumn_ByteVal:
		return c.GetByteVal().GetValues().Len()
	case tcli.TColumn_I16Val:
		return c.GetI16Val().GetValues().Len()
	case tcli.TColumn_I32Val:
		return c.GetI32Val().GetValues().Len()
	case tcli.TColumn_I64Val:
		return c.GetI64Val().GetValues().Len()
	case tcli.TColumn_DoubleVal:
		return c.GetDoubleVal().GetValues().Len()
	case tcli.TColumn_StringVal:
		return c.GetStringVal().GetValues().Len()
	case tcli.TColumn_BinaryVal:
		return c.GetBinaryVal().GetValues().Len()
	}
	return 0
}

// columnNulls returns the bitmap of a column.
func columnNulls(c tcli.TColumn) []byte {
	switch c.Which() {
	case tcli.TColumn_BoolVal:
		return c.GetBoolVal().GetNulls()
	case tcli.TColumn_ByteVal:
		return c.GetByteVal().GetNulls()
	case tcli.TColumn_I16Val:
		return c.GetI16Val().GetNulls()
	case tcli.TColumn_I32Val:
		return c.GetI32Val().GetNulls()
	case tcli.TColumn_I64Val:
		return c.GetI64Val().GetNulls()
	case tcli.TColumn_DoubleVal:
		return c.GetDoubleVal().GetNulls()
	case tcli.TColumn_StringVal:
		return c.GetStringVal().GetNulls()
	case tcli.TColumn_BinaryVal:
		return c.GetBinaryVal().GetNulls()
	}
	return nil
}
