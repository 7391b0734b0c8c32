package measure

import (
	"os"
	"time"
)

// waiting says how long a thread has waited for a processor that was busy with other threads.
type waiting struct {
	file *os.File
	buf  [64]byte
}

// newWaiting returns the waiting of the calling thread, to which the goroutine must be locked.
func newWaiting() *waiting {
	f, err := os.Open("/proc/thread-self/schedstat")
	if err != nil {
		return &waiting{}
	}
	return &waiting{file: f}
}

// soFar returns the time since the thread began, 0 if that is not known. It does not allocate.
func (w *waiting) soFar() time.Duration {
	if w.file == nil {
		return 0
	}
	// An error, the end of the file among them, leaves n at what there is
	n, _ := w.file.ReadAt(w.buf[:], 0)
	// Three numbers: time on a processor, time waiting for one, both in ns, and how often.
	field, ns := 0, time.Duration(0)
	for _, c := range w.buf[:n] {
		switch {
		case c == ' ':
			field++
		case field == 1 && c >= '0' && c <= '9':
			ns = 10*ns + time.Duration(c-'0')
		}
	}
	return ns
}

func (w *waiting) close() {
	if w.file != nil {
		_ = w.file.Close() // nothing was written
	}
}
