//go:build nocopydebug && !linux

package chain

// Where pages can't be protected, what is stale reads as something striking.

func mapPages(n int) []byte { return make([]byte, n) }

func protectPages(mem []byte) {
	for i := range mem {
		mem[i] = 0xdb
	}
}

func unmapPages([]byte) {}
