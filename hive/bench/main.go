// Command bench measures how long clients take to read a large result, and how much memory:
//
//	go run . [-sizes 100,500]
//	go run . -judge
//
// It starts a server that answers each fetch with the same 10,000 rows, which were recorded from
// Spark 3.5.5 (-record), until the result has about as many MB. Each client is a process of
// its own, which reads every value. Times are processor time by getrusage, so that other work on
// the machine matters little. It prints a table, and draws throughput.svg.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/hive/bench/measure"
	"github.com/nocopythrift/nocopythrift/hive/internal/fakehive"
	"github.com/nocopythrift/nocopythrift/hive/internal/tcli"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

var clients = []struct{ name, title, folder string }{
	{"columns", "hive, columns", "ours"},
	{"arrow", "hive, Arrow records", "ours"},
	{"sql", "hive, database/sql", "ours"},
	{"apache", "Apache Thrift's Go library, values in place", "ours"},
	{"gohive", "gohive v2.1.0, database/sql", "gohive"},
}

func main() {
	log.SetFlags(0)
	sizes := flag.String("sizes", "100,500", "sizes of results in MB")
	record := flag.String("record", "", "record the reply from the server with this address, and end")
	judge := flag.Bool("judge", false, "compare each value of 100,000 rows with gohive's, and end")
	flag.Parse()
	if *judge {
		*sizes = "11" // 10 replies
	}
	if *record != "" {
		if err := recordFrom(*record); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := run(strings.Split(*sizes, ","), *judge); err != nil {
		log.Fatal(err)
	}
}

func run(sizes []string, judge bool) error {
	dir, err := os.MkdirTemp("", "hive-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, folder := range []string{"ours", "gohive"} {
		cmd := exec.Command("go", "build", "-o", dir+"/"+folder, "./"+folder)
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("building %s: %w", folder, err)
		}
	}
	addr, rowsOf, err := serve(sizes)
	if err != nil {
		return err
	}
	if judge {
		var outs [2]string
		for i, folder := range []string{"ours", "gohive"} {
			out, err := exec.Command(filepath.Join(dir, folder), "judge", addr, "SELECT "+sizes[0]).Output()
			if err != nil {
				return err
			}
			outs[i] = string(out)
		}
		fmt.Print("hive:   ", outs[0], "gohive: ", outs[1])
		if outs[0] != outs[1] {
			return errors.New("they differ")
		}
		return nil
	}
	results := map[string][]measure.Result{}
	for _, size := range sizes {
		fmt.Printf("\n%s MB, %d rows:\n\n", size, rowsOf[size])
		fmt.Printf("| client | CPU | wall | allocations | peak memory |\n|---|---|---|---|---|\n")
		var sum string
		for _, c := range clients {
			out, err := exec.Command(filepath.Join(dir, c.folder), c.name, addr, "SELECT "+size).Output()
			if err != nil {
				if e, ok := err.(*exec.ExitError); ok {
					return fmt.Errorf("%s: %w: %s", c.name, err, e.Stderr)
				}
				return err
			}
			var r measure.Result
			if err := json.Unmarshal(out, &r); err != nil {
				return err
			}
			if got := fmt.Sprintf("%d rows, %d bytes of text, sum %d, %.6g", r.Sum.Rows, r.Sum.Bytes, r.Sum.Ints, r.Sum.Floats); sum == "" {
				sum = got
			} else if got != sum {
				return fmt.Errorf("%s has read %s; others %s", c.name, got, sum)
			}
			results[size] = append(results[size], r)
			fmt.Printf("| %s | %.2f s | %.2f s | %s | %d MB |\n", c.title, r.CPU, r.Wall, thousands(r.Allocations), r.PeakKB>>10)
		}
		fmt.Println("\nall have read", sum)
	}
	last := sizes[len(sizes)-1]
	return os.WriteFile("../throughput.svg", chart(last, results[last]), 0o666)
}

func thousands(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// serve starts the server, whose statements are "SELECT " and a size.
func serve(sizes []string) (addr string, rows map[string]int, err error) {
	queries, err := fakehive.Load("testdata")
	if err != nil || len(queries) != 1 {
		return "", nil, fmt.Errorf("testdata: %d recordings: %w", len(queries), err)
	}
	// gohive asks for the statement USE default
	s := &fakehive.Server{Queries: map[string]*fakehive.Query{"USE default": {}}}
	rows = map[string]int{}
	for _, recorded := range queries {
		reply := recorded.Fetches[0]
		size := reply.Message().Len()
		for _, mb := range sizes {
			n, err := strconv.Atoi(mb)
			if err != nil {
				return "", nil, err
			}
			replies := n * 1e6 / size
			rows[mb] = 10_000 * replies
			s.Queries["SELECT "+mb] = &fakehive.Query{Schema: recorded.Schema, Fetch: func(_ context.Context, n int, _ int64) tcli.TFetchResultsResp {
				if n < replies {
					return reply
				}
				return fakehive.Empty()
			}}
		}
	}
	return s.Serve(forever{}, &rpc.Server{}), rows, nil
}

// forever is a testing.T of a server that ends with the process.
type forever struct{}

func (forever) Fatal(args ...any) { log.Fatal(args...) }
func (forever) Cleanup(func())    {}

// statement has 10,000 rows of ten columns.
const statement = "SELECT id, CAST(id % 1000 AS INT) AS quantity, id / 7.0D AS price, id % 3 = 0 AS paid, " +
	"concat('customer ', CAST(id % 5000 AS STRING)) AS customer, concat('some longer text about order ', CAST(id AS STRING)) AS note, " +
	"IF(id % 5 = 0, NULL, concat('city ', CAST(id % 300 AS STRING))) AS city, IF(id % 4 = 0, NULL, id * 1000) AS reference, " +
	"CAST(id % 100 AS SMALLINT) AS small, id * 0.5D AS weight FROM range(10000)"

// recordFrom writes testdata anew.
func recordFrom(addr string) error {
	dir := filepath.Join("testdata", "orders")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	ctx := context.Background()
	caller, err := rpc.Dial(ctx, "tcp", addr, rpc.Unframed, rpc.OneConnection)
	if err != nil {
		return err
	}
	defer caller.Close()
	client := tcli.NewTCLIServiceClient(caller)
	session, err := client.OpenSession(ctx, func(a tcli.TCLIServiceOpenSessionArgs) {
		a.NewReq().SetClientProtocol(tcli.TProtocolVersion_HIVE_CLI_SERVICE_PROTOCOL_V8)
	})
	if err != nil {
		return err
	}
	op, err := client.ExecuteStatement(ctx, func(a tcli.TCLIServiceExecuteStatementArgs) {
		a.NewReq().SetSessionHandle(session.GetSuccess().GetSessionHandle())
		a.GetReq().SetStatement(statement)
	})
	if err != nil {
		return err
	}
	schema, err := client.GetResultSetMetadata(ctx, func(a tcli.TCLIServiceGetResultSetMetadataArgs) {
		a.NewReq().SetOperationHandle(op.GetSuccess().GetOperationHandle())
	})
	if err != nil {
		return err
	}
	fetch, err := client.FetchResults(ctx, func(a tcli.TCLIServiceFetchResultsArgs) {
		a.NewReq().SetOperationHandle(op.GetSuccess().GetOperationHandle())
		a.GetReq().SetOrientation(tcli.TFetchOrientation_FETCH_NEXT)
		a.GetReq().SetMaxRows(10_000)
	})
	if err != nil {
		return err
	}
	for name, b := range map[string][]byte{
		"statement.sql":  []byte(statement + "\n"),
		"schema.thrift":  schema.GetSuccess().AppendTo(nil),
		"fetch-0.thrift": fetch.GetSuccess().AppendTo(nil),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// chart draws a bar for each client: MB for each second of processor time.
func chart(size string, results []measure.Result) []byte {
	mb, _ := strconv.ParseFloat(size, 64)
	most := 0.0
	for _, r := range results {
		most = max(most, mb/r.CPU)
	}
	var b strings.Builder
	const line = 34
	height := 60 + line*len(results)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 %d" font-family="sans-serif" font-size="14">`+"\n", height)
	fmt.Fprintf(&b, `<rect width="720" height="%d" fill="#ffffff"/>`+"\n", height)
	fmt.Fprintf(&b, `<text x="16" y="28" font-size="16" fill="#222222">MB read per second of processor time (%s MB from recorded replies)</text>`+"\n", size)
	for i, r := range results {
		y := 46 + i*line
		width := 300 * mb / r.CPU / most
		color := "#9aa5b1"
		if clients[i].folder == "ours" && clients[i].name != "apache" {
			color = "#1f77b4"
		}
		fmt.Fprintf(&b, `<text x="316" y="%d" text-anchor="end" fill="#222222">%s</text>`+"\n", y+17, clients[i].title)
		fmt.Fprintf(&b, `<rect x="326" y="%d" width="%.0f" height="22" fill="%s"/>`+"\n", y, width, color)
		fmt.Fprintf(&b, `<text x="%.0f" y="%d" fill="#222222">%.0f</text>`+"\n", 332+width, y+17, mb/r.CPU)
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}
