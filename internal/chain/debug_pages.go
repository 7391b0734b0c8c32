//go:build nocopydebug && unix

package chain

import (
	"os"

	"golang.org/x/sys/unix"
)

func mapPages(n int) []byte {
	page := os.Getpagesize()
	mem, err := unix.Mmap(-1, 0, max((n+page-1)&^(page-1), page), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		panic("nocopy: no pages for a recycled block: " + err.Error())
	}
	return mem
}

// protectPages gives the memory back to the system and keeps its addresses.
func protectPages(mem []byte) {
	must(unix.Madvise(mem, unix.MADV_DONTNEED))
	must(unix.Mprotect(mem, unix.PROT_NONE))
}

func unmapPages(mem []byte) { must(unix.Munmap(mem)) }

func must(err error) {
	if err != nil {
		panic("nocopy: pages of a recycled block: " + err.Error())
	}
}
