package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// show is one run of the command.
type show struct {
	out     io.Writer
	page    string        // the address of the page
	each    time.Duration // of one measurement; 0: none
	rounds  int
	stay    time.Duration
	callers int
}

// kinds are the proxies that are compared, by their roles; sizes are the sizes of orders, in
// bytes.
var (
	kinds = []string{"nocopy", "kitex", "apache"}
	sizes = []int{1 << 10, 16 << 10, 256 << 10, 1 << 20}
)

// run starts the processes, measures, and goes on with load on our proxy.
func (s *show) run(ctx context.Context) error {
	var backends []string
	for _, name := range []string{"east", "west"} {
		p, err := start("backend", name)
		if err != nil {
			return err
		}
		defer p.stop()
		backends = append(backends, p.addr)
	}
	proxies := map[string]*process{}
	for _, kind := range kinds {
		if kind != "nocopy" && s.each == 0 {
			continue
		}
		role := []string{kind, kind}
		if kind == "nocopy" {
			role = append(role, s.page)
		}
		p, err := start(append(role, backends...)...)
		if err != nil {
			return err
		}
		defer p.stop()
		proxies[kind] = p
	}
	fmt.Fprintf(s.out, "what the proxy does: %s\n", proxies["nocopy"].page)
	if s.each > 0 {
		if err := s.compare(ctx, proxies); err != nil {
			return err
		}
	}
	if s.stay == 0 {
		return nil
	}
	fmt.Fprintf(s.out, "load on our proxy for %v\n", s.stay)
	ctx, cancel := context.WithTimeout(ctx, s.stay)
	defer cancel()
	n, err := newLoad("nocopy", 16<<10).run(ctx, proxies["nocopy"].addr, s.callers)
	fmt.Fprintf(s.out, "%d calls, each with the right answer\n", n)
	return err
}

// figures are the measurements of one proxy with orders of one size, one for each round.
type figures struct {
	rate []float64       // calls a second
	cpu  []time.Duration // processor time of the proxy for a call
}

// compare measures all proxies in turn and prints the medians.
func (s *show) compare(ctx context.Context, proxies map[string]*process) error {
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "order\tproxy\tcalls/s\tCPU a call\t/ kitex\t")
	for _, size := range sizes {
		all := map[string]*figures{}
		for round := range s.rounds + 1 {
			for _, kind := range kinds {
				n, cpu, err := s.measure(ctx, proxies[kind], newLoad(kind, size))
				if err != nil {
					return fmt.Errorf("%s, orders of %d bytes: %w", kind, size, err)
				}
				if round == 0 { // connections are made, pools fill
					all[kind] = new(figures)
					continue
				}
				f := all[kind]
				f.rate = append(f.rate, float64(n)/s.each.Seconds())
				f.cpu = append(f.cpu, cpu/time.Duration(max(n, 1)))
			}
		}
		base := median(all["kitex"].cpu)
		for _, kind := range kinds {
			f := all[kind]
			fmt.Fprintf(w, "%d KB\t%s\t%.0f\t%v\t%.2f\t\n", size>>10, kind, median(f.rate),
				median(f.cpu).Round(100*time.Nanosecond), float64(median(f.cpu))/float64(base))
		}
	}
	return w.Flush()
}

// measure puts load on a proxy and returns how many calls there were and how much processor time
// the proxy has taken.
func (s *show) measure(ctx context.Context, p *process, l *load) (int64, time.Duration, error) {
	before, err := p.cpu()
	if err != nil {
		return 0, 0, err
	}
	limited, cancel := context.WithTimeout(ctx, s.each)
	defer cancel()
	n, err := l.run(limited, p.addr, s.callers)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return 0, 0, err
	}
	after, err := p.cpu()
	return n, after - before, err
}

func median[T float64 | time.Duration](v []T) T {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}
