package compressed_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand"
	"net/http"
	"os"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/compressed"
)

func zip(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write(b)
	z.Close()
	return out.Bytes()
}

func TestHeaders(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "gzip": true, "GZIP": true, "x-gzip": true, "deflate, br": false, "deflate, gzip;q=1.0, *;q=0.5": true, "gzip;q=0": false,
		"gzip; q=0.000": false, "gzip ; q = 0.001": true, "gzip;q=x": false, "identity, gzip;q=0.5": false, "identity;q=0.5, gzip;q=0.5": true,
		"identity;q=0, gzip;q=0.1": true, "gzipped": false, "*": false, "gzip;q=nan": false,
	} {
		if got := compressed.Prefers(http.Header{"Accept-Encoding": {text}}); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if !compressed.Prefers(http.Header{"Accept-Encoding": {"br", "gzip"}}) {
		t.Error("the second header is ignored")
	}
	for text, want := range map[string]string{"": "", "identity": "", "gzip": "gzip", " X-GZip ": "gzip", "br": "br", "gzip, gzip": "gzip, gzip"} {
		if got := compressed.Encoding(http.Header{"Content-Encoding": {text}}); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestBody: bodies come out as they were, from readers of any kind; malformed ones are errors.
func TestBody(t *testing.T) {
	noise := make([]byte, 100_000)
	rand.New(rand.NewSource(1)).Read(noise)
	for _, want := range [][]byte{nil, []byte("a"), noise, make([]byte, 100_000), bytes.Repeat([]byte("text "), 10_000)} {
		zipped := zip(want)
		for name, r := range map[string]io.Reader{"whole": bytes.NewReader(zipped), "bytes": iotest.OneByteReader(bytes.NewReader(zipped)), "with its end": iotest.DataErrReader(bytes.NewReader(zipped))} {
			z := room(1<<20).Open(r, -1)
			got, err := io.ReadAll(z)
			if err != nil || !bytes.Equal(got, want) || z.Received() != len(zipped) {
				t.Errorf("%s: %d bytes of %d, %d compressed of %d, %v", name, len(got), len(want), z.Received(), len(zipped), err)
			}
			z.End()
			z.End()
			if n, err := z.Read(make([]byte, 1)); n > 0 || err == nil {
				t.Errorf("%s: it is read after its end", name)
			}
		}
		for n := range min(len(zipped), 100) {
			z := room(1<<20).Open(bytes.NewReader(zipped[:n]), int64(n))
			if _, err := io.ReadAll(z); err != io.ErrUnexpectedEOF {
				t.Errorf("%d bytes: %v", n, err)
			}
			z.End()
		}
	}
	z := room(1<<20).Open(bytes.NewReader([]byte("no gzip at all")), -1)
	defer z.End()
	if _, err := io.ReadAll(z); err != gzip.ErrHeader {
		t.Error(err)
	}
	(*compressed.Body)(nil).End()
}

// room returns a Room of its own for bodies of at most most bytes, which do not wait.
func room(most int) compressed.Room {
	return compressed.Room{Budget: compressed.NewBudget(most, nil), Most: most, Wait: -1}
}

// TestBodyBudget: bodies that are compressed much have one and a half times the largest one at a
// time, and a quarter of it per second. Others are not limited.
func TestBodyBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 1 << 20
		r := room(most)
		bomb := zip(make([]byte, most))
		open := func(zipped []byte) (*compressed.Body, error) {
			z := r.Open(bytes.NewReader(zipped), int64(len(zipped)))
			_, err := io.Copy(io.Discard, z)
			return z, err
		}
		free := func() (n int) {
			for {
				z, err := open(zip(make([]byte, most/16)))
				defer z.End()
				if errors.Is(err, compressed.ErrBusy) {
					return n
				}
				n++
			}
		}
		first, err := open(bomb)
		if err != nil {
			t.Fatal(err)
		}
		if second, err := open(bomb); !errors.Is(err, compressed.ErrBusy) {
			t.Errorf("two at a time: %v", err)
		} else {
			second.End()
		}
		text := make([]byte, most)
		rand.New(rand.NewSource(1)).Read(text)
		if z, err := open(zip(text)); err != nil {
			t.Errorf("a body that is not compressed much: %v", err)
		} else {
			z.End()
		}
		time.Sleep(time.Hour)
		if second, err := open(bomb); !errors.Is(err, compressed.ErrBusy) {
			t.Errorf("what is in use has faded: %v", err)
		} else {
			second.End()
		}
		first.End()
		time.Sleep(time.Hour)
		if n := free(); n < 24 || n > 40 {
			t.Errorf("%d of 16 in one and a half", n)
		}
		if n := free(); n != 0 {
			t.Errorf("%d are free at once", n)
		}
		time.Sleep(time.Second)
		if n := free(); n < 4 || n > 8 {
			t.Errorf("%d of 4 are free after a second", n)
		}
	})
}

// TestBodyGrowth: what a body becomes after it was read is reserved while it is read, so that
// bodies wait for that too, and is charged when it is known. It never counts less than the body.
func TestBodyGrowth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most, size = 1 << 20, 1 << 17
		for _, length := range []int64{int64(len(zip(make([]byte, size)))), -1} {
			r := room(most)
			r.Growth = func(first byte) int64 { return 1 + 7*int64(1-first) }
			open := func(first byte) (*compressed.Body, error) {
				z := r.Open(bytes.NewReader(zip(append([]byte{first}, make([]byte, size-1)...))), length)
				_, err := io.Copy(io.Discard, z)
				return z, err
			}
			for _, settled := range []int64{size, 1} { // the second is less than was read
				growing, err := open(0)
				if err != nil {
					t.Fatal(err)
				}
				if z, err := open(0); !errors.Is(err, compressed.ErrBusy) {
					t.Errorf("a second body that becomes 8 times as large: %v", err)
				} else {
					z.End()
				}
				growing.Settle(settled)
				if z, err := open(0); err != nil {
					t.Errorf("a body, when another has grown less: %v", err)
				} else {
					z.End()
				}
				growing.End()
				time.Sleep(time.Hour)
			}
			n := 0
			for ; n < 100; n++ { // they fade, although they say that they are small
				z, err := open(1)
				z.Settle(1)
				z.End()
				if err != nil {
					break
				}
			}
			if n < 3 || n > 13 {
				t.Errorf("%d bodies at once that have %d bytes each, in %d", n, size, most/2*3)
			}
			time.Sleep(time.Hour)
		}
	})
}

// TestBodiesWait: bodies wait for each other, none for what another lacks, and end when they are
// told to.
func TestBodiesWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 1 << 20
		r := compressed.Room{Budget: compressed.NewBudget(most, nil), Most: most, Wait: time.Minute}
		bomb := zip(make([]byte, most))
		start := time.Now()
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Go(func() {
				length := int64(len(bomb))
				if i%2 == 0 {
					length = -1
				}
				z := r.Open(iotest.OneByteReader(bytes.NewReader(bomb)), length)
				defer z.End()
				if n, err := io.Copy(io.Discard, z); n != most || err != nil {
					t.Errorf("%d bytes, %v", n, err)
				}
			})
		}
		wg.Wait()
		if d := time.Since(start); d < 30*time.Second || d > time.Minute {
			t.Errorf("10 MB of 256 KB per second took %v", d)
		}
		r.Stop = func() bool { return true }
		z := r.Open(bytes.NewReader(bomb), -1)
		if _, err := io.Copy(io.Discard, z); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
		z.End()
	})
}

// TestCompressor: its bytes are gzip, also when it is used again.
func TestCompressor(t *testing.T) {
	for n := range 10 {
		want := bytes.Repeat([]byte("text"), n*10_000)
		c := compressed.NewCompressor()
		c.Write(want)
		r, err := gzip.NewReader(bytes.NewReader(c.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes of %d, %v", len(got), len(want), err)
		}
		c.Free()
	}
}
