package server

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"testing"
	"time"
)

// TestMain lets 32 tests run at a time: most of them wait. All goroutines that they started end
// within a minute.
func TestMain(m *testing.M) {
	flag.Set("test.parallel", "32")
	flag.Parse()
	before := runtime.NumGoroutine()
	code := m.Run()
	for wait := time.Minute; code == 0 && runtime.NumGoroutine() > before; wait -= time.Millisecond {
		if wait == 0 {
			fmt.Println("goroutines of tests are left:")
			pprof.Lookup("goroutine").WriteTo(os.Stdout, 2)
			code = 1
		}
		time.Sleep(time.Millisecond)
	}
	os.Exit(code)
}
