package rpc_test

import (
	"flag"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/rpcinside"
	"go.uber.org/goleak"
)

// TestMain lets 32 tests run at a time: most of them wait.
func TestMain(m *testing.M) {
	flag.Set("test.parallel", "32")
	flag.Parse()
	*rpcinside.AloneBefore = 1 // so that readers change often
	goleak.VerifyTestMain(leakless{m})
}

// leakless runs tests, and fails if the library has not released its own messages.
type leakless struct{ m *testing.M }

// It waits until goroutines have ended: goleak does so for less than a second.
func (l leakless) Run() int {
	code := testmode.Main(l.m, nocopy.Leaked)
	for giveUp := until(time.Minute); code == 0 && goleak.Find() != nil && !giveUp(); {
	}
	return code
}
