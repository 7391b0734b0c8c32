package hive_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/hive"
	"github.com/nocopythrift/nocopythrift/hive/internal/fakehive"
	"github.com/nocopythrift/nocopythrift/hive/internal/tcli"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// shop is a server for examples.
func shop() (addr string, stop func()) {
	t := &exampleServer{}
	s := &fakehive.Server{Queries: map[string]*fakehive.Query{"SELECT id, customer FROM orders WHERE id > 4000": {
		Schema:  schemaOf(hive.TypeBigInt, hive.TypeString),
		Fetches: []tcli.TFetchResultsResp{fetchOf(int64Column(nil, 4711, 4712), stringColumn(nil, "Ada", "Grace"))},
	}}}
	return s.Serve(t, &rpc.Server{}), func() { t.end() }
}

type exampleServer struct{ end func() }

func (*exampleServer) Fatal(args ...any)  { log.Fatal(args...) }
func (t *exampleServer) Cleanup(f func()) { t.end = f }

func Example() {
	addr, stop := shop()
	defer stop()
	ctx := context.Background()

	conn, err := hive.Connect(ctx, hive.Config{Addr: addr, NoSASL: true})
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	r, err := conn.Query(ctx, "SELECT id, customer FROM orders WHERE id > ?", 4000)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
		b := r.Batch()
		customers := b.Column(1).Strings()
		for i, id := range b.Column(0).Int64s() {
			fmt.Println(id, customers[i])
		}
	}
	if err := r.Err(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 4711 Ada
	// 4712 Grace
}

// TestCookbook: the block in docs/cookbook.md is in the Example.
func TestCookbook(t *testing.T) {
	page, err := os.ReadFile("../docs/cookbook.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "<!-- hive: Example -->\n```go\n")
	block, _, ok := strings.Cut(block, "```")
	if !ok || !strings.Contains(string(example), "\t"+strings.ReplaceAll(strings.TrimSpace(block), "\n", "\n\t")) {
		t.Errorf("example_test.go does not have the block of docs/cookbook.md:\n%s", block)
	}
}
