package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// waited returns how often this program has waited for a page, and how many bytes have been read
// from the disk for it.
func waited() (faults, read int64) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	_, rest, _ := strings.Cut(string(must(os.ReadFile("/proc/self/io"))), "\nread_bytes: ")
	if _, err := fmt.Sscan(rest, &read); err != nil {
		panic(err)
	}
	return u.Majflt, read
}

// drop makes the kernel forget what it has of the file in memory.
func drop(name string) {
	f := must(os.Open(name))
	defer f.Close()
	if err := f.Sync(); err != nil {
		panic(err)
	}
	const dontNeed = 4 // POSIX_FADV_DONTNEED
	if _, _, errno := syscall.Syscall6(syscall.SYS_FADVISE64, f.Fd(), 0, 0, dontNeed, 0, 0); errno != 0 {
		panic(errno)
	}
}
