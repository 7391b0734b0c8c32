package bench

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/idlfiles"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
)

// files writes the files that flags name.
func (r *runner) files(all []*Report) error {
	if r.HTML != "" {
		if err := writePage(r.HTML, all); err != nil {
			return err
		}
	}
	if r.CSV != "" {
		if err := writeCSV(r.CSV, all); err != nil {
			return err
		}
	}
	if r.HDR == "" {
		return nil
	}
	names := stepNames(r.HDR, r.loads)
	for i, rep := range all {
		if err := writeHDR(names[i], rep); err != nil {
			return err
		}
	}
	return nil
}

// checkFiles returns an error if a file that flags name would be overwritten, but is read, too.
func (c *Command) checkFiles(sh *shell.Shell, idl *idlfiles.IDL) error {
	outputs := []string{c.HTML, c.CSV}
	if c.HDR != "" {
		outputs = append(outputs, stepNames(c.HDR, c.loads)...)
	}
	inputs := append(c.Paths(idl), c.CA, c.Cert, c.Key)
	for _, arg := range append([]string{"=" + c.Data}, c.Args...) {
		if _, name, ok := strings.Cut(arg, "=@"); ok {
			inputs = append(inputs, name)
		}
	}
	return sh.CheckOutputs(outputs, inputs)
}

// stepNames returns the names of the steps' files. Further steps with the same load have a number
// after it.
func stepNames(name string, steps []load) (names []string) {
	times := map[string]int{}
	for _, step := range steps {
		own := name
		if len(steps) > 1 {
			own = stepName(name, step)
		}
		times[own]++
		if n := times[own]; n > 1 {
			ext := filepath.Ext(name)
			own = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(own, ext), n, ext)
		}
		names = append(names, own)
	}
	return names
}

// stepName returns the name of a step's file: with its load before the extension.
func stepName(name string, step load) string {
	load := strconv.Itoa(step.concurrency)
	if step.rate > 0 {
		load = fmt.Sprintf("%g", step.rate)
	}
	ext := filepath.Ext(name)
	return strings.TrimSuffix(name, ext) + "-" + load + ext
}

// writeHDR writes percentiles in milliseconds, as HdrHistogram's outputPercentileDistribution
// does. The plotter at hdrhistogram.github.io reads that.
func writeHDR(name string, rep *Report) error {
	const ticks, nanoseconds = 5, 1e6
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	if _, err = rep.latencies.PercentilesPrint(w, ticks, nanoseconds); err == nil {
		err = w.Flush()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// writeCSV writes a row for each second.
func writeCSV(name string, all []*Report) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	w.Write([]string{"loop", "rate", "concurrency", "second", "calls", "errors", "p50_us", "p99_us", "max_us", "partial"})
	number := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	for _, rep := range all {
		for i, s := range rep.Timeline {
			w.Write([]string{rep.Loop, number(rep.Rate), strconv.Itoa(rep.Concurrency), strconv.Itoa(i), strconv.FormatInt(s.Calls, 10),
				strconv.FormatInt(s.Errors, 10), number(s.P50), number(s.P99), number(s.Worst), strconv.FormatBool(s.Partial)})
		}
	}
	w.Flush()
	err = w.Error()
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
