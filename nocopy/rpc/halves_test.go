package rpc

import (
	"go/build"
	"slices"
	"strings"
	"testing"
)

// TestHalves: below this package, the client's room and the server's know nothing of each other,
// and what both speak knows neither.
func TestHalves(t *testing.T) {
	const internal = "github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/"
	halves := []string{"client", "server"}
	for _, room := range []string{"client", "server", "foreign", "header", "message", "sasl", "setting", "shared", "socket", "stats", "transport", "web"} {
		p, err := build.ImportDir("internal/"+room, 0)
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
