package main

import (
	"os"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if os.Getenv(roleEnv) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestAnswers has all peers carry out everything for a moment: an answer that is not the record is
// an error.
func TestAnswers(t *testing.T) {
	b := &bench{conns: 2, duration: 20 * time.Millisecond}
	defer b.stop()
	if err := b.start(); err != nil {
		t.Fatal(err)
	}
	if err := b.all(1, []string{"echo", "proxy"}, shapes, []string{"1024", "70000"}); err != nil {
		t.Fatal(err)
	}
}

// TestSources checks that records have about the size that was asked for, and that Kitex's own
// messages are made of the same values.
func TestSources(t *testing.T) {
	for _, shape := range shapes {
		for _, size := range []int{512, 1 << 10, 1 << 20} {
			s := newSource(shape, size)
			if n := s.wire(); n > size+8 || n < size-itemSize {
				t.Errorf("%s of %d bytes has %d", shape, size, n)
			}
			if got, want := plainSum(plainRecord(s)), ourSum(s.message()); got != want {
				t.Errorf("%s of %d bytes: sums %d and %d", shape, size, got, want)
			}
		}
	}
}
