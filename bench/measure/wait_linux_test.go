package measure

import (
	"runtime"
	"testing"
	"time"
)

// TestWaiting: a thread waits no longer than time passes, and the sum never shrinks.
func TestWaiting(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	w := newWaiting()
	defer w.close()
	if w.file == nil {
		t.Skip("this kernel does not tell")
	}
	start, before, last := time.Now(), w.soFar(), time.Duration(0)
	for time.Since(start) < 20*time.Millisecond {
		now := w.soFar()
		if now < last {
			t.Fatalf("%v after %v", now, last)
		}
		last = now
	}
	if waited, passed := w.soFar()-before, time.Since(start); waited < 0 || waited > passed {
		t.Errorf("waited %v in %v", waited, passed)
	}
	if n := testing.AllocsPerRun(100, func() { w.soFar() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
