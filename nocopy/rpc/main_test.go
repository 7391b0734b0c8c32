package rpc_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

// TestMain lets eight tests run at a time: most of them wait.
func TestMain(m *testing.M) {
	flag.Set("test.parallel", "8")
	flag.Parse()
	goleak.VerifyTestMain(m)
}
