package main

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows on standard error how far the run is. Tables go to standard output; the bar makes
// room for them.
type progress struct {
	bar  *progressbar.ProgressBar
	base int // tables that are done, in parts
}

// parts is how many steps the bar takes for a table.
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

// at says what is being done.
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
