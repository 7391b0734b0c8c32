package rpc

import (
	"go/build"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestHalves: below this package, the client's room and the server's know nothing of each other,
// and what both speak knows neither.
func TestHalves(t *testing.T) {
	const internal = "github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/"
	halves := []string{"client", "server"}
	rooms, err := filepath.Glob("internal/*")
	if err != nil || len(rooms) < len(halves) {
		t.Fatalf("%d rooms, %v", len(rooms), err)
	}
	for _, room := range rooms {
		p, err := build.ImportDir(room, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range p.Imports {
			if other, ok := strings.CutPrefix(i, internal); ok && slices.Contains(halves, other) {
				t.Errorf("%s imports %s", room, other)
			}
		}
	}
}
