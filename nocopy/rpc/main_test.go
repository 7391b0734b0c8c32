package rpc

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

// TestMain lets 32 tests run at a time: most of them wait.
func TestMain(m *testing.M) {
	flag.Set("test.parallel", "32")
	flag.Parse()
	aloneBefore = 1 // so that readers change often
	goleak.VerifyTestMain(m)
}
