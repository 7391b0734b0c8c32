package keytable

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// TestSeededHashes: keys can't be chosen to collide, since every process hashes them in another
// way.
func TestSeededHashes(t *testing.T) {
	if os.Getenv("NOCOPY_PRINT_HASH") != "" {
		fmt.Println(hashOf([]byte("key")))
		return
	}
	hashes := map[string]bool{}
	for range 3 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSeededHashes$")
		cmd.Env = append(os.Environ(), "NOCOPY_PRINT_HASH=1")
		out, err := cmd.Output()
		if err != nil {
			t.Skip("a test binary can't be started here: ", err)
		}
		hashes[string(out)] = true
	}
	if len(hashes) != 3 {
		t.Errorf("three processes hash a key in %d ways", len(hashes))
	}
}
