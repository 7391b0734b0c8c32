package chain

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/memory"
)

// pieceBuffer returns a sealed Buffer whose pieces have these sizes, and its bytes.
func pieceBuffer(sizes ...int) (*Buffer, []byte) {
	b := new(Buffer)
	b.Reset(false)
	var want, block []byte
	for i, n := range sizes {
		mem := bytes.Repeat([]byte{byte(i + 1)}, n)
		want = append(want, mem...)
		block = append(append(block, mem...), '-') // a byte between two pieces keeps them apart
	}
	p := b.AddForeign(block, false)
	for _, n := range sizes {
		b.AddRoot(p, p+Pos(n))
		p += Pos(n) + 1
	}
	b.Seal()
	return b, want
}

func repeated(n, size int) []int {
	sizes := make([]int, n)
	for i := range sizes {
		sizes[i] = size
	}
	return sizes
}

// recorder is a Writer that records what is written to it.
type recorder struct {
	bytes.Buffer
	sizes []int
	short bool  // take one byte less than offered, without an error
	after int   // bytes after which err comes
	err   error // nil: never
}

func (r *recorder) Write(b []byte) (int, error) {
	r.sizes = append(r.sizes, len(b))
	switch {
	case r.err != nil && r.Len()+len(b) > r.after:
		n, _ := r.Buffer.Write(b[:r.after-r.Len()])
		return n, r.err
	case r.short:
		return r.Buffer.Write(b[:len(b)-1])
	}
	return r.Buffer.Write(b)
}

// TestWriteStream: for a Writer without writev, every write except the last has at least 64 KiB.
func TestWriteStream(t *testing.T) {
	const most = 64 << 10
	for _, c := range []struct {
		name  string
		sizes []int
		want  []int // writes
		stats memory.Stats
	}{
		{"nothing", nil, nil, memory.Stats{}},
		{"one small piece is written as it is", []int{10}, []int{10}, statsOf(10, 1, 1, 10)},
		{"one large piece", []int{500_000}, []int{500_000}, statsOf(500_000, 1, 1, 500_000)},
		{"pieces of 1 KiB and more", []int{1024, 2000, 1025, 10, 16 << 10}, []int{1024 + 2000 + 1025 + 10 + 16<<10}, statsOf(4059+16<<10, 1, 0, 0)},
		{"one of just as much", []int{most, 1}, []int{most, 1}, statsOf(most+1, 2, 1, most)},
		{"a little and a lot", []int{10, 300_000}, []int{most, 300_010 - most}, statsOf(300_010, 2, 1, 300_010-most)},
		{"a little, a lot, a little", []int{10, most, 10}, []int{most, 20}, statsOf(most+20, 2, 0, 0)},
		{"many", repeated(1000, 2000), append(repeated(30, most), 2_000_000-30*most), statsOf(2_000_000, 31, 0, 0)},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, want := pieceBuffer(c.sizes...)
			var r recorder
			stats, err := b.Write(&r, nil)
			if err != nil || stats != c.stats {
				t.Errorf("%s: %+v, %v, want %+v", c.name, stats, err, c.stats)
			}
			if fmt.Sprint(r.sizes) != fmt.Sprint(c.want) || !bytes.Equal(r.Bytes(), want) {
				t.Errorf("%s: written as %v, want %v", c.name, r.sizes, c.want)
			}
			var batched recorder
			var batch Batch
			if batch.Add(b, false); len(c.sizes) == 0 {
				return
			}
			if stats, err := batch.Write(&batched); err != nil || stats != c.stats || fmt.Sprint(batched.sizes) != fmt.Sprint(c.want) {
				t.Errorf("%s: in a batch written as %v, %+v, want %v, %+v: %v", c.name, batched.sizes, stats, c.want, c.stats, err)
			}
		})
	}
}

// TestWriteRecords: a message of many pieces takes as few TLS records as a message in one piece.
func TestWriteRecords(t *testing.T) {
	records := func(sizes ...int) int {
		client, server := connected(t)
		counter := &recordCounter{Conn: client}
		cert := selfSigned(t)
		go func() {
			io.Copy(io.Discard, tls.Server(server, &tls.Config{Certificates: []tls.Certificate{cert}}))
		}()
		conn := tls.Client(counter, &tls.Config{InsecureSkipVerify: true, DynamicRecordSizingDisabled: true})
		if err := conn.Handshake(); err != nil {
			t.Fatal(err)
		}
		counter.records = 0
		b, _ := pieceBuffer(sizes...)
		if _, err := b.WriteFrame(conn); err != nil {
			t.Fatal(err)
		}
		return counter.records
	}
	for _, sizes := range [][]int{repeated(15, 1024), repeated(100, 2000), {10, 200_000, 10}, repeated(30, 20_000)} {
		total := 0
		for _, n := range sizes {
			total += n
		}
		// 64 KiB are four records and a bit
		if got, most := records(sizes...), records(total)+2; got > most {
			t.Errorf("%d pieces, %d bytes: %d records, more than %d", len(sizes), total, got, most)
		}
	}
}

// recordCounter counts the TLS records that are written to a connection.
type recordCounter struct {
	net.Conn
	records int
}

func (c *recordCounter) Write(b []byte) (int, error) {
	for rest := b; len(rest) >= 5; {
		c.records++
		rest = rest[min(5+int(rest[3])<<8+int(rest[4]), len(rest)):]
	}
	return c.Conn.Write(b)
}

func selfSigned(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func TestWriteHead(t *testing.T) {
	for _, sizes := range [][]int{nil, {5}, {5000}, {5, 6}, {5000, 5}} {
		b, want := pieceBuffer(sizes...)
		var r recorder
		stats, err := b.Write(&r, []byte("head"))
		if err != nil || r.String() != "head"+string(want) || stats.Bytes != len(want)+4 {
			t.Errorf("%v: %+v, %v, %q", sizes, stats, err, r.String())
		}
		r = recorder{}
		if stats, err = b.WriteFrame(&r); err != nil || stats.Bytes != len(want)+4 {
			t.Errorf("%v: frame: %+v, %v", sizes, stats, err)
		}
		if frame := append(binary.BigEndian.AppendUint32(nil, uint32(len(want))), want...); !bytes.Equal(r.Bytes(), frame) {
			t.Errorf("%v: the frame is %x", sizes, r.Bytes())
		}
	}
}

// TestWriteErrors: after any error, the written bytes are counted, and the next write works.
func TestWriteErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, sizes := range [][]int{{10}, {5000}, {10, 5000, 10}, repeated(3000, 1500), repeated(1000, 900)} {
		b, want := pieceBuffer(sizes...)
		for _, after := range []int{0, 1, 9, len(want) / 2, len(want) - 1} {
			after = min(after, len(want)-1)
			r := recorder{err: broken, after: after}
			n, err := b.WriteTo(&r)
			if err != broken || int(n) != after || !bytes.Equal(r.Bytes(), want[:after]) {
				t.Errorf("%d pieces, broken after %d bytes: %d, %v", len(sizes), after, n, err)
			}
		}
		if _, err := b.WriteTo(&recorder{short: true}); err != io.ErrShortWrite {
			t.Errorf("%d pieces, short writes: %v", len(sizes), err)
		}
		var r recorder
		if n, err := b.WriteTo(&r); err != nil || int(n) != len(want) || !bytes.Equal(r.Bytes(), want) {
			t.Errorf("%d pieces, after errors: %d, %v", len(sizes), n, err)
		}
	}
}

// TestWriteManySmall: if there are very many small pieces, the first are written before all are
// copied. The next write uses the same memory, except that pools drop some now and then.
func TestWriteManySmall(t *testing.T) {
	for _, sizes := range [][]int{repeated(5000, 900), append(repeated(3000, 1000), 5000, 1, 20)} {
		b, want := pieceBuffer(sizes...)
		r := recorder{}
		stats, err := b.Write(&r, []byte("head"))
		if err != nil || stats.Bytes != len(want)+4 || stats.Pieces != len(r.sizes) || !bytes.Equal(r.Bytes()[4:], want) {
			t.Errorf("%d pieces: %+v, %v", len(sizes), stats, err)
		}
		for _, n := range r.sizes {
			if n > 2*(256<<10) {
				t.Errorf("%d pieces: %d bytes were copied together", len(sizes), n)
			}
		}
		const runs = 20
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range runs {
			b.WriteTo(io.Discard)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > runs*(256<<10) {
			t.Errorf("%d pieces: %d bytes allocated in %d writes", len(sizes), n, runs)
		}
	}
}

// TestWriteTCP writes more pieces than one writev takes, through a socket buffer that takes only a
// part of each writev.
func TestWriteTCP(t *testing.T) {
	mixed := make([]int, 5000)
	for i := range mixed {
		mixed[i] = []int{1, 900, 1024, 4000}[i*7%4]
	}
	for name, sizes := range map[string][]int{
		"1023 pieces": repeated(1023, 1100), "1024 pieces": repeated(1024, 1100), "1025 pieces": repeated(1025, 1100),
		"3000 pieces": repeated(3000, 2000), "small and large": mixed, "one of 20 MB": {20 << 20}, "two of 10 MB": {10 << 20, 10 << 20},
		"2,000 small pieces": repeated(2000, 10), "4 MB of small pieces": repeated(5000, 900),
	} {
		t.Run(name, func(t *testing.T) {
			b, want := pieceBuffer(sizes...)
			client, server := connected(t)
			client.(*net.TCPConn).SetWriteBuffer(128 << 10)
			sent := make(chan error, 1)
			go func() {
				stats, err := b.WriteFrame(client)
				if err == nil && stats.Bytes != len(want)+4 {
					err = fmt.Errorf("%d bytes counted, want %d", stats.Bytes, len(want)+4)
				}
				client.Close()
				sent <- err
			}()
			got, err := io.ReadAll(server)
			if err != nil {
				t.Fatal(err)
			}
			if err := <-sent; err != nil {
				t.Fatal(err)
			}
			if len(got) < 4 || !bytes.Equal(got[4:], want) {
				t.Fatalf("%d bytes arrived, not the %d sent", len(got)-4, len(want))
			}
		})
	}
}

func connected(t *testing.T) (client, server net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if client, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); server.Close() })
	return client, server
}

// TestWriteToClosed: after an error in the middle of a writev, the number of written bytes is
// known, and nothing hangs.
func TestWriteToClosed(t *testing.T) {
	b, want := pieceBuffer(repeated(3000, 20000)...)
	client, server := connected(t)
	client.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
	n, err := b.WriteTo(client)
	if err == nil || n >= int64(len(want)) {
		t.Fatalf("nobody reads: %d of %d bytes, %v", n, len(want), err)
	}
	client.Close()
	got, err := io.ReadAll(server)
	if err != nil || int64(len(got)) != n || !bytes.Equal(got, want[:n]) {
		t.Fatalf("%d bytes arrived, %d were counted: %v", len(got), n, err)
	}
	if n, err := b.WriteTo(client); err == nil || n != 0 {
		t.Fatalf("to a closed connection: %d, %v", n, err)
	}
}

// TestWriteKeepsBuffer: after a write, the Buffer can be written again and refers to the same
// bytes.
func TestWriteKeepsBuffer(t *testing.T) {
	b, want := pieceBuffer(10, 2000, 10, 3000)
	for range 3 {
		var s strings.Builder
		if _, err := b.WriteTo(&s); err != nil || s.String() != string(want) {
			t.Fatalf("%v, %d bytes", err, s.Len())
		}
	}
	if got := b.AppendTo(nil); !bytes.Equal(got, want) {
		t.Error("the Buffer has changed")
	}
}

// panicker is a Writer that panics.
type panicker struct{}

func (panicker) Write([]byte) (int, error) { panic("Write panics") }

// TestPanickingWriter: bytes that were copied together for a Writer that panics do not appear in
// the next write.
func TestPanickingWriter(t *testing.T) {
	b, want := pieceBuffer(10, 5000, 10)
	for range 10 {
		func() {
			defer func() { recover() }()
			b.Write(panicker{}, []byte("head"))
		}()
		func() {
			defer func() { recover() }()
			var batch Batch
			batch.Add(b, true)
			batch.Write(panicker{})
		}()
		var out bytes.Buffer
		if _, err := b.Write(&out, nil); err != nil || !bytes.Equal(out.Bytes(), want) {
			t.Fatalf("%d bytes written, not %d; %v", out.Len(), len(want), err)
		}
	}
}

// miscounter is a Writer and Reader that returns impossible counts.
type miscounter int

func (m miscounter) Write([]byte) (int, error) { return int(m), nil }
func (m miscounter) Read([]byte) (int, error)  { return int(m), nil }

// TestImpossibleCounts: a Reader or Writer that returns impossible counts gets an error.
func TestImpossibleCounts(t *testing.T) {
	_, errCount := memory.ReadFull(miscounter(-1), make([]byte, 1))
	for _, m := range []miscounter{-1, math.MinInt, 1 << 20, math.MaxInt} {
		for _, sizes := range [][]int{{10}, {5000}, {10, 5000, 10}} {
			b, _ := pieceBuffer(sizes...)
			if n, err := b.WriteTo(m); err != errCount || n != 0 {
				t.Errorf("%d: WriteTo returns %d, %v", m, n, err)
			}
		}
		var b Buffer
		b.Reset(false)
		if _, _, err := b.ReadN(m, 100); err != errCount {
			t.Errorf("%d: ReadN returns %v", m, err)
		}
		var r memory.Receiver
		r.Reset(true)
		if err := r.Fill(m, 100); err != errCount || len(r.Bytes()) != 0 {
			t.Errorf("%d: Fill returns %v, with %d bytes", m, err, len(r.Bytes()))
		}
		r.Free()
	}
	var b Buffer
	b.Reset(false)
	if _, _, err := b.ReadN(miscounter(0), 100); err != io.ErrNoProgress {
		t.Errorf("a Reader that reads nothing: %v", err)
	}
}

func statsOf(bytes, pieces, byRef, refBytes int) memory.Stats {
	return memory.Stats{Bytes: bytes, Pieces: pieces, RefPieces: byRef, RefBytes: refBytes}
}
