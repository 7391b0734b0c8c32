// Package bench is the command that measures how a server takes load.
package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/idlfiles"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/invoke"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/target"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// Command calls a method many times.
type Command struct {
	Address string   `arg:"" help:"HOST:PORT, a URL, or the path of a unix socket."`
	Method  string   `arg:"" help:"As for nocopy call."`
	Args    []string `arg:"" optional:"" help:"As for nocopy call; values may have templates."`

	Data        string        `short:"d" help:"Arguments as a JSON object with templates, or @FILE." placeholder:"JSON"`
	Duration    time.Duration `help:"How long calls are measured." default:"10s"`
	Number      int           `short:"n" help:"How many calls; -duration is then the longest time." placeholder:"N"`
	Rate        float64       `short:"r" help:"Calls per second; 0 is as many as there can be." placeholder:"N"`
	Concurrency int           `short:"c" help:"Calls under way at the same time; with -rate the most." default:"16"`
	Pipeline    bool          `help:"Let calls share -connections: one is sent before the reply to another has come."`
	Connections int           `help:"Connections to the server: as many as -concurrency or, with -pipeline, 4." placeholder:"N"`
	Warmup      time.Duration `help:"How long calls are made before they are measured." default:"1s"`
	HTML        string        `name:"html" help:"Also write a page with the results to this file." placeholder:"FILE"`
	Seed        uint64        `help:"Seed of random values: the same seed gives the same values." default:"1"`

	shell.Format
	idlfiles.Files
	target.Connection
}

// Help is the end of the command's help text.
func (Command) Help() string {
	return `Templates in arguments: {{n}} is the number of the call from 0, {{int 1 100}} a random whole number from 1
to 100, {{float 0 1}} a number, {{pick "a" "b"}} one of the texts, {{text 8}} letters, {{uuid}} a UUID and
{{now}} the time in milliseconds.

With -rate, latencies count from when a call was due, not from when it was made: a server that stalls
is not asked less, and all calls that would have met the stall count (coordinated omission). Without
-rate, -concurrency calls are always under way, and a latency is the time that a call took.

A connection has one call at a time. With -pipeline, calls share connections, as those of many clients
do; most servers answer a connection in order, so that latencies include the time of earlier calls.

At the end of -duration no more calls are sent, and answers are awaited for another second. The report
says how many calls were due and not sent, and how many had no answer. -format json has latencies in
microseconds.

Calls that are answered with exceptions are counted as errors, with the time that they took. The exit
code is 1 if no call had a result.

Example:
  nocopy bench localhost:9090 Store.get -idl store.thrift -d '{"key": "k{{int 1 1000}}"}' -rate 2000 -html out.html`
}

// Run is called by the parser.
func (c *Command) Run(sh *shell.Shell) error {
	if err := c.check(); err != nil {
		return shell.WithCode(shell.Usage, err)
	}
	idl, err := c.Load()
	if err != nil {
		return err
	}
	if c.Multiplexed == "" {
		c.Multiplexed = invoke.Prefix(c.Method)
	}
	server, err := c.Connect(sh.Ctx, c.Address, idl == nil, c.options()...)
	if err != nil {
		return err
	}
	defer func() { server.Close() }()
	if idl == nil {
		if idl, err = idlfiles.Told(server); err != nil {
			return err
		}
	}
	m, err := invoke.Find(idl, c.Method, c.Multiplexed, c.MaxDepth)
	if err != nil {
		return err
	}
	text := []byte(c.Data)
	if name, ok := strings.CutPrefix(c.Data, "@"); ok {
		if text, err = os.ReadFile(name); err != nil {
			return err
		}
	}
	source, err := newSource(m, text, c.Args, c.Seed)
	if err != nil {
		return err
	}
	if c.Pipeline && strings.HasPrefix(server.Wire, "http ") {
		return shell.WithCode(shell.Usage, errors.New("-pipeline is not for HTTP, where a connection has one call at a time"))
	}
	r := &runner{Command: c, sh: sh, wire: server.Wire, method: m, source: source}
	if c.Pipeline {
		r.lanes = make([]lane, c.Concurrency)
		for i := range r.lanes {
			r.lanes[i] = lane{server: server}
		}
	} else {
		server.Close() // some servers have a thread for each connection, or one for all
		defer r.close()
		if err := r.connect(); err != nil {
			return err
		}
	}
	if c.Warmup > 0 {
		warm := *r
		warm.limit(c.Warmup, 0)
		if _, err := warm.run(new(atomic.Int64)); err != nil {
			return err
		}
	}
	r.limit(c.Duration, c.Number)
	var calls atomic.Int64
	began := time.Now()
	progress := sh.NewProgress("seconds", int64(c.Duration.Seconds()), func() int64 { return int64(time.Since(began).Seconds()) })
	if c.Number > 0 {
		progress.Done()
		progress = sh.NewProgress("calls", int64(c.Number), calls.Load)
	}
	result, err := r.run(&calls)
	progress.Done()
	if err != nil {
		return err
	}
	return r.report(result)
}

// options are those of the client that all calls share with -pipeline.
func (c *Command) options() []rpc.Option {
	if !c.Pipeline {
		return []rpc.Option{rpc.PoolSize(1)}
	}
	return []rpc.Option{rpc.PoolSize(c.Connections), rpc.MaxInFlight(c.Concurrency)}
}

func (c *Command) check() error {
	switch {
	case c.Duration <= 0 || c.Number < 0 || c.Rate < 0 || math.IsNaN(c.Rate) || c.Warmup < 0:
		return errors.New("-duration must be positive, and -n, -rate and -warmup not negative")
	case c.Concurrency < 1 || c.Concurrency > 1<<16 || c.Connections < 0 || c.Connections > 1<<14:
		return errors.New("-concurrency is from 1 to 65,536, -connections up to 16,384")
	case !c.Pipeline && c.Connections > 0 && c.Connections < c.Concurrency:
		return fmt.Errorf("each of -concurrency %d calls has a connection of its own: to make them share -connections %d, add -pipeline", c.Concurrency, c.Connections)
	case c.Rate > 1e7:
		return errors.New("-rate is at most 10,000,000")
	}
	switch {
	case !c.Pipeline:
		c.Connections = c.Concurrency
	case c.Connections == 0:
		c.Connections = 4
	}
	c.Connections = min(c.Connections, c.Concurrency)
	return c.Check(c.Address)
}

// runner makes the calls.
type runner struct {
	*Command
	sh       *shell.Shell
	wire     string
	lanes    []lane // one for each call that is under way at the same time
	method   *invoke.Method
	source   *source
	duration time.Duration
	number   int64 // 0: no limit
}

func (r *runner) limit(d time.Duration, n int) { r.duration, r.number = d, int64(n) }

// result is the outcome of a measurement.
type result struct {
	latencies *hdrhistogram.Histogram // in nanoseconds
	seconds   []second
	ok        int64
	errors    map[string]int64
	took      time.Duration
	bytes     int64 // of arguments and results

	unsent     int64         // calls that were due and not sent
	unfinished int64         // calls that had no answer at the end
	waited     time.Duration // the longest of these, so far
	silent     int           // connections on which calls were made and none was answered
}

// second is the outcome of one second.
type second struct {
	calls int64
	worst time.Duration
}

// The latencies that are told apart: from a nanosecond to ten minutes, with three digits.
const (
	longest = 10 * time.Minute
	digits  = 3
)

// mostErrors is how many different errors are told.
const mostErrors = 20

// lastAnswers is how long answers are awaited after the last call.
const lastAnswers = time.Second

// worker has the measurements of one goroutine.
type worker struct {
	result
	sent, answered int64
}

func newResult() result {
	return result{latencies: hdrhistogram.New(1, int64(longest), digits), errors: map[string]int64{}}
}

// note counts a call that was due, or made, at a time, counted from the beginning.
func (w *worker) note(due, end time.Duration, o *invoke.Outcome, size int) {
	latency := end - due
	w.latencies.RecordValue(max(min(int64(latency), int64(longest)), 1))
	at := int(end / time.Second)
	for len(w.seconds) <= at {
		w.seconds = append(w.seconds, second{})
	}
	w.seconds[at].calls++
	w.seconds[at].worst = max(w.seconds[at].worst, latency)
	w.bytes += int64(size + len(o.Reply))
	var answer *rpc.ApplicationException
	if o.Err == nil || errors.As(o.Err, &answer) {
		w.answered++
	}
	if o.Err == nil && o.Exception == "" {
		w.ok++
		return
	}
	text := "exception " + o.Exception
	if o.Err != nil {
		text = kind(o.Err)
	}
	if _, known := w.errors[text]; !known && len(w.errors) >= mostErrors {
		text = "other errors"
	}
	w.errors[text]++
}

// kind returns an error's text of bounded length.
func kind(err error) string {
	text := err.Error()
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + "…"
	}
	return text
}

// run makes calls until the time is over, or enough have been made, or the user interrupts. It
// counts them in next.
func (r *runner) run(next *atomic.Int64) (*result, error) {
	ctx, cancel := context.WithCancel(r.sh.Ctx) // of waiting for the next call
	defer cancel()
	answers, giveUp := context.WithCancel(r.sh.Ctx) // of calls
	defer giveUp()
	var failed atomic.Pointer[error]
	workers := make([]*worker, len(r.lanes))
	began := time.Now()
	end := time.AfterFunc(r.duration+lastAnswers, giveUp)
	defer end.Stop()
	var all sync.WaitGroup
	for i := range workers {
		w := &worker{result: newResult()}
		workers[i] = w
		all.Go(func() {
			for {
				n := next.Add(1) - 1
				if r.number > 0 && n >= r.number {
					return
				}
				due, ok := r.wait(ctx, began, n)
				if !ok {
					return
				}
				args, err := r.source.args(uint64(n))
				if err != nil {
					failed.CompareAndSwap(nil, &err)
					cancel()
					return
				}
				if r.Rate == 0 {
					due = time.Since(began)
				}
				w.sent++
				o := r.call(answers, &r.lanes[i], args)
				now := time.Since(began)
				if answers.Err() != nil && errors.Is(o.Err, context.Canceled) {
					w.unfinished++
					w.waited = max(w.waited, now-due)
					return
				}
				w.note(due, now, &o, len(args))
				if r.Rate == 0 && o.Err != nil {
					runtime.Gosched()
				}
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return nil, *err
	}
	sum := newResult()
	sum.took = time.Since(began)
	sent := int64(0)
	for _, w := range workers {
		sum.add(&w.result)
		sent += w.sent
		if w.sent > 0 && w.answered == 0 {
			sum.silent++
		}
	}
	if r.Rate > 0 {
		due := int64(math.Ceil(r.Rate * min(sum.took, r.duration).Seconds()))
		if r.number > 0 {
			due = min(due, r.number)
		}
		sum.unsent = max(due-sent, 0)
	}
	return &sum, nil
}

// wait blocks until call n is due, and returns the due time. ok is false if the run has ended.
func (r *runner) wait(ctx context.Context, began time.Time, n int64) (due time.Duration, ok bool) {
	if r.Rate > 0 {
		due = time.Duration(float64(n) / r.Rate * float64(time.Second))
		if d := due - time.Since(began); d > 0 && due < r.duration {
			timer := time.NewTimer(d)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-ctx.Done():
			}
		}
	}
	return due, due < r.duration && ctx.Err() == nil && time.Since(began) < r.duration
}

// add adds the measurements of one goroutine.
func (r *result) add(o *result) {
	r.latencies.Merge(o.latencies)
	r.ok += o.ok
	r.bytes += o.bytes
	r.unfinished += o.unfinished
	r.waited = max(r.waited, o.waited)
	for i, s := range o.seconds {
		if i == len(r.seconds) {
			r.seconds = append(r.seconds, second{})
		}
		r.seconds[i].calls += s.calls
		r.seconds[i].worst = max(r.seconds[i].worst, s.worst)
	}
	for text, n := range o.errors {
		if _, known := r.errors[text]; !known && len(r.errors) >= mostErrors {
			text = "other errors"
		}
		r.errors[text] += n
	}
}
