package main

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows a bar on standard error. It clears the bar before a table is printed to standard
// output.
type progress struct {
	bar  *progressbar.ProgressBar
	base int // the parts of the tables that are done
}

// parts is the number of steps of the bar for a table.
const parts = 100

func newProgress(tables int) *progress {
	every := 200 * time.Millisecond
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		every = 5 * time.Second // in a log each is a line
	}
	return &progress{bar: progressbar.NewOptions(tables*parts,
		progressbar.OptionSetWriter(os.Stderr), progressbar.OptionSetWidth(40), progressbar.OptionThrottle(every),
		progressbar.OptionSetPredictTime(true), progressbar.OptionSetElapsedTime(true), progressbar.OptionClearOnFinish())}
}

// at shows which table is being measured.
func (p *progress) at(workload, doing string) { p.bar.Describe(workload + " " + doing) }

// part moves the bar within a table that counts as weight ones.
func (p *progress) part(weight, done, of int) { _ = p.bar.Set(p.base + weight*parts*done/of) }

// done moves it past the table, and clears the line that the table is going to be printed on.
func (p *progress) done(weight int) {
	p.base += weight * parts
	_ = p.bar.Set(p.base)
	_ = p.bar.Clear()
}

func (p *progress) finish() { _ = p.bar.Finish() }
