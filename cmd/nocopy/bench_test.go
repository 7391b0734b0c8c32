package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// benched is what reports in JSON have.
type benched struct {
	Calls, Connections, Unsent, Unfinished, SilentConnections int
	Pipelined                                                 bool
	LatencyUnit                                               string
	LongestUnfinished                                         float64
	Timeline                                                  []struct{ Partial bool }
}

// inOrder starts a server that answers each connection in order, once hold calls wait there. It
// returns the address, and a function that returns the most calls that have waited and the number
// of connections with calls.
func inOrder(t *testing.T, hold int) (addr string, seen func() (most, conns int)) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	var mu sync.Mutex
	most, conns := 0, 0
	serve := func(nc net.Conn) {
		defer nc.Close()
		var waiting [][]byte
		for first := true; ; first = false {
			head := make([]byte, 4)
			if _, err := io.ReadFull(nc, head); err != nil {
				return
			}
			request := append(head, make([]byte, binary.BigEndian.Uint32(head))...)
			if _, err := io.ReadFull(nc, request[4:]); err != nil {
				return
			}
			waiting = append(waiting, request)
			mu.Lock()
			most = max(most, len(waiting))
			if first {
				conns++
			}
			mu.Unlock()
			if len(waiting) < hold {
				continue
			}
			for _, request := range waiting {
				nc.Write(reply(request, []byte{8, 0, 0, 0, 0, 0, 3, 0}))
			}
			waiting = nil
		}
	}
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go serve(nc)
		}
	}()
	return l.Addr().String(), func() (int, int) {
		mu.Lock()
		defer mu.Unlock()
		return most, conns
	}
}

// TestBenchConnections: calls do not wait for each other on a connection, unless -pipeline asks
// for that. The report says.
func TestBenchConnections(t *testing.T) {
	idl := write(t, "shop.thrift", shopIDL)
	for _, c := range []struct {
		hold, most, conns int
		says              string
		flags             []string
	}{
		{1, 1, 16, "(closed loop: 16 at a time, each on a connection of its own)", nil},
		{1, 1, 3, "(closed loop: 3 at a time, each on a connection of its own)", []string{"-c", "3"}},
		{1, 1, 3, "(closed loop: 3 at a time, each on a connection of its own)", []string{"-c", "3", "-connections", "3"}},
		{4, 4, 1, "(closed loop: 4 at a time, pipelined on 1 connections: latencies include", []string{"-c", "4", "-pipeline", "-connections", "1"}},
	} {
		addr, seen := inOrder(t, c.hold)
		page := write(t, "page.html", "")
		args := append([]string{"bench", addr, "Shop.add", "a=1", "-idl", idl, "-transport", "framed", "-protocol", "binary", "-duration", "1m", "-n", "4800", "-warmup", "0", "-html", page}, c.flags...)
		out, errs, code := nocopy(t, "", args...)
		if code != 0 || !strings.Contains(out, "\n4800 calls in ") || !strings.Contains(out, c.says) {
			t.Errorf("%v: %d %s%s", c.flags, code, out, errs)
		}
		if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), c.says[1:strings.Index(c.says, ",")]) {
			t.Errorf("%v: the page is %s, %v", c.flags, text, err)
		}
		if most, conns := seen(); most != c.most || conns > c.conns || c.hold > 1 && conns != c.conns {
			t.Errorf("%v: %d calls at a time on a connection, of %d", c.flags, most, conns)
		}
	}
	if _, errs, code := nocopy(t, "", "bench", "localhost:1", "Shop.add", "-idl", idl, "-connections", "4"); code != 2 || !strings.Contains(errs, "add -pipeline") {
		t.Errorf("%d %s", code, errs)
	}
}

// TestBenchEnds: after -duration no call is sent. The report has those that were due, and those
// without an answer.
func TestBenchEnds(t *testing.T) {
	t.Parallel()
	idl := write(t, "shop.thrift", shopIDL)
	addr, _ := inOrder(t, 1<<30)
	args := []string{"bench", addr, "Shop.add", "a=1", "-idl", idl, "-transport", "framed", "-duration", "4s", "-rate", "25", "-c", "2", "-warmup", "0", "-timeout", "50s"}
	out, errs, code := nocopy(t, "", append(args, "-format", "json")...)
	var rep benched
	if err := json.Unmarshal([]byte(out), &rep); err != nil || code != 1 || rep.Calls != 0 || rep.Unsent < 98 || rep.Unsent+rep.Unfinished != 100 || rep.SilentConnections != rep.Unfinished || rep.LongestUnfinished < 1e6 ||
		rep.LatencyUnit != "microseconds" {
		t.Errorf("%d %s%s, %v", code, out, errs, err)
	}
	out, _, _ = nocopy(t, "", args...)
	for _, pattern := range []string{`9\d calls were due and not sent`, `[12] calls had no answer at the end, .* for \d`, "[12] of 2 connections had no answer: .*-concurrency"} {
		if !regexp.MustCompile(pattern).MatchString(out) {
			t.Errorf("%s does not match %s", out, pattern)
		}
	}
}

// wholeSeconds matches what compare says of a step of a second, which a stall makes longer.
var wholeSeconds = regexp.MustCompile(`calls per second asked for; [12] and [12] seconds`)

// TestBenchSteps: each step has a report, a row of the table, and its part in all files. The
// reports can be compared.
func TestBenchSteps(t *testing.T) {
	t.Parallel()
	idl := write(t, "shop.thrift", shopIDL)
	addr, _ := inOrder(t, 1)
	dir := t.TempDir()
	args := []string{"bench", addr, "Shop.add", "a=1", "-idl", idl, "-transport", "framed", "-protocol", "binary", "-duration", "1s", "-warmup", "0", "-c", "2"}
	files := []string{"-csv", dir + "/seconds.csv", "-hdr", dir + "/latencies.txt", "-html", dir + "/page.html"}
	out, errs, code := nocopy(t, "", append(append(args, files...), "-rate", "50:100:50", "-format", "json")...)
	var rep struct {
		Steps []struct {
			Loop  string
			Rate  float64
			Calls int
		}
	}
	if err := json.Unmarshal([]byte(out), &rep); err != nil || code != 0 || errs != "" || len(rep.Steps) != 2 || rep.Steps[0].Loop != "open" || rep.Steps[0].Rate != 50 || rep.Steps[1].Rate != 100 ||
		rep.Steps[0].Calls > 50 || rep.Steps[1].Calls > 100 {
		t.Fatalf("%d %s%s, %v", code, out, errs, err)
	}
	report := write(t, "report.json", out)
	if out, errs, code := nocopy(t, "", "compare", report, report); code != 0 || len(wholeSeconds.FindAllString(out, -1)) != 2 || strings.Count(out, "too few") != 8 {
		t.Errorf("%d %s%s", code, out, errs)
	}
	table := readFile(t, dir+"/seconds.csv")
	if rows := strings.Split(table, "\n"); rows[0] != "loop,rate,concurrency,second,calls,errors,p50_us,p99_us,max_us,partial" || !strings.HasPrefix(rows[1], "open,50,2,0,") || !strings.Contains(table, "\nopen,100,2,0,") {
		t.Errorf("the table is %s", table)
	}
	// The form of HdrHistogram's own programs
	percentiles := regexp.MustCompile(`^ *Value\s+Percentile\s+TotalCount\s+1/\(1-Percentile\)\n\n( +\d+\.\d{3} +\d\.\d{6} +\d+ +\S+\n)+#\[Mean    = +\d+\.\d{3}, StdDeviation   = +\S+\]\n#\[Max `)
	for i, name := range []string{"/latencies-50.txt", "/latencies-100.txt"} {
		if text := readFile(t, dir+name); !percentiles.MatchString(text) || !strings.Contains(text, fmt.Sprintf("Total count    = %12d]", rep.Steps[i].Calls)) {
			t.Errorf("%s is %s", name, text)
		}
	}
	if page := readFile(t, dir+"/page.html"); strings.Count(page, "<h1>Shop.add</h1>") != 2 || !strings.Contains(page, "open loop: 100 per second") || !strings.Contains(page, "<title>Shop.add</title>") {
		t.Errorf("the page is %s", page)
	}
	args[len(args)-1] = "1,2"
	out, errs, code = nocopy(t, "", args...)
	if code != 0 || errs != "" || !regexp.MustCompile(`closed loop: so many calls at a time, each on a connection of its own\n\n +at a time  per second +errors .* max *\n +1  +\d+ +0 .*\n +2 +\d+ +0 `).MatchString(out) {
		t.Errorf("%d %s%s", code, out, errs)
	}
	for _, flags := range [][]string{{"-rate", "1,2", "-n", "5"}, {"-rate", "1,2", "-c", "1,2"}, {"-rate", "2:1:1"}, {"-csv", "/none/x"}} {
		want := map[bool]int{true: 1, false: 2}[flags[0] == "-csv"]
		if _, errs, code := nocopy(t, "", append(append(args[:len(args)-2:len(args)-2], "-duration", "10ms"), flags...)...); code != want || errs == "" {
			t.Errorf("%v: %d %s", flags, code, errs)
		}
	}
}
