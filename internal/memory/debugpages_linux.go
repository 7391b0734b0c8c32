package memory

import (
	"os"
	"syscall"
)

func mapPages(n int) []byte {
	page := os.Getpagesize()
	mem, err := syscall.Mmap(-1, 0, max((n+page-1)&^(page-1), page), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic("nocopy: no pages for a recycled block: " + err.Error())
	}
	return mem
}

// protectPages gives the memory back to the system but keeps its addresses reserved.
func protectPages(mem []byte) {
	must(syscall.Madvise(mem, syscall.MADV_DONTNEED))
	must(syscall.Mprotect(mem, syscall.PROT_NONE))
}

func unmapPages(mem []byte) { must(syscall.Munmap(mem)) }

func must(err error) {
	if err != nil {
		panic("nocopy: pages of a recycled block: " + err.Error())
	}
}
