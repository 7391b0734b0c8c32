//go:build linux

package main

import (
	"strings"
	"testing"
	"time"
)

// TestRun: all front ends take the same samples, which their TSDBs have afterwards, and the table
// has a row for each, with and without a TSDB.
func TestRun(t *testing.T) {
	var out strings.Builder
	c := config{rounds: 2, series: 53, perRequest: 20, scrapes: 3}
	if err := c.run(&out); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n| "); n != 1+2*len(fronts) {
		t.Error(out.String())
	}
}

// TestCheck: samples that are missing are noticed.
func TestCheck(t *testing.T) {
	p, err := start(fronts[0], true, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	c := config{rounds: 1, series: 10, perRequest: 4, scrapes: 2}
	requests := c.requests(newSeries(c.series), time.Now().UnixMilli())[p.front]
	if _, err := p.round(requests[:1], 4); err != nil {
		t.Fatal(err)
	}
	if err := p.check(c); err == nil {
		t.Error("4 samples are taken for all")
	}
}
