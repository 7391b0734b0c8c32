package shell

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// Progress shows on a terminal how far a command is, once it has taken longer than a second. What
// is written in the meantime goes through it. The zero Progress shows nothing.
type Progress struct {
	sh          *Shell
	stop, ended chan struct{}

	mu    sync.Mutex
	shown bool
}

// How soon progress is shown, how often it changes, and how many characters a bar has.
const (
	showAfter = time.Second
	showEvery = 100 * time.Millisecond
	barWidth  = 30
)

// NewProgress shows the progress of a command that takes total steps until Done is called; -1
// means that the total is not known. Another goroutine calls done, which returns how many steps
// have been taken.
func (s *Shell) NewProgress(what string, total int64, done func() int64) *Progress {
	p := &Progress{sh: s, stop: make(chan struct{}), ended: make(chan struct{})}
	if s.ErrTerm {
		go p.run(what, total, done)
	} else {
		close(p.ended)
	}
	return p
}

// run shows the progress until it is stopped.
func (p *Progress) run(what string, total int64, done func() int64) {
	defer close(p.ended)
	after := time.After(showAfter)
	for turn := 0; ; turn++ {
		select {
		case <-p.stop:
			p.Print(func() {})
			return
		case <-after:
		}
		after = time.After(showEvery)
		n := done()
		p.Print(func() {
			fmt.Fprintf(p.sh.Err, "%s %s", what, bar(n, total, turn))
			p.shown = true
		})
	}
}

// bar draws how many steps of total have been taken, or how many of an unknown number.
func bar(n, total int64, turn int) string {
	if total < 0 {
		return fmt.Sprintf("%c %d", `|/-\`[turn%4], n)
	}
	n = min(n, total) // some steps were not foreseen
	full := barWidth
	if n < total {
		full = int(barWidth * n / total)
	}
	return fmt.Sprintf("[%s%s] %d/%d", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), n, total)
}

// Print calls f, which writes to the terminal, without the progress on it. The progress comes back
// after a moment.
func (p *Progress) Print(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.sh.Err, "\r\x1b[K")
		p.shown = false
	}
	f()
}

// Write writes text, which ends with a line's end, to Err as Print does.
func (p *Progress) Write(text []byte) (n int, err error) {
	p.Print(func() { n, err = p.sh.Err.Write(text) })
	return n, err
}

// Done removes the progress from the terminal.
func (p *Progress) Done() {
	close(p.stop)
	<-p.ended
}
