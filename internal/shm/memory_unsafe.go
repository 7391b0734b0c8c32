//go:build linux && !nounsafe

package shm

import (
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// memfdNumbers has the numbers of memfd_create, by architecture.
var memfdNumbers = map[string]uintptr{
	"386": 356, "amd64": 319, "arm": 385, "arm64": 279, "loong64": 279, "mips": 4354, "mipsle": 4354,
	"mips64": 5314, "mips64le": 5314, "ppc64": 360, "ppc64le": 360, "riscv64": 279, "s390x": 350,
}

// memfdCreate makes a memfd.
func memfdCreate(name string, flags uintptr) (int, error) {
	number, ok := memfdNumbers[runtime.GOARCH]
	if !ok {
		return -1, ErrUnsupported
	}
	p, err := syscall.BytePtrFromString(name)
	if err != nil {
		return -1, err
	}
	// SAFETY: p is a string that ends with a zero byte, which the kernel only reads; it is kept
	// alive by being converted in the call.
	fd, _, e := syscall.Syscall(number, uintptr(unsafe.Pointer(p)), flags, 0)
	if e != 0 {
		return -1, os.NewSyscallError("memfd_create", e)
	}
	return int(fd), nil
}

// loadWord returns the word of slot i in mapped memory. Another process may store it meanwhile.
func loadWord(mem []byte, i int) uint32 { return atomic.LoadUint32(wordAt(mem, i)) }

// storeWord stores the word of slot i. Another process may load it meanwhile.
func storeWord(mem []byte, i int, v uint32) { atomic.StoreUint32(wordAt(mem, i), v) }

func wordAt(mem []byte, i int) *uint32 {
	b := (*[4]byte)(mem[4*i:])
	// SAFETY: b has four bytes, and its address is a multiple of 4: mapped memory begins with a page.
	return (*uint32)(unsafe.Pointer(b))
}
