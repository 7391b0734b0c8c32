// Command bench compares nocopythrift with other libraries for the same messages.
//
//	go run -C bench .                 everything (minutes)
//	go run -C bench . -quick          B, C4K, C20K, F and A, within 50 seconds
//	go run -C bench . -w C20K/edit,B  only these; C stands for all sizes of C
//	go run -C bench . -save NAME      keep the times, to -compare NAME with later
//	go run -C bench . -profile C20K/build
//
// Relative paths, of files that are read too, are then below bench.
//
// A table per workload and operation: time, ratio to `kitex` and to `limit/reuse` (hand-written
// code for that one message) in the same rounds, processor time with the collector's share, bytes
// and objects allocated. README.md says what the workloads and rows are.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nocopythrift/nocopythrift/bench/apache"
	"github.com/nocopythrift/nocopythrift/bench/capnp"
	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/dynamic"
	"github.com/nocopythrift/nocopythrift/bench/dynamicgo"
	"github.com/nocopythrift/nocopythrift/bench/flat"
	"github.com/nocopythrift/nocopythrift/bench/frugal"
	"github.com/nocopythrift/nocopythrift/bench/hyper"
	"github.com/nocopythrift/nocopythrift/bench/jsons"
	"github.com/nocopythrift/nocopythrift/bench/kitex"
	"github.com/nocopythrift/nocopythrift/bench/limit"
	"github.com/nocopythrift/nocopythrift/bench/measure"
	"github.com/nocopythrift/nocopythrift/bench/msgp"
	"github.com/nocopythrift/nocopythrift/bench/ours"
	"github.com/nocopythrift/nocopythrift/bench/peer"
	"github.com/nocopythrift/nocopythrift/bench/victoria"
	"github.com/nocopythrift/nocopythrift/bench/vtproto"
	"github.com/nocopythrift/nocopythrift/internal/command"
)

// peers are all contestants, in the order in which the tables list them.
var peers = []peer.Peer{
	ours.Peer(), ours.Checked(), ours.Compact(), kitex.Peer(), kitex.Fastgo(), frugal.Peer(), apache.Peer(), apache.Compact(), dynamic.Peer(),
	dynamicgo.Peer(), vtproto.Peer(), hyper.Peer(), victoria.Peer(), msgp.Peer(), capnp.Peer(), flat.Peer(), limit.Peer(),
}

func main() {
	err := run(os.Args[1:], os.Stdout)
	if errors.Is(err, errFlag) {
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// errFlag is the error of a wrong flag, which has been printed.
var errFlag = errors.New("wrong flag")

// quickTime is how long -quick takes at most, apart from compilation.
const quickTime = 42 * time.Second

// relative is added to the help of every flag that names a file.
const relative = " (with go run -C bench, a relative path is below bench)"

// run is the command with these arguments; it writes tables to w.
func run(args []string, w io.Writer) error {
	start := time.Now()
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	list := flags.String("w", "", "comma-separated `LIST` of workloads, groups (C, G-A, H, ...) or WORKLOAD/OP (default all)")
	quick := flags.Bool("quick", false, "B, C4K, C20K, F and A with short samples: less than 50 seconds in all")
	rounds := flags.Int("rounds", 7, "samples of each row; with -quick 6, unless it is said")
	prom := flags.String("prom", "", "take F's write request from `FILE`, Thrift Binary, instead of the synthetic one"+relative)
	var out outputs
	flags.StringVar(&out.json, "json", "", "write the results to `FILE` as JSON"+relative)
	flags.StringVar(&out.html, "html", "", "write the results to `FILE` as one page with charts"+relative)
	flags.StringVar(&out.save, "save", "", "keep the times as the baseline `NAME`, in the folder baselines"+relative)
	flags.StringVar(&out.compare, "compare", "", "say what is faster or slower than the baseline `NAME`")
	profiled := flags.String("profile", "", "instead of measuring, leave a CPU profile of our rows on `WORKLOAD[/OP[/ROW]]` in the current folder")
	switch err := command.Parse(flags, args); {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return errFlag
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	set, err := given(flags)
	if err != nil {
		return err
	}
	if *rounds < 1 {
		return fmt.Errorf("-rounds %d: there must be one at least", *rounds)
	}
	workloads, err := workloads(*prom)
	if err != nil {
		return err
	}
	if set["profile"] {
		return profile(w, workloads, *profiled, profileTime)
	}

	o := measure.Options{Rounds: *rounds, Sample: 50 * time.Millisecond}
	var end time.Time
	if *quick {
		o.Sample = 15 * time.Millisecond
		end = start.Add(quickTime)
		if !set["rounds"] {
			o.Rounds = 6
		}
		if !set["w"] {
			*list = "B,C4K,C20K,F,A"
		}
	}
	var s selection
	if *list != "" {
		if s, err = parseSelection(workloads, *list); err != nil {
			return err
		}
	}
	if err := out.prepare(workloads, s); err != nil {
		return err
	}
	r, err := measureAll(w, workloads, s, o, end)
	if err != nil {
		return err
	}
	return out.write(w, r)
}

// given returns the names of the flags that are on the command line, and an error if the value of
// one is empty, or one can't be used with -profile.
func given(flags *flag.FlagSet) (map[string]bool, error) {
	set := map[string]bool{}
	var err error
	flags.Visit(func(f *flag.Flag) {
		set[f.Name] = true
		if f.Value.String() == "" {
			err = fmt.Errorf("-%s needs a value", f.Name)
		}
	})
	for _, other := range []string{"w", "quick", "rounds", "json", "html", "save", "compare"} {
		if set["profile"] && set[other] {
			err = fmt.Errorf("-profile and -%s do not go together: a profile is of the rows that it names, and nothing is measured", other)
		}
	}
	return set, err
}

// workloads returns all workloads. F is read from promFile, if that is not "".
func workloads(promFile string) ([]data.Workload, error) {
	all := data.All()
	if promFile == "" {
		return all, nil
	}
	b, err := os.ReadFile(promFile)
	if err != nil {
		return nil, err
	}
	v, err := kitex.Prometheus(b)
	if err != nil {
		return nil, fmt.Errorf("%s is no write request: %w", promFile, err)
	}
	// The operations partial and edit take the last series' first label and sample.
	if len(v.Series) == 0 {
		return nil, fmt.Errorf("%s has no series, nothing that could be measured", promFile)
	}
	for i, s := range v.Series {
		if len(s.Labels) == 0 || len(s.Samples) == 0 {
			return nil, fmt.Errorf("%s: series %d has %d labels and %d samples; every one must have both to be measured", promFile, i, len(s.Labels), len(s.Samples))
		}
	}
	for i := range all {
		if all[i].Name == "F" {
			all[i].About = "Prometheus write request from " + promFile
			all[i].New = func() any {
				v, err := kitex.Prometheus(b)
				if err != nil {
					panic(err) // it was one before
				}
				return v
			}
		}
	}
	return all, nil
}

// prepare makes the workload's input and entries, and checks that all peers have the same results.
func prepare(w data.Workload) ([]peer.Entry, error) {
	v := w.New()
	in := &peer.Input{Value: v, Wire: limit.Append(nil, data.Message(v))}
	entries := peer.Entries(in, contestants(w))
	if err := peer.Check(in, w.New, entries, judges(w)); err != nil {
		return nil, fmt.Errorf("%s: %w", w.Name, err)
	}
	return entries, nil
}

// contestants returns the peers that are measured on w. Workloads of growing size show how our own
// cost grows: Kitex and hand-written code suffice to tell the machine's part in it.
func contestants(w data.Workload) []peer.Peer {
	if w.Unit == "" {
		return judges(w)
	}
	return []peer.Peer{ours.Peer(), kitex.Peer(), limit.Peer()}
}

// judges returns the peers that can read the messages that rows on w write.
func judges(w data.Workload) []peer.Peer {
	if _, ok := w.Kind.(*data.JSON); ok {
		return jsons.Peers()
	}
	return peers
}
