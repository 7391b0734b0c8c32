//go:build !race

package shapes_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/gen/internal/shapes"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
)

// changes has the changes that two goroutines of TestChangedAtOnce make to one message.
var changes = []func(l shapes.Lists, i int){
	func(l shapes.Lists, i int) { l.NewPoints(4).At(1).SetX(1) },
	func(l shapes.Lists, i int) { l.GetPoints().AppendNew().SetY(int32(i)) },
	func(l shapes.Lists, i int) { l.GetPoints().Swap(0, 1) },
	func(l shapes.Lists, i int) { l.GetPoints().Delete(0, 1) },
	func(l shapes.Lists, i int) { l.GetTexts().Append(strings.Repeat("x", 10*i)) },
	func(l shapes.Lists, i int) { l.GetTexts().Set(0, strings.Repeat("y", 7*i)) },
	func(l shapes.Lists, i int) { l.GetTexts().SortFunc(strings.Compare) },
	func(l shapes.Lists, i int) { l.SetTexts(make([]string, 6)) },
	func(l shapes.Lists, i int) { l.UnsetLarges(); l.SetLarges(make([]int64, i)) },
	func(l shapes.Lists, i int) { l.GetMatrix().AppendNew(1).Append(int64(i)) },
	func(l shapes.Lists, i int) { l.Message().Repack() },
	func(l shapes.Lists, i int) { messages.Merge(l, shapes.NewLists()) },
	func(l shapes.Lists, i int) { l.Message().Finish() },
}

// TestChangedAtOnce makes goroutines change a message at once, against the rules. It does so in a
// separate process, since memory may be overwritten. Many of these races are reported as such, and
// none ends in Go's fatal error for maps.
func TestChangedAtOnce(t *testing.T) {
	const mark = "NOCOPY_CHANGED_AT_ONCE"
	if os.Getenv(mark) != "" {
		changeAtOnce()
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestChangedAtOnce$", "-test.v")
	cmd.Env = append(os.Environ(), mark+"=1", "GOMAXPROCS=4")
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "concurrent map") {
		t.Errorf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "was changed by several goroutines at once") {
		t.Errorf("no race is called by its name: %v\n%s", err, out)
	}
}

// changeAtOnce makes each pair of changes in two goroutines, to parsed and built messages, and
// prints the values of their panics. It continues until a race was reported.
func changeAtOnce() {
	in := shapes.ListsFields{Points: []shapes.PointFields{{X: 1}, {X: 2}}, Texts: []string{"a", "bb", "c"}, Larges: []int64{1}}
	var named atomic.Bool
	for begun := time.Now(); !named.Load() && time.Since(begun) < 20*time.Second; {
		for a := range changes {
			for b := range a + 1 {
				l := shapes.NewListsOf(in)
				if b%2 == 0 {
					l, _ = shapes.ParseLists(in.AppendTo(nil))
				}
				var wg sync.WaitGroup
				start := make(chan struct{})
				for _, change := range []func(shapes.Lists, int){changes[a], changes[b]} {
					wg.Go(func() {
						defer func() {
							if v := recover(); v != nil {
								fmt.Println(v)
								if strings.HasSuffix(fmt.Sprint(v), "at once") {
									named.Store(true)
								}
							}
						}()
						<-start
						for i := range 50 {
							change(l, i)
						}
					})
				}
				close(start)
				wg.Wait()
			}
		}
	}
}
