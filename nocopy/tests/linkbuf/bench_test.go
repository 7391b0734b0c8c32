package linkbuf_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/nocopythrift/nocopythrift/linkbuf"
)

// build makes a message of about 4 KiB of small parts, with one large part that is referred to.
func build(b *linkbuf.Buffer, text, large []byte) {
	b.Extend(4)
	for range 200 {
		b.WriteByte(11)
		b.Write(text)
	}
	b.Refer(large)
	b.WriteByte(0)
	b.Put(0, []byte{1, 2, 3, 4})
}

var benchText, benchLarge = []byte("some text of 24 bytes..."), make([]byte, 64<<10)

func BenchmarkBuild(b *testing.B) {
	for _, recycle := range []bool{false, true} {
		name := "slabs"
		if recycle {
			name = "recycled"
		}
		b.Run(name, func(b *testing.B) {
			var m linkbuf.Buffer
			m.Reset(recycle)
			b.ReportAllocs()
			for b.Loop() {
				build(&m, benchText, benchLarge)
				m.Free()
			}
		})
	}
}

func BenchmarkWriteTo(b *testing.B) {
	var m linkbuf.Buffer
	build(&m, benchText, benchLarge)
	b.SetBytes(int64(m.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.WriteTo(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkShare(b *testing.B) {
	var m, edited linkbuf.Buffer
	build(&m, benchText, benchLarge)
	edited.Reset(true)
	b.ReportAllocs()
	for b.Loop() {
		edited.Share(&m, 0, 2000)
		edited.Write(benchText)
		edited.Share(&m, 2025, m.Len())
		edited.Free()
	}
}

func BenchmarkReplace(b *testing.B) {
	var m linkbuf.Buffer
	m.Reset(true)
	b.ReportAllocs()
	for b.Loop() {
		m.Refer(benchLarge)
		for i := range 16 {
			m.Replace(4000*i, 4000*i+5, benchText)
		}
		m.Free()
	}
}

func BenchmarkReceive(b *testing.B) {
	wire := make([]byte, 4096)
	var in linkbuf.Receiver
	var m linkbuf.Buffer
	in.Reset(true)
	m.Reset(true)
	src := bytes.NewReader(wire)
	b.SetBytes(int64(len(wire)))
	b.ReportAllocs()
	for b.Loop() {
		src.Reset(wire)
		for len(in.Bytes()) < len(wire) {
			if err := in.Fill(src, len(wire)); err != nil {
				b.Fatal(err)
			}
		}
		in.Take(&m, len(wire))
		m.Free()
	}
}
