package rpc_test

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/rpcinside"
	"go.uber.org/goleak"
)

// TestMain lets 32 tests run at a time: most of them wait. It lets the short form of the tests
// collect garbage less often. Tests of memory call the collector themselves.
func TestMain(m *testing.M) {
	if !testmode.Long && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	flag.Set("test.parallel", "32")
	flag.Parse()
	*rpcinside.AloneBefore = 1 // so that readers change often
	goleak.VerifyTestMain(m)
}
