package parse_test

import (
	"math"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// TestScannerDepth: a depth above the maximum means the maximum.
func TestScannerDepth(t *testing.T) {
	var s thriftimpl.Scanner
	for _, depth := range []int{1 << 30, math.MaxInt} {
		s.Reset(depth)
		if end, _, err := s.Scan([]byte{12, 0, 1, 0, 0}); end != 5 || err != nil {
			t.Errorf("depth %d: %d, %v", depth, end, err)
		}
	}
}

// TestNilStreams: reading from nil and writing to nil panic, and the text names the Reader or
// Writer.
func TestNilStreams(t *testing.T) {
	s := newStruct(allDesc)
	panicsWith(t, "nocopy: Read of a nil", func() { nocopy.Read[nocopy.Struct](allDesc, nil, 3) })
	panicsWith(t, "nocopy: WriteTo of a nil", func() { s.Message().WriteTo(nil) })
	panicsWith(t, "nocopy: WriteFrame of a nil", func() { s.Message().WriteFrame(nil) })
}
