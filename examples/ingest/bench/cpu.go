//go:build linux

package main

import (
	"syscall"
	"time"
)

// cpuTime returns the processor time of this process, on all cores.
func cpuTime() time.Duration { return usage(syscall.RUSAGE_SELF) }

// threadTime returns the processor time of this thread.
func threadTime() time.Duration { return usage(1) } // RUSAGE_THREAD, which package syscall lacks

func usage(who int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
