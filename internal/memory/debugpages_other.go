//go:build !linux

package memory

// On systems where pages cannot be protected, memory that was given back is filled with a
// conspicuous byte.

func mapPages(n int) []byte { return make([]byte, n) }

func protectPages(mem []byte) {
	for i := range mem {
		mem[i] = 0xdb
	}
}

func unmapPages([]byte) {}
