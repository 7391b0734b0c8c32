//go:build !nosimd && !nounsafe

package byteorder

import (
	"os"
	"regexp"
	"testing"
)

// TestDetection: hasAVX2 agrees with the operating system's description of the processor.
func TestDetection(t *testing.T) {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Fatal(err)
	}
	flags := regexp.MustCompile(`(?m)^flags\s*:.*$`).Find(info)
	if has := regexp.MustCompile(`\bavx2\b`).Match(flags); has != vectorised {
		t.Errorf("AVX2 is there: %v; found: %v", has, vectorised)
	}
}
