package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nocopythrift/nocopythrift/examples/ingest/api"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// runLoad writes samples for some time, and then asks the server whether it has them.
func (c config) runLoad(ctx context.Context, out io.Writer) error {
	run := strconv.FormatInt(time.Now().UnixMilli(), 36)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	deadline := time.Now().Add(c.duration)
	var sent atomic.Int64
	var wg sync.WaitGroup
	for i := range c.connections {
		from, to := i*c.series/c.connections, (i+1)*c.series/c.connections
		wg.Go(func() {
			if err := c.write(ctx, run, from, to, deadline, &sent); err != nil {
				stop(err)
			}
		})
	}
	start := time.Now()
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	took := time.Since(start)
	fmt.Fprintf(out, "sent %d samples of %d series in %.1f s: %.0f samples/s\n", sent.Load(), c.series, took.Seconds(), float64(sent.Load())/took.Seconds())
	return c.check(ctx, run, sent.Load(), out)
}

// write writes samples of the series [from, to), one of each at a time, until the deadline.
func (c config) write(ctx context.Context, run string, from, to int, deadline time.Time, sent *atomic.Int64) error {
	conn, err := rpc.Dial(ctx, "tcp", c.addr, rpc.PoolSize(1), rpc.Recycle)
	if err != nil {
		return err
	}
	defer conn.Close()
	client := api.NewIngesterClient(conn)
	last := int64(0)
	for round := 1; time.Now().Before(deadline); round++ {
		last = max(time.Now().UnixMilli(), last+1)
		for first := from; first < to; first += c.samples {
			n := min(c.samples, to-first)
			res, err := client.Write(ctx, func(args api.IngesterWriteArgs) { fill(args, run, first, n, last, float64(round)) })
			if err != nil {
				return err
			}
			res.Release()
			sent.Add(int64(n))
		}
	}
	return nil
}

// fill fills in a request with a sample of each of n series. The value of a series is how many
// samples it has had.
func fill(args api.IngesterWriteArgs, run string, first, n int, t int64, v float64) {
	all := args.NewRequest().NewTimeseries(n)
	for i := range n {
		k := first + i
		labels := all.At(i).NewLabels(6)
		for j, l := range [...][2]string{
			{"__name__", "load_samples_total"}, {"instance", "host-" + strconv.Itoa(k/100)}, {"job", "load"},
			{"path", "/api/v1/path/" + strconv.Itoa(k%100)}, {"run", run}, {"zone", "zone-" + strconv.Itoa(k%3)},
		} {
			labels.At(j).SetName(l[0])
			labels.At(j).SetValue(l[1])
		}
		p := all.At(i).NewSamples(1).At(0)
		p.SetTimestamp(t)
		p.SetValue(v)
	}
}

// check asks the server for the number of samples of a run, and for their last values.
func (c config) check(ctx context.Context, run string, sent int64, out io.Writer) error {
	conn, err := rpc.Dial(ctx, "tcp", c.addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	at := time.Now().Add(time.Minute).UnixMilli() // rounds may be faster than the clock
	past := strconv.Itoa(int(c.duration.Seconds()) + 120)
	for _, query := range []string{
		`sum(count_over_time(load_samples_total{run="` + run + `"}[` + past + `s]))`,
		`sum(last_over_time(load_samples_total{run="` + run + `"}[` + past + `s]))`,
	} {
		res, err := api.NewIngesterClient(conn).Query(ctx, func(args api.IngesterQueryArgs) {
			args.SetPromql(query)
			args.SetTime(at)
		})
		if err != nil {
			return err
		}
		if n := res.GetSuccess().Len(); n != 1 {
			return fmt.Errorf("%s: %d series", query, n)
		}
		has := res.GetSuccess().At(0).GetSamples().At(0).GetValue()
		fmt.Fprintf(out, "%s is %.0f\n", query, has)
		if has != float64(sent) {
			return fmt.Errorf("the store has %.0f of %d samples", has, sent)
		}
		res.Release()
	}
	return nil
}
