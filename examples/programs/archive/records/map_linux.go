package records

import (
	"os"
	"syscall"
)

// mapped maps a file for reading.
func mapped(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return nil, err
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, &os.PathError{Op: "mmap", Path: name, Err: err}
	}
	// Without it the kernel reads the surroundings of each page, too.
	if err := syscall.Madvise(b, syscall.MADV_RANDOM); err != nil {
		syscall.Munmap(b)
		return nil, &os.PathError{Op: "madvise", Path: name, Err: err}
	}
	return b, nil
}

func unmap(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	return syscall.Munmap(b)
}
