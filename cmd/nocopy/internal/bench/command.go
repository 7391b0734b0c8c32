// Package bench is the command that measures how a server takes load.
package bench

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

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
	Rate        string        `short:"r" help:"Calls per second: an open loop. Several, as 100,200 or 100:1000:100, are steps." placeholder:"N"`
	Concurrency string        `short:"c" help:"Calls under way at the same time: a closed loop, also with several; with -rate the most." default:"16"`
	Pipeline    bool          `help:"Let calls share -connections: one is sent before the reply to another has come."`
	Connections int           `help:"Connections to the server: as many as -concurrency or, with -pipeline, 4." placeholder:"N"`
	Warmup      time.Duration `help:"How long calls are made before they are measured." default:"1s"`
	HTML        string        `name:"html" help:"Also write a page with the results to this file." placeholder:"FILE"`
	HDR         string        `name:"hdr" help:"Also write percentiles to this file, in HdrHistogram's form and milliseconds; each step has its own." placeholder:"FILE"`
	CSV         string        `name:"csv" help:"Also write a row for each second to this file." placeholder:"FILE"`
	Seed        uint64        `help:"Seed of random values: the same seed gives the same values." default:"1"`

	shell.Format
	idlfiles.Files
	target.Connection

	loads []load // what is measured, one after the other
}

// Help is the end of the command's help text.
func (Command) Help() string {
	return `Templates in arguments: {{n}} is the number of the call from 0, {{int 1 100}} a random whole number from 1
to 100, {{float 0 1}} a number, {{pick "a" "b"}} one of the texts, {{text 8}} letters, {{uuid}} a UUID and
{{now}} the time in milliseconds.

Open loop: with -rate, calls are made when they are due, and latencies count from then. A server that
stalls is not asked less, and all calls that would have met the stall count (coordinated omission). Closed
loop: without -rate, -concurrency calls are always under way, and a latency is the time that a call took.

Several values of -rate or -concurrency are steps: each is measured for -duration, and has a row in the
table. A step is saturated if more than 1 in 20 of the calls that were due had no answer or, in a closed
loop, if it makes less than 5 % more calls than the best one before.

A connection has one call at a time. With -pipeline, calls share connections, as those of many clients
do; most servers answer a connection in order, so that latencies include the time of earlier calls.

At the end of -duration no more calls are sent, and answers are awaited for another second. The report
says how many calls were due and not sent, and how many had no answer. -format json has latencies in
microseconds.

Calls that are answered with exceptions are counted as errors, with the time that they took. The exit
code is 1 if no call had a result. nocopy compare compares two reports of -format json.

Examples:
  nocopy bench localhost:9090 Store.get -idl store.thrift -d '{"key": "k{{int 1 1000}}"}' -rate 2000 -html out.html
  nocopy bench localhost:9090 Store.get key=a -rate 1000:10000:1000 -duration 30s
  nocopy bench localhost:9090 Store.get key=a -c 1,4,16,64 -csv seconds.csv -hdr latencies.txt`
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
	if err := c.checkFiles(sh, idl); err != nil {
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
		r.lanes = make([]lane, c.most())
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
	results, err := r.measure()
	if err != nil {
		return err
	}
	return r.report(results)
}

// collections is by how much memory may grow, in percent, before it is collected. Little is in use
// while calls are made: with Go's 100, collections would take half of the processor time.
const collections = 400

// measure warms up, and then measures each load.
func (r *runner) measure() ([]*result, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(collections))
	if r.Warmup > 0 {
		if _, err := r.run(r.loads[0], limits{r.Warmup, 0}, new(atomic.Int64)); err != nil {
			return nil, err
		}
	}
	var calls atomic.Int64
	began := time.Now()
	progress := r.sh.NewProgress("seconds", int64(r.Duration.Seconds())*int64(len(r.loads)), func() int64 { return int64(time.Since(began).Seconds()) })
	if r.Number > 0 {
		progress.Done()
		progress = r.sh.NewProgress("calls", int64(r.Number), calls.Load)
	}
	defer progress.Done()
	var results []*result
	for i, l := range r.loads {
		if i > 0 && r.sh.Ctx.Err() != nil {
			break // what was measured is reported
		}
		calls.Store(0)
		res, err := r.run(l, limits{r.Duration, int64(r.Number)}, &calls)
		if err != nil {
			return nil, err
		}
		results = append(results, res)
	}
	return results, nil
}

// options are those of the client that all calls share with -pipeline.
func (c *Command) options() []rpc.Option {
	if !c.Pipeline {
		return []rpc.Option{rpc.PoolSize(1)}
	}
	return []rpc.Option{rpc.PoolSize(c.Connections), rpc.MaxInFlight(c.most())}
}

// check returns an error about flags that make no sense, and sets the loads.
func (c *Command) check() (err error) {
	if c.loads, err = loads(c.Rate, c.Concurrency); err != nil {
		return err
	}
	most := c.most()
	switch {
	case c.Duration <= 0 || c.Number < 0 || c.Warmup < 0:
		return errors.New("-duration must be positive, and -n and -warmup not negative")
	case c.Number > 0 && len(c.loads) > 1:
		return errors.New("-n is for one step: the time of each is -duration")
	case c.Connections < 0 || c.Connections > 1<<14:
		return errors.New("-connections is up to 16,384")
	case !c.Pipeline && c.Connections > 0 && c.Connections < most:
		return fmt.Errorf("each of -concurrency %d calls has a connection of its own: to make them share -connections %d, add -pipeline", most, c.Connections)
	}
	switch {
	case !c.Pipeline:
		c.Connections = most
	case c.Connections == 0:
		c.Connections = 4
	}
	c.Connections = min(c.Connections, most)
	return c.Check(c.Address)
}
