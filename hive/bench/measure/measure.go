// Package measure measures a client of HiveServer2.
package measure

import (
	"encoding/json"
	"log"
	"os"
	"runtime"
	"syscall"
	"time"
)

// Sum adds up the values that a client has read. All clients must get the same.
type Sum struct {
	Rows, Bytes, Ints int64
	Floats            float64
}

// Result is the cost of reading.
type Result struct {
	CPU, Wall   float64 // seconds
	Allocations uint64
	PeakKB      int64
	Sum         Sum
}

// Print runs read, and prints the Result as JSON.
func Print(read func() (Sum, error)) {
	var before, after runtime.MemStats
	var from, to syscall.Rusage
	runtime.ReadMemStats(&before)
	syscall.Getrusage(syscall.RUSAGE_SELF, &from)
	began := time.Now()
	sum, err := read()
	if err != nil {
		log.Fatal(err)
	}
	wall := time.Since(began)
	syscall.Getrusage(syscall.RUSAGE_SELF, &to)
	runtime.ReadMemStats(&after)
	seconds := func(u syscall.Rusage) float64 {
		return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
	}
	err = json.NewEncoder(os.Stdout).Encode(Result{
		CPU: seconds(to) - seconds(from), Wall: wall.Seconds(), Allocations: after.Mallocs - before.Mallocs, PeakKB: to.Maxrss, Sum: sum,
	})
	if err != nil {
		log.Fatal(err)
	}
}
