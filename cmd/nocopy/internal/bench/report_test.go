package bench

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/invoke"
)

// TestPartialSecond: seconds in which calls were not sent to the end are marked, and not drawn.
func TestPartialSecond(t *testing.T) {
	second := func(n int64) second { return second{calls: n} }
	for _, c := range []struct {
		duration, took time.Duration
		calls          []int64
		whole          int
	}{
		{3 * time.Second, 3*time.Second + time.Millisecond, []int64{100, 100, 100, 1}, 3},
		{2500 * time.Millisecond, 2502 * time.Millisecond, []int64{100, 100, 50}, 2},
		{2 * time.Second, 4 * time.Second, []int64{100, 100, 3, 1}, 2}, // answers that were awaited
		{time.Minute, 2200 * time.Millisecond, []int64{100, 100, 20}, 2},
		{300 * time.Millisecond, 301 * time.Millisecond, []int64{30}, 1}, // there is no other
	} {
		r := &runner{Command: &Command{}, duration: c.duration, method: &invoke.Method{Name: "f"}}
		res := newResult()
		res.took = c.took
		for _, n := range c.calls {
			res.seconds = append(res.seconds, second(n))
		}
		rep := r.of(&res)
		if got := whole(rep.Timeline); len(rep.Timeline) != len(c.calls) || len(got) != c.whole {
			t.Errorf("%v in %v: %+v", c.duration, c.took, rep.Timeline)
		}
		var text bytes.Buffer
		rep.print(&text, false)
		if low := strings.Contains(text.String(), " 0 ┼") || strings.Contains(text.String(), "╰"); low || strings.Contains(text.String(), "calls in each second") != (c.whole > 1) {
			t.Errorf("%v in %v draws\n%s", c.duration, c.took, text.String())
		}
		page := filepath.Join(t.TempDir(), "page.html")
		if err := writePage(page, rep); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(page); err != nil || strings.Contains(string(text), ",153.5") {
			t.Errorf("%s, %v", text, err)
		}
	}
}
