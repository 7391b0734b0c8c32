package bench

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
	for i, name := range stepNames(r.HDR, all, len(r.loads)) {
		if err := writeHDR(name, all[i]); err != nil {
			return err
		}
	}
	return nil
}

// stepNames returns the names of the steps' files. Further steps with the same load have a number
// after it.
func stepNames(name string, all []*Report, steps int) (names []string) {
	times := map[string]int{}
	for _, rep := range all {
		own := stepName(name, rep, steps)
		times[own]++
		if n := times[own]; n > 1 {
			ext := filepath.Ext(name)
			own = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(own, ext), n, ext)
		}
		names = append(names, own)
	}
	return names
}

// stepName returns the name of a step's file: with its load before the extension, if there are
// several steps.
func stepName(name string, rep *Report, steps int) string {
	if steps == 1 {
		return name
	}
	load := strconv.Itoa(rep.Concurrency)
	if rep.Loop == openLoop {
		load = fmt.Sprintf("%g", rep.Rate)
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
