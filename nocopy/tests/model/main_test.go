package model_test

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
)

// TestMain makes the short form of the tests collect garbage less often. Tests of memory call the
// collector themselves.
func TestMain(m *testing.M) {
	if !testmode.Long && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
