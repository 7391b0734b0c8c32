package hive

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/hive/internal/tcli"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// Result is a query and its rows, which come in batches:
//
//	for r.Next() {
//		b := r.Batch()
//		ids, names := b.Column(0).Int64s(), b.Column(1).Strings()
//		…
//	}
//	if err := r.Err(); err != nil {
//		return err
//	}
//
// While the program works on a batch, the next one is fetched. One goroutine at a time may use a
// Result. Cancel may be called by any.
type Result struct {
	c    *Conn
	ctx  context.Context // ends with the one of the query, and with Close
	stop func() bool     // takes back what happens at the end of the query's context
	end  context.CancelFunc
	op   operation
	once sync.Once // for closing the operation

	asks     bool // it answers a question of checkZone's
	finished bool // the statement has been carried out
	columns  []ColumnInfo
	next     chan reply // the reply that is being fetched; nil if none is
	batch    Batch
	rows     int // to ask for next
	err      error
	done     bool // there are no more rows, or Next has failed
	closed   bool

	canceled atomic.Bool
}

// newResult returns the result of an accepted statement, and watches ctx.
func newResult(ctx context.Context, c *Conn, op operation) *Result {
	r := &Result{c: c, op: op, rows: min(firstRows, c.cfg.BatchRows)}
	r.ctx, r.end = context.WithCancel(ctx)
	r.batch.r = r
	r.stop = context.AfterFunc(ctx, func() {
		r.once.Do(func() { c.inBackground(func() { c.cancelAndClose(op) }) })
	})
	return r
}

// Columns describes the columns. It is empty for statements without rows, and before the end of
// Wait, which Next and Conn.Query call. The program must not change it.
func (r *Result) Columns() []ColumnInfo { return r.columns }

// RowsAffected returns how many rows the statement has changed, if the server says. Hive does
// since version 4, Spark does not.
func (r *Result) RowsAffected() (n int64, known bool) { return r.op.modified, r.op.modified >= 0 }

// Err returns the error that has ended Next, or nil.
func (r *Result) Err() error { return r.err }

// Batch returns the rows that Next has found. They are valid until the next call of Next or
// Close: strings and byte slices, too. Copy what must live longer, with strings.Clone for
// example.
func (r *Result) Batch() *Batch { return &r.batch }

// fail notes err as the end of the result, and returns it. If the query's context has ended, or
// it was cancelled, that is the error.
func (r *Result) fail(err error) error {
	if r.err != nil {
		return r.err
	}
	var e *Error
	switch cause := context.Cause(r.ctx); {
	case r.closed:
		err = ErrClosed
	case cause != nil && r.finished:
		err = hiveError("fetching rows", cause)
	case cause != nil:
		err = hiveError("waiting for a query", cause)
	case r.canceled.Load() && !errors.Is(err, ErrCanceled) && errors.As(err, &e):
		err = fmt.Errorf("%w: %w", ErrCanceled, err)
	case r.c.closed.Load():
		err = ErrClosed
	}
	r.err, r.done = err, true
	r.op.endChange(r.c)
	return err
}

// Next fetches the next batch, waiting for the query before. It returns false at the end of the
// rows, and after an error, which Err returns. The previous batch ends.
func (r *Result) Next() bool {
	if r.done {
		return false
	}
	if r.batch.advance() {
		return true
	}
	if err := r.Wait(nil); err != nil || r.done {
		return false
	}
	rep := <-r.next
	r.next = nil
	if rep.err != nil {
		r.fail(rep.err)
		return false
	}
	if rep.rows == 0 {
		rep.release()
		r.done = true
		return false
	}
	r.adapt(rep)
	r.fetch()
	r.batch.set(rep)
	return true
}

// adapt chooses how many rows to ask for, by the size of those that came.
func (r *Result) adapt(rep reply) {
	perRow := max(rep.size/rep.rows, 1)
	// At most eight times as many as now: later rows may be larger
	r.rows = min(max(r.c.cfg.BatchBytes/perRow, 1), r.c.cfg.BatchRows, 8*r.rows)
}

// fetch begins to fetch the next reply.
func (r *Result) fetch() {
	next := make(chan reply, 1)
	r.next = next
	rows := r.rows
	go func() { next <- r.c.fetch(r.ctx, &r.op, r.columns, rows) }()
}

// release gives back the rows that are there, or will be.
func (r *Result) release() {
	r.batch.set(reply{})
	if r.next != nil {
		rep := <-r.next
		rep.release()
		r.next = nil
	}
}

// Cancel ends the query at the server: Next and Wait fail with ErrCanceled, unless all is there
// already. It makes a connection of its own, since the server may be busy with a call of the
// session's. Any goroutine may call it.
func (r *Result) Cancel(ctx context.Context) error {
	r.canceled.Store(true)
	return r.c.aside(ctx, func(client tcli.TCLIServiceClient) error { return r.op.cancel(ctx, client) })
}

// Close ends the query at the server, if it is still running, and gives back its memory here and
// there. Further calls do nothing. If the query's context has ended, it returns nil at once: the
// query is being cancelled.
func (r *Result) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	r.op.endChange(r.c)
	if r.err == nil && !r.done {
		r.err = ErrClosed
	}
	r.done = true
	stopped := r.stop()
	r.end()
	r.release()
	if !stopped {
		return nil
	}
	err := ErrClosed
	r.once.Do(func() {
		if r.c.closed.Load() {
			return
		}
		ctx, cancel := r.c.short(context.Background())
		defer cancel()
		err = r.op.close(ctx, r.c.client)
	})
	return err
}

// Progress is the server's report on a query that runs.
type Progress struct {
	State    string  // such as "RUNNING"
	Percent  float64 // from 0 to 100; -1 if the server does not say
	Header   []string
	Rows     [][]string // a row for each part, in Header's columns, such as "Map 1", "RUNNING", "12"
	Footer   string     // such as "VERTICES: 01/02"
	Tasks    string     // the parts as JSON; "" if there is none
	Started  time.Time  // by the server's clock; zero if it does not say
	Finished time.Time
}

// Wait waits until the statement has been carried out. If progress is not nil, it is called with
// each answer of the server, at most five times per second. Then the columns are known, and the
// first rows are being fetched.
func (r *Result) Wait(progress func(Progress)) error {
	if r.err != nil || r.finished {
		return r.err
	}
	pause := time.Millisecond
	for {
		finished, err := r.poll(progress)
		if err != nil {
			return r.fail(err)
		}
		if finished {
			break
		}
		if err := sleep(r.ctx, pause); err != nil {
			return r.fail(err)
		}
		pause = min(2*pause, 200*time.Millisecond)
	}
	r.finished = true
	r.op.endChange(r.c)
	if !r.op.hasRows {
		r.done = true
		return nil
	}
	columns, err := r.c.schema(r.ctx, &r.op)
	if err != nil {
		return r.fail(err)
	}
	r.columns = columns
	r.batch.columns = make([]Column, len(columns))
	hasTimes := false
	for i := range columns {
		col := &r.batch.columns[i]
		col.r, col.info, col.reader.session.loc = r, &columns[i], r.c.zone.loc
		hasTimes = hasTimes || columns[i].Type == TypeTimestamp
	}
	if hasTimes && !r.asks { // an error is for those who read times
		if _, err := r.c.checkZone(r.ctx); err != nil && !errors.Is(err, ErrTimeZone) {
			return r.fail(err)
		}
	}
	r.fetch()
	return nil
}

// waited waits, and returns r, or closes it and returns the error.
func (r *Result) waited() (*Result, error) {
	if err := r.Wait(nil); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// poll asks the server once how far the query is.
func (r *Result) poll(progress func(Progress)) (finished bool, err error) {
	call, err := r.c.client.GetOperationStatus(r.ctx, func(args tcli.TCLIServiceGetOperationStatusArgs) {
		req := args.NewReq()
		r.op.put(req.NewOperationHandle())
		req.SetGetProgressUpdate(progress != nil)
	})
	if err != nil {
		return false, hiveError("waiting for a query", err)
	}
	defer call.Release()
	s := call.GetSuccess()
	if err := statusError(s.GetStatus()); err != nil {
		return false, err
	}
	if !s.IsSetOperationState() {
		return false, badReply("GetOperationStatus.success.operationState", "there is none")
	}
	if progress != nil {
		progress(progressOf(s))
	}
	switch state := s.GetOperationState(); state {
	case tcli.TOperationState_INITIALIZED_STATE, tcli.TOperationState_PENDING_STATE, tcli.TOperationState_RUNNING_STATE:
		return false, nil
	case tcli.TOperationState_FINISHED_STATE:
		if s.IsSetHasResultSet() {
			r.op.hasRows = s.GetHasResultSet()
		}
		if s.IsSetNumModifiedRows() {
			r.op.modified = s.GetNumModifiedRows()
		}
		return true, nil
	case tcli.TOperationState_CANCELED_STATE:
		return false, ErrCanceled
	default:
		e := &Error{Message: bounded(s.GetErrorMessage()), State: bounded(s.GetSqlState()), Code: int(s.GetErrorCode())}
		set(&e.Message, fmt.Sprintf("the query has ended in the state %s", stateName(state)))
		return false, e
	}
}

func progressOf(s tcli.TGetOperationStatusResp) Progress {
	p := Progress{State: stateName(s.GetOperationState()), Percent: -1, Tasks: bounded(s.GetTaskStatus())}
	at := func(ms int64) time.Time {
		if ms <= 0 {
			return time.Time{}
		}
		return time.UnixMilli(ms)
	}
	p.Started, p.Finished = at(s.GetOperationStarted()), at(s.GetOperationCompleted())
	u := s.GetProgressUpdateResponse()
	if !u.Valid() {
		return p
	}
	if part := u.GetProgressedPercentage(); part >= 0 { // not if it is NaN
		p.Percent = 100 * min(part, 1)
	}
	p.Footer = bounded(u.GetFooterSummary())
	copied := func(l nocopy.StringList) (texts []string) {
		for _, text := range l.All() {
			texts = append(texts, bounded(text))
		}
		return texts
	}
	p.Header = copied(u.GetHeaderNames())
	for _, row := range u.GetRows().All() {
		p.Rows = append(p.Rows, copied(row))
	}
	return p
}
