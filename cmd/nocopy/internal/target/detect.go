package target

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// A server that is spoken to in the wrong way may close the connection, or wait for ever for more
// bytes. Some serve one connection at a time, and such a wait keeps them from the next one. The
// tries of a server therefore end one after the other, turn after turn, in the order in which
// they were made. When all have ended, the next round begins, in which turns are twice as long.
// So a busy server gets enough time soon, however long -timeout is. The last round takes all the
// time that is left. Every second round goes backwards, so that the usual ways, which end last
// then, have more time with servers that are slow.
//
// Some servers on Apache's library for Node end at bytes that they do not expect. Framed binary is
// therefore tried first, and alone. It is harmless to a server that speaks unframed binary, which
// waits for more. Unframed binary is next. All others come last: a server that speaks in one of
// the first two ways, and answers in time, never gets their bytes.
const (
	head  = 50 * time.Millisecond  // for each of the first two ways, besides the time for connecting
	alone = 2                      // ways that are tried one after the other
	step  = 5 * time.Millisecond   // between the beginnings of the others, to arrive in order
	turn  = 300 * time.Millisecond // of the first round
	grace = 250 * time.Millisecond // for better ways, once there is an answer
)

// detect finds out how a server speaks, by asking for its description in the two usual ways, one
// after the other, and then in all others at the same time, each on a connection of its own. A way
// is right if there is a reply: most servers answer that they do not know the method. A reply that
// denies the way is the exception. If several are right, the first one counts. No method of the
// server is called.
func (f *Connection) detect(ctx context.Context, addr string, asked wire, ask bool, opts []rpc.Option) (*Server, error) {
	d := &detection{Connection: f, addr: addr, ask: ask, opts: opts, events: make(chan report)}
	for i := range d.alone {
		d.alone[i] = lone{dialled: make(chan struct{}), failed: make(chan struct{})}
	}
	for _, p := range protocols {
		for _, t := range transports {
			if (asked.transport == "auto" || asked.transport == t) && (asked.protocol == "auto" || asked.protocol == p) &&
				!(f.SASL != "" && (t == "unframed" || t == "http")) {
				d.ways = append(d.ways, way{wire: wire{t, p}})
			}
		}
	}
	probing, cancel := context.WithCancel(ctx)
	defer cancel()
	first := round{begin: time.Now().Add(head), ways: len(d.ways), turn: min(turn, f.Timeout/time.Duration(2*len(d.ways)))}
	first.deadline, _ = ctx.Deadline()
	for i := range d.ways {
		w := &d.ways[i]
		var own context.Context
		own, w.cancel = context.WithCancel(probing)
		go d.probe(own, i, w.wire, first)
	}
	found, err := d.wait(probing)
	for i := range d.ways {
		if s := d.ways[i].server; s != nil && s != found {
			s.Close()
		}
	}
	return found, err
}

// detection is a search for the way in which a server speaks.
type detection struct {
	*Connection
	addr   string
	ask    bool
	opts   []rpc.Option
	events chan report

	connected atomic.Bool // in one way, at least
	alone     [alone]lone

	ways   []way
	plain  bool // the server does not speak TLS: it was tried
	isHTTP bool // the server has answered as one of HTTP does: other ways do not count
}

// lone is what is known of a way that is tried alone.
type lone struct {
	dialled chan struct{} // closed after the first try to connect, which took so long:
	took    time.Duration
	failed  chan struct{} // closed when the way has failed, or had no answer in its turn
}

// way is a way to speak and what is known of it.
type way struct {
	wire
	cancel func()
	event
}

// event is what the goroutine of a way has found out.
type event struct {
	again  bool    // the first try had no answer in time: there is a second one
	right  bool    // there is an answer; server follows
	server *Server // at the end, if the way is right
	err    error   // else
}

// report is an event of a way.
type report struct {
	way int
	event
}

// round is one in which each way has a turn.
type round struct {
	begin, deadline time.Time
	ways            int
	turn            time.Duration
	back            bool // the last way has the first turn
}

// place returns where a way stands in the queue of the server, from 0.
func (r *round) place(way int) time.Duration {
	if r.back {
		way = r.ways - 1 - way
	}
	return time.Duration(way)
}

// end returns when a way's turn ends.
func (r *round) end(way int) time.Time { return r.begin.Add((r.place(way) + 1) * r.turn) }

// next makes r the next round. It reports false if there is no time for one.
func (r *round) next() bool {
	r.begin = r.begin.Add(time.Duration(r.ways) * r.turn)
	each := r.deadline.Sub(r.begin) / time.Duration(r.ways)
	if r.turn, r.back = 2*r.turn, !r.back; each < 3*r.turn { // one more round would not end in time
		r.turn = each
	}
	return each > 0
}

// probe tries a way until its turn in each round has ended.
func (d *detection) probe(ctx context.Context, i int, w wire, r round) {
	for before := range min(i, alone) {
		d.await(ctx, before)
	}
	time.Sleep(time.Duration(i-alone) * step)
	if ctx.Err() != nil {
		return
	}
	for {
		trying, cancel := context.WithCancel(ctx)
		end := time.AfterFunc(time.Until(r.end(i)), cancel)
		server, err := d.try(trying, i, w, func() {
			end.Stop()
			d.report(ctx, i, event{right: true})
		})
		over := trying.Err() != nil && ctx.Err() == nil
		end.Stop()
		cancel()
		if server != nil || !over {
			d.report(ctx, i, event{right: server != nil, server: server, err: err})
			return
		}
		d.report(ctx, i, event{again: true})
		if !r.next() {
			return
		}
		select {
		case <-time.After(time.Until(r.begin.Add(r.place(i) * step))):
		case <-ctx.Done():
			return
		}
	}
}

// await returns when a way has failed, or had time for an answer: longer than head if connecting
// took long, as it does with servers that are far away.
func (d *detection) await(ctx context.Context, way int) {
	l := &d.alone[way]
	select {
	case <-l.dialled:
	case <-ctx.Done():
		return
	}
	select {
	case <-time.After(head + 2*l.took):
	case <-l.failed:
	case <-ctx.Done():
	}
}

// report passes an event on, unless nobody waits for it any more.
func (d *detection) report(ctx context.Context, way int, e event) {
	select {
	case d.events <- report{way, e}:
	case <-ctx.Done():
		if e.server != nil {
			e.server.Close()
		}
	}
}

// wait returns the first way that is right, or why there is none. After an answer it waits only
// for better ways.
func (d *detection) wait(ctx context.Context) (*Server, error) {
	var enough <-chan time.Time // nil before there is an answer
	var secure chan bool        // nil before the server is suspected to speak TLS
	for {
		best, sure := d.best()
		switch {
		case best >= 0 && sure:
			return d.choose(ctx, best)
		case best >= 0 && enough == nil:
			enough = time.After(grace)
		case best < 0 && secure == nil && d.isSilent():
			secure = make(chan bool, 1)
			go func() { secure <- d.speaksTLS(ctx) }()
		case d.ended() && (secure == nil || d.plain):
			return nil, d.failure()
		}
		select {
		case yes := <-secure:
			if yes && best < 0 {
				return nil, d.Explain(d.addr, rpc.ErrTLS)
			}
			d.plain = true
		case <-enough:
			return d.choose(ctx, best)
		case <-ctx.Done():
			return d.late(ctx, best)
		case e := <-d.events:
			if err := d.note(e); err != nil && best < 0 {
				return nil, err
			}
		}
	}
}

// late returns what is known when the time is over. best is the first way that is right, or -1.
func (d *detection) late(ctx context.Context, best int) (*Server, error) {
	switch {
	case best >= 0 && d.ways[best].server != nil:
		return d.ways[best].server, nil
	case errors.Is(ctx.Err(), context.Canceled):
		return nil, ctx.Err()
	}
	return nil, d.failure()
}

// note notes an event. It returns an error if all ways would fail for the same reason.
func (d *detection) note(e report) error {
	d.ways[e.way].event = e.event
	if e.right {
		d.stop(e.way + 1)
	} else if e.way < alone && !isDone(d.alone[e.way].failed) {
		close(d.alone[e.way].failed)
	}
	if e.err == nil {
		return nil
	}
	d.isHTTP = d.isHTTP || showsHTTP(e.err)
	if d.ways[e.way].transport != "http" && isFinal(e.err) {
		return d.final(e.err)
	}
	return nil
}

// stop gives up all ways from this one on.
func (d *detection) stop(from int) {
	for _, w := range d.ways[from:] {
		w.cancel()
	}
}

func isDone(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// choose returns the server of a way that is right. Other ways are given up at once: some servers
// serve one connection after the other.
func (d *detection) choose(ctx context.Context, best int) (*Server, error) {
	for i := range d.ways {
		if w := &d.ways[i]; i != best {
			w.cancel()
		}
	}
	for w := &d.ways[best]; w.server == nil; {
		select {
		case <-ctx.Done():
			return nil, d.failure()
		case e := <-d.events:
			if e.way == best {
				w.event = e.event
			} else if e.server != nil {
				e.server.Close()
			}
		}
	}
	return d.ways[best].server, nil
}

// best returns the first way with an answer, -1 if there is none. sure means that no way before it
// may still be right.
func (d *detection) best() (best int, sure bool) {
	sure = true
	for i, w := range d.ways {
		switch {
		case w.right:
			return i, sure
		case w.err == nil && !w.again && d.counts(w):
			sure = false
		}
	}
	return -1, false
}

// counts reports whether a way may be right.
func (d *detection) counts(w way) bool { return !d.isHTTP || w.transport == "http" }

// ended reports whether all ways that count have failed.
func (d *detection) ended() bool {
	for _, w := range d.ways {
		if w.err == nil && d.counts(w) {
			return false
		}
	}
	return true
}

// try asks a server in one way. It returns the server if it has answered, and calls right before,
// when the answer has come.
func (d *detection) try(ctx context.Context, i int, w wire, right func()) (*Server, error) {
	began := time.Now()
	s, err := d.dial(ctx, d.addr, w, d.opts)
	if i < alone && !isDone(d.alone[i].dialled) {
		d.alone[i].took = time.Since(began)
		close(d.alone[i].dialled)
	}
	if err != nil {
		return nil, err
	}
	if w.transport != "http" { // which connects for its call
		d.connected.Store(true)
	}
	answered := false
	d.describe(ctx, s, &watched{Caller: s.Caller, returned: func(err error) {
		var answer *rpc.ApplicationException
		if !answered && (err == nil || errors.As(err, &answer) && !errors.Is(err, rpc.ErrBadReply) && !refusesWay(answer)) {
			answered = true
			right()
		}
	}}, d.ask)
	if answered {
		return s, nil
	}
	if err = s.NotDescribed; errors.Is(err, rpc.ErrConnLost) || showsHTTP(err) {
		d.connected.Store(true)
	}
	s.Close()
	return nil, err
}

// watched is a Caller that reports each call's end.
type watched struct {
	rpc.Caller
	returned func(err error)
}

// Call makes a call.
func (w *watched) Call(ctx context.Context, m *rpc.Method, args nocopy.Struct) (nocopy.Struct, error) {
	result, err := w.Caller.Call(ctx, m, args)
	w.returned(err)
	return result, err
}

// describe asks a server for its description. A multiplexing server may close the connection of a
// client that names no service, and is asked with a name first. If it then does not say, it is
// asked without, as others are. If the description is not needed, any answer is enough.
func (f *Connection) describe(ctx context.Context, s *Server, c rpc.Caller, needed bool) {
	named := c
	if f.Multiplexed != "" {
		named = rpc.MultiplexedCaller(c, f.Multiplexed)
	}
	if !needed {
		_, s.NotDescribed = dynamic.CallRaw(ctx, named, rpc.DescribeMethod, []byte{0})
		return
	}
	s.Description, s.NotDescribed = dynamic.ReadDescription(ctx, named)
	if f.Multiplexed != "" && errors.Is(s.NotDescribed, dynamic.ErrNotDescribed) {
		if told, err := dynamic.ReadDescription(ctx, c); err == nil {
			s.Description, s.NotDescribed = told, nil
		}
	}
}
