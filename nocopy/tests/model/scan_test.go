package model_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/referee"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// scanPieces passes b to a Scanner in pieces, and calls it only when the Scanner's result demands
// it. It returns the size of the struct, or 0 if its end is not in b, and the number of calls.
func scanPieces(b []byte, piece int) (end, calls int, err error) {
	var s thriftimpl.Scanner
	s.Reset(0)
	need := 1
	for have := 0; have < len(b); {
		if have = min(have+piece, len(b)); have < need {
			continue
		}
		calls++
		if end, need, err = s.Scan(b[:have]); end > 0 || err != nil {
			return end, calls, err
		}
		if need <= have {
			return 0, calls, errors.New("no more is needed than there is")
		}
	}
	return 0, calls, nil
}

// TestScanner: wherever the bytes are cut, the end is found exactly when the last byte has
// arrived.
func TestScanner(t *testing.T) {
	everything := referee.Everything()[0]
	for seed := range uint64(100) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			g := newGen(seed)
			wire := referee.Write(g.Record(everything, 2), nil)
			if len(wire) > 20_000 {
				return
			}
			more := append(bytes.Clone(wire), "next"...)
			for _, piece := range []int{1, 2, 3, 7, 64, len(more)} {
				if end, _, err := scanPieces(more, piece); end != len(wire) || err != nil {
					t.Fatalf("pieces of %d: the end is at %d of %d (%v)", piece, end, len(wire), err)
				}
			}
			if end, _, err := scanPieces(wire[:len(wire)-1], 1); end != 0 || err != nil {
				t.Fatalf("without the last byte: %d, %v", end, err)
			}
		})
	}
}

// TestScannerSpoilt: for damaged bytes, a Scanner gives the same result as Peek, which sees all
// bytes at once.
func TestScannerSpoilt(t *testing.T) {
	everything := referee.Everything()[0]
	r := rand.New(rand.NewPCG(1, 2))
	var ends, shorts, errs int
	for seed := range uint64(50) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			good := referee.Write(newGen(seed).Record(everything, 2), nil)
			for range 40 {
				wire := bytes.Clone(good)
				for range 1 + r.IntN(3) {
					wire[r.IntN(len(wire))] = byte(r.Uint32() >> (r.Uint32() % 25))
				}
				v, peekErr := nocopy.Peek(wire)
				end, _, err := scanPieces(wire, 1+r.IntN(len(wire)))
				switch {
				case peekErr == nil:
					ends++
					if end != len(v.Raw()) || err != nil {
						t.Fatalf("%d, %v: the end is at %d", end, err, len(v.Raw()))
					}
				case errors.Is(peekErr, io.ErrUnexpectedEOF):
					shorts++
					if end != 0 {
						t.Fatalf("an end at %d of bytes that are too few", end)
					}
				default:
					errs++
					if err == nil {
						t.Fatalf("no error, but %v", peekErr)
					}
				}
			}
		})
	}
	if ends == 0 || shorts == 0 || errs == 0 {
		t.Errorf("%d whole, %d too short, %d wrong", ends, shorts, errs)
	}
}

func TestScannerLimits(t *testing.T) {
	nested := func(n int, b string, end string) []byte {
		return append(bytes.Repeat([]byte(b), n), bytes.Repeat([]byte(end), n+1)...)
	}
	for name, c := range map[string]struct {
		wire []byte
		want error
	}{
		"64 structs":                {nested(63, "\x0c\x00\x01", "\x00"), nil},
		"65 structs":                {nested(64, "\x0c\x00\x01", "\x00"), nocopy.ErrLimit},
		"a million lists":           {append([]byte{15, 0, 1}, bytes.Repeat([]byte{15, 0, 0, 0, 1}, 1_000_000)...), nocopy.ErrLimit},
		"a list of 16 GiB":          {[]byte{15, 0, 1, 10, 0x7f, 0xff, 0xff, 0xff}, nocopy.ErrLimit},
		"a text of 2 GiB":           {[]byte{11, 0, 1, 0x7f, 0xff, 0xff, 0xff}, nocopy.ErrLimit},
		"a negative text":           {[]byte{11, 0, 1, 0xff, 0xff, 0xff, 0xff}, nocopy.ErrNegative},
		"a negative list":           {[]byte{15, 0, 1, 12, 0xff, 0xff, 0xff, 0xff}, nocopy.ErrNegative},
		"a negative map":            {[]byte{13, 0, 1, 12, 12, 0xff, 0xff, 0xff, 0xff}, nocopy.ErrNegative},
		"no such type":              {[]byte{7, 0, 1}, nocopy.ErrType},
		"a list of no such type":    {[]byte{15, 0, 1, 9, 0, 0, 0, 1}, nocopy.ErrType},
		"an empty list of any type": {[]byte{15, 0, 1, 9, 0, 0, 0, 0, 0}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if end, _, err := scanPieces(c.wire, len(c.wire)); !errors.Is(err, c.want) || c.want == nil && end != len(c.wire) {
				t.Errorf("%s: %d of %d, %v", name, end, len(c.wire), err)
			}
		})
	}
}

// TestScannerDrop: if scanned bytes are dropped, as often as possible or at random, the Scanner
// finds the same end and the same errors.
func TestScannerDrop(t *testing.T) {
	everything := referee.Everything()[0]
	r := rand.New(rand.NewPCG(1, 2))
	for seed := range uint64(200) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			wire := referee.Write(newGen(seed).Record(everything, 2), nil)
			if seed%2 == 0 {
				wire[r.IntN(len(wire))] ^= 1 << r.IntN(8)
			}
			var whole thriftimpl.Scanner
			wantEnd, _, wantErr := whole.Scan(wire)
			var s thriftimpl.Scanner
			var end, dropped int
			var err error
			for have, need := 0, 1; end == 0 && err == nil && have < len(wire); {
				if have = min(have+1+r.IntN(200), len(wire)); have-dropped < need {
					continue
				}
				if end, need, err = s.Scan(wire[dropped:have]); err == nil && end == 0 && r.IntN(2) == 0 {
					n := s.Passed()
					s.Drop()
					dropped, need = dropped+n, need-n
					if s.Passed() != 0 {
						t.Fatal("something is passed when all was dropped")
					}
				}
			}
			if end > 0 {
				end += dropped
			}
			if end != wantEnd || fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("seed %d: the end is at %d (%v), without dropping at %d (%v)", seed, end, err, wantEnd, wantErr)
			}
		})
	}
}

// TestScannerMisused: the zero Scanner is ready for use. After the end or an error, a Scanner
// returns the same again.
func TestScannerMisused(t *testing.T) {
	var s thriftimpl.Scanner
	if end, need, err := s.Scan(nil); end != 0 || need != 1 || err != nil {
		t.Errorf("nothing: %d, %d, %v", end, need, err)
	}
	for _, b := range [][]byte{{0}, {0, 1, 2}, nil, {12}} {
		if end, need, err := s.Scan(b); b != nil && (end != 1 || need != 0 || err != nil) {
			t.Errorf("%x: %d, %d, %v", b, end, need, err)
		}
	}
	s.Reset(0)
	bad := []byte{2, 0, 1, 1, 99}
	_, _, first := s.Scan(bad)
	for range 3 {
		if _, _, err := s.Scan(bad); err == nil || err.Error() != first.Error() || !errors.Is(err, nocopy.ErrType) {
			t.Errorf("%v, then %v", first, err)
		}
		s.Drop()
	}
	s.Reset(0)
	s.Scan([]byte{2, 0, 1, 1, 15, 0, 1, 12, 0, 0, 0, 9})
	for _, fewer := range [][]byte{{2}, nil, {2, 0, 1, 1, 15}} { // fewer bytes than it has scanned
		if end, _, err := s.Scan(fewer); end != 0 || err != nil {
			t.Errorf("%x: %d, %v", fewer, end, err)
		}
	}
	s = thriftimpl.Scanner{}
	s.Drop()
	if s.Passed() != 0 {
		t.Error("the zero Scanner has passed something")
	}
}

// TestScannerOnce: bytes that come one at a time are scanned once, even with many values.
func TestScannerOnce(t *testing.T) {
	args := func(n int) []byte {
		b := []byte{15, 0, 1, 12, 0, 0, 0, 0}
		be := []byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
		copy(b[4:], be)
		return append(append(b, bytes.Repeat([]byte{8, 0, 1, 0, 0, 0, 1, 0}, n)...), 0)
	}
	time1 := func(n int) time.Duration {
		b := args(n)
		best := time.Hour
		for range 5 {
			start := time.Now()
			if end, _, err := scanPieces(b, 1); end != len(b) || err != nil {
				t.Fatal(end, err)
			}
			best = min(best, time.Since(start))
		}
		return best
	}
	small, large := time1(1_000), time1(32_000)
	if large > 32*12*small { // 32 times as much is linear, 1024 times quadratic
		t.Errorf("1,000 structs take %v, 32,000 take %v", small, large)
	}
}
