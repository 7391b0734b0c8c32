package gzipped_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand"
	"net/http"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/gzipped"
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
		if got := gzipped.Prefers(http.Header{"Accept-Encoding": {text}}); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if !gzipped.Prefers(http.Header{"Accept-Encoding": {"br", "gzip"}}) {
		t.Error("the second header is ignored")
	}
	for text, want := range map[string]string{"": "", "identity": "", "gzip": "gzip", " X-GZip ": "gzip", "br": "br", "gzip, gzip": "gzip, gzip"} {
		if got := gzipped.Encoding(http.Header{"Content-Encoding": {text}}); got != want {
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
			z := new(gzipped.Budget).Open(r, 1<<20)
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
			z := new(gzipped.Budget).Open(bytes.NewReader(zipped[:n]), 1<<20)
			if _, err := io.ReadAll(z); err != io.ErrUnexpectedEOF {
				t.Errorf("%d bytes: %v", n, err)
			}
			z.End()
		}
	}
	z := new(gzipped.Budget).Open(bytes.NewReader([]byte("no gzip at all")), 1<<20)
	defer z.End()
	if _, err := io.ReadAll(z); err != gzip.ErrHeader {
		t.Error(err)
	}
	(*gzipped.Body)(nil).End()
}

// TestBudget: bodies that are compressed much have one and a half times the largest one at a time,
// and a quarter of it per second. Others are not limited.
func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 1 << 20
		var b gzipped.Budget
		bomb := zip(make([]byte, most))
		open := func(zipped []byte) (*gzipped.Body, error) {
			z := b.Open(bytes.NewReader(zipped), most)
			_, err := io.Copy(io.Discard, z)
			return z, err
		}
		free := func() (n int) {
			for {
				z, err := open(zip(make([]byte, most/16)))
				defer z.End()
				if errors.Is(err, gzipped.ErrBusy) {
					return n
				}
				n++
			}
		}
		first, err := open(bomb)
		if err != nil {
			t.Fatal(err)
		}
		if second, err := open(bomb); !errors.Is(err, gzipped.ErrBusy) {
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
		if second, err := open(bomb); !errors.Is(err, gzipped.ErrBusy) {
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

// TestCompressor: its bytes are gzip, also when it is used again.
func TestCompressor(t *testing.T) {
	for n := range 10 {
		want := bytes.Repeat([]byte("text"), n*10_000)
		c := gzipped.NewCompressor()
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
