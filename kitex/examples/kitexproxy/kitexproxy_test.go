package main

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if os.Getenv(roleEnv) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestShow runs what the command shows, in short.
func TestShow(t *testing.T) {
	var out strings.Builder
	err := show(&out, time.Second, 4)
	t.Log("\n" + out.String())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "lost beyond those: 0\n") {
		t.Error("no summary")
	}
}
