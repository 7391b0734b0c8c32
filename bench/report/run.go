package report

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// Run describes the machine, the time and the program of a report.
type Run struct {
	Command string
	Date    string
	Machine string
	Go      string
	Rounds  int
}

// NewRun describes this process.
func NewRun(rounds int) Run {
	return Run{
		Command: "go run -C bench . " + strings.Join(os.Args[1:], " "),
		Date:    time.Now().UTC().Format("2006-01-02 15:04 UTC"),
		Machine: fmt.Sprintf("%s, %s, %s/%s", processor(), count(runtime.NumCPU(), "core"), runtime.GOOS, runtime.GOARCH),
		Go:      runtime.Version(),
		Rounds:  rounds,
	}
}

// processor returns the name of the machine's processor on Linux, else "".
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		for line := range strings.SplitSeq(string(text), "\n") {
			if key, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(key) == "model name" {
				return strings.TrimSpace(value)
			}
		}
	}
	return "unknown processor"
}

func (r Run) String() string {
	return fmt.Sprintf("%s; %s; %s; medians of up to %s; %s", r.Machine, r.Go, r.Date, count(r.Rounds, "round"), r.Command)
}

// count returns a number of things as text: "1 round", "2 rounds".
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
