package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxReports bounds a file of reports, in bytes.
const maxReports = 16 << 20

// ReadReports reads a file to which outputs of -format json were written, one or several: reports,
// or those of steps. Their figures are neither negative nor very large.
func ReadReports(name string) (reports []*Report, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := &io.LimitedReader{R: f, N: maxReports + 1}
	for d := json.NewDecoder(in); ; {
		var next struct {
			Steps
			Report
		}
		err := d.Decode(&next)
		switch {
		case in.N == 0:
			return nil, fmt.Errorf("%s: it has more than %d bytes", name, maxReports)
		case err == io.EOF && len(reports) > 0:
			return reports, nil
		case err == io.EOF:
			return nil, fmt.Errorf("%s: it is empty", name)
		case err != nil:
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		read := next.Steps.Steps
		if read == nil {
			read = []*Report{&next.Report}
		}
		for _, r := range read {
			if err := r.check(); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		reports = append(reports, read...)
	}
}

// check returns an error if this is no report.
func (r *Report) check() error {
	switch {
	case r == nil || r.Method == "" || r.LatencyUnit != "microseconds":
		return errors.New("it is no report of nocopy bench -format json")
	case r.Loop != openLoop && r.Loop != closedLoop:
		return errors.New("it was made by another version of nocopy bench")
	}
	figures := []float64{r.Rate, r.PerSecond, float64(r.Calls), float64(r.Bytes)}
	for _, p := range r.Percentiles {
		figures = append(figures, p.Latency)
	}
	for _, n := range r.Errors {
		figures = append(figures, float64(n))
	}
	for _, s := range r.Timeline {
		figures = append(figures, float64(s.Calls), s.P50, s.P99, s.Worst)
	}
	for _, x := range figures {
		if x < 0 || x > maxFigure {
			return fmt.Errorf("%g is no figure of a report", x)
		}
	}
	return nil
}

const maxFigure = 1e18
