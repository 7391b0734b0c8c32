package capture

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/capture/capturetest"
)

// readKept reads a capture while so many bytes are kept of others, and checks that nothing is left
// of it.
func readKept(t *testing.T, b []byte, kept int) (*found, error) {
	t.Helper()
	f := new(found)
	in, err := sourceOf(bytes.NewReader(b))
	if err != nil {
		return f, err
	}
	table := newTable(Options{}, f)
	table.kept = kept
	err = table.follow(t.Context(), in)
	table.end()
	if table.kept != kept || table.pendingBytes != 0 || table.pending.Len() != 0 || len(table.conns) != 0 {
		t.Errorf("%d bytes, %d of %d calls, and %d connections are left", table.kept-kept, table.pendingBytes, table.pending.Len(), len(table.conns))
	}
	return f, err
}

// captures are files of all kinds.
func captures() [][]byte {
	c := conversation(turn{client, slices.Concat(frame(1, "f", 1, "\x00"), bare(1, "g", 2, "\x0c\x00\x01\x0f\x00\x01\x0b\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00"))}, turn{server, frame(2, "f", 1, "\x00")})
	c.VLAN = true
	return [][]byte{c.PCAP(), c.PCAPNG(), c.Nanoseconds()}
}

// FuzzRead reads any file.
func FuzzRead(f *testing.F) {
	for _, b := range captures() {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { readKept(t, b, 0) })
}

// streams are what ends of connections may send.
var streams = []string{
	"", string(frame(1, "f", 1, "\x00")), string(bare(1, "f", 1, "\x0d\x00\x01\x0b\x0e\x00\x00\x00\x01\x00\x00\x00\x01k\x06\x00\x00\x00\x02\x00\x01\x00\x02\x00")), "\x82\x21\x01\x01f\x19\x25\x02\x04\x8a\x00\x1c\x11\x00\x00",
	"\x00\x00\x00\x1b\x0f\xff\x00\x00\x00\x00\x00\x01\x00\x01\x00\x00\x00\x00\x80\x01\x00\x01\x00\x00\x00\x01f\x00\x00\x00\x01", "\x00\x00\x00\x20\x10\x00\x00\x00\x00\x00\x00\x01\x00\x01\x00\x00\x00\x00\x80\x01\x00\x01\x00\x00\x00\x01f\x00\x00\x00\x01\x00",
	"POST / HTTP/1.1\r\nContent-Length: 18\r\n\r\n" + string(bare(1, "f", 1, "\x00")), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
	"\x01\x00\x00\x00\x05PLAIN\x02\x00\x00\x00\x01x" + string(frame(1, "f", 1, "\x00")), "\x05\x00\x00\x00\x00", "\x16\x03\x01\x02\x00\x01", "PRI * HTTP/2.0\r\n\r\n", "\x00\x00\x00\x01f\x01\x00\x00\x00\x00\x00",
}

// FuzzStreams reads what clients and servers may send, in packets of any size.
func FuzzStreams(f *testing.F) {
	for _, a := range streams {
		for _, b := range streams {
			f.Add([]byte(a), []byte(b), byte(200), byte(0))
		}
	}
	f.Fuzz(func(t *testing.T, a, b []byte, mss, lost byte) {
		c := new(capturetest.Capture)
		conn := c.Conn("10.0.0.1:50001", "10.0.0.2:9090")
		conn.MSS = 1 + int(mss)
		conn.Open()
		conn.Send(client, a)
		conn.Send(server, b)
		conn.Send(client, a)
		conn.Close()
		if lost > 0 {
			c.Packets = slices.Delete(c.Packets, int(lost)%len(c.Packets), int(lost)%len(c.Packets)+1)
		}
		if _, err := readKept(t, c.PCAP(), 0); err != nil {
			t.Error(err)
		}
	})
}

// TestMalformedFiles: errors say what is wrong with a file, and after which packet.
func TestMalformedFiles(t *testing.T) {
	good := captures()
	ng := func(blocks ...string) []byte {
		b := []byte("\x0a\x0d\x0d\x0a\x1c\x00\x00\x00\x4d\x3c\x2b\x1a\x01\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\x1c\x00\x00\x00")
		for _, block := range blocks {
			n := binary.LittleEndian.AppendUint32(nil, uint32(len(block)+8))
			b = append(b, block[:4]...)
			b = append(append(append(b, n...), block[4:]...), n...)
		}
		return b
	}
	const ethernet = "\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00"
	for _, c := range []struct {
		file []byte
		want string
	}{
		{good[0][:10], "the capture is cut"},
		{good[0][:len(good[0])-3], "after packet 7: the capture is cut"},
		{good[0][:len(good[0])-54], "after packet 7: the capture is cut"},
		{good[1][:len(good[1])-3], "after packet 7: the capture is cut"},
		{append(slices.Clone(good[0][:24]), "\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\x7f\xff\xff\xff\x7f"...), "after packet 0: a packet of 2147483647 bytes; at most 1048576 are read"},
		{ng("\x06\x00\x00\x00" + strings.Repeat("\x00", 20)), "after packet 0: a packet of 0 bytes in a block of 20, on interface 0 of 0"},
		{ng(ethernet, "\x06\x00\x00\x00"+strings.Repeat("\x00", 12)+"\xff\xff\xff\x7f\x00\x00\x00\x00"), "a packet of 2147483647 bytes in a block of 20"},
		{ng(ethernet, "\x06\x00\x00\x00"), "a malformed packet"},
		{ng(ethernet + "\x09\x00\x01\x00\x40\x00\x00\x00"), "unknown unit"},
		{ng(ethernet + "\x09\x00\x01\x00\xff\x00\x00\x00"), "unknown unit"},
		{ng("\x01\x00\x00\x00"), "a malformed interface"},
		{ng("\x03\x00\x00\x00\x00\x00\x00\x00"), "a malformed packet"},
		{append(ng(), "\x06\x00\x00\x00\xff\xff\xff\xff\x00\x00\x00\x00"...), "a block of 4294967295 bytes"},
		{append(ng(), "\x06\x00\x00\x00\x10\x00\x00\x00\x00\x00\x00\x00\x20\x00\x00\x00"...), "says at its end that it has 32"},
		{[]byte("\x0a\x0d\x0d\x0a\x1c\x00\x00\x00\x00\x00\x00\x00"), "a section without a byte order"},
	} {
		f := new(found)
		if _, err := Read(t.Context(), bytes.NewReader(c.file), Options{}, f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%x: have %v, want %s", c.file, err, c.want)
		}
	}
	// Calls before the place where a file is cut are found.
	f := new(found)
	if _, err := Read(t.Context(), bytes.NewReader(good[0][:len(good[0])-3]), Options{}, f); err == nil || len(f.calls) != 2 {
		t.Errorf("%v\n%s", err, f)
	}
}

// TestTimes: pcapng has times in units of each interface, and an offset; simple packets have none.
func TestTimes(t *testing.T) {
	frame := "\x00\x00\x00\x00"
	for options, want := range map[string]string{
		"": "1970-01-01T00:01:40.000007Z", "\x09\x00\x01\x00\x09\x00\x00\x00": "1970-01-01T00:00:00.100000007Z", "\x09\x00\x01\x00\x84\x00\x00\x00": "1970-01-01T00:00:00Z",
		"\x0e\x00\x08\x00\x01\x00\x00\x00\x00\x00\x00\x00": "1970-01-01T00:01:41.000007Z",
		// After year 9999, before 1970, and beyond what 64 bits count
		"\x0e\x00\x08\x00\x00\x00\x00\x00\xff\x00\x00\x00": "0001-01-01T00:00:00Z", "\x0e\x00\x08\x00\x00\xff\xff\xff\xff\xff\xff\xff": "0001-01-01T00:00:00Z",
		"\x0e\x00\x08\x00\xff\xff\xff\xff\xff\xff\xff\x7f": "0001-01-01T00:00:00Z",
	} {
		r := &ngReader{order: binary.LittleEndian}
		if err := r.addInterface([]byte("\x01\x00\x00\x00\x00\x00\x00\x00" + options)); err != nil {
			t.Fatal(err)
		}
		ticks := binary.LittleEndian.AppendUint32(make([]byte, 8), 100_000_007)
		p, err := r.packet([]byte(string(ticks) + "\x04\x00\x00\x00\x04\x00\x00\x00" + frame))
		if have := p.at.Format("2006-01-02T15:04:05.999999999Z07:00"); options[:min(len(options), 1)] != "\x09" || options[4] != 0x84 {
			if err != nil || have != want || string(p.data) != frame {
				t.Errorf("%x: have %s %v, want %s", options, have, err, want)
			}
		} else if p.at.Unix() != 100_000_007/16 {
			t.Errorf("%x: %v", options, p.at)
		}
		if p, err = r.simplePacket([]byte("\x04\x00\x00\x00" + frame)); err != nil || string(p.data) != frame || !p.at.IsZero() {
			t.Errorf("%+v %v", p, err)
		}
	}
}

// endless is a source of connections, with a call each.
type endless struct{ n, conns int }

func (e *endless) next() (packet, error) {
	if e.n == e.conns {
		return packet{}, io.EOF
	}
	c := new(capturetest.Capture)
	conn := c.Conn(fmt.Sprintf("10.%d.%d.1:50001", e.n>>8, e.n&255), "10.0.0.2:9090")
	conn.Send(client, frame(1, "f", 1, "\x00"))
	e.n++
	return packet{c.Packets[0].At, 1, c.Packets[0].Data}, nil
}

// TestKept: what is counted as kept is the memory that incomplete messages take, not their length.
func TestKept(t *testing.T) {
	c := new(capturetest.Capture)
	half := binary.BigEndian.AppendUint32(nil, 1<<20)
	half = append(half, bare(kindCall, "f", 1, "\x0b\x00\x01\x00\x0f\x00\x00"+strings.Repeat("x", 31_000))...)
	for i := range 10 {
		conn := c.Conn(fmt.Sprintf("10.0.0.1:%d", 50001+i), "10.0.0.2:9090")
		conn.Open()
		conn.Send(client, half)
		conn.Send(client, half)
	}
	from, err := sourceOf(bytes.NewReader(c.PCAP()))
	if err != nil {
		t.Fatal(err)
	}
	table := newTable(Options{}, new(found))
	if err := table.follow(t.Context(), from); err != nil {
		t.Fatal(err)
	}
	kept := 0
	for _, c := range table.conns {
		for i := range c.sides {
			if s := c.sides[i].stream; s != nil {
				kept += cap(s.body)
			}
		}
	}
	if kept < 10*2*31_000 || kept > 10*2*31_000*3/2 || kept != table.kept {
		t.Errorf("%d bytes are kept, %d are counted", kept, table.kept)
	}
	table.end()
	if table.kept != 0 {
		t.Errorf("%d bytes are left", table.kept)
	}
}

// TestBounded: what is kept of connections, of calls without replies, and of incomplete messages
// has bounds, and the oldest goes first.
func TestBounded(t *testing.T) {
	f := new(found)
	sum, err := follow(context.Background(), &endless{conns: maxConns + 10}, Options{}, f)
	if err != nil || sum.Calls != maxConns+10 || len(sum.LeftOut) != 1 || sum.LeftOut[0].N != 10 {
		t.Errorf("%+v %v", sum, err)
	}
	var calls []byte
	for i := range maxPendingOfConn + 10 {
		calls = append(calls, frame(1, fmt.Sprint("f", i), uint32(i), "\x00")...)
	}
	f, _ = read(t, conversation(turn{client, calls}, turn{server, slices.Concat(frame(2, "f1", 1, "\x00"), frame(2, "f10", 10, "\x00"))}).PCAP(), Options{})
	if len(f.calls) != maxPendingOfConn+10 || f.calls[1].Err != ErrTooMany || f.calls[10].Method != "f10" || f.calls[10].Err != nil {
		t.Errorf("%d calls, %+v", len(f.calls), f.calls[10])
	}

	// The replies to those that were given up are not taken for others'.
	calls = nil
	for range maxPendingOfConn + 10 {
		calls = append(calls, frame(1, "f", 0, "\x00")...)
	}
	f, sum = read(t, conversation(turn{client, calls}, turn{server, bytes.Repeat(frame(2, "f", 0, "\x00"), 20)}).PCAP(), Options{})
	if paired := slices.IndexFunc(f.calls, func(c *Call) bool { return c.Err == nil }); paired >= 0 || sum.Replies != 20 {
		t.Errorf("call %d has a reply, %d replies have no call", paired, sum.Replies)
	}

	// There is room for 10,000 bytes.
	large := slices.Concat(frame(4, "f", 1, "\x00"), frame(4, "large", 1, "\x0b\x00\x01\x00\x00\x60\x00"+strings.Repeat("x", 0x6000)+"\x00"), frame(4, "f", 2, "\x00"))
	late := conversation(turn{client, large})
	// All packets wait for the first one.
	late.Packets = slices.Concat(late.Packets[:3], late.Packets[4:], late.Packets[3:4])
	var bomb bytes.Buffer
	z := zlib.NewWriter(&bomb)
	z.Write(bare(4, "bomb", 1, "\x0b\x00\x01\x00\x10\x00\x00"+strings.Repeat("x", 0x100000)+"\x00"))
	z.Close()
	theader := append([]byte("\x0f\xff\x00\x00\x00\x00\x00\x01\x00\x01\x00\x01\x01\x00"), bomb.Bytes()...)
	theader = append(binary.BigEndian.AppendUint32(nil, uint32(len(theader))), theader...)
	for name, c := range map[string]struct {
		capture *capturetest.Capture
		want    []string
	}{
		"large": {conversation(turn{client, large}), []string{"binary f ", "binary f ", "too many large messages"}},
		"late":  {late, []string{"binary f "}},
		"bomb":  {conversation(turn{client, slices.Concat(frame(4, "f", 1, "\x00"), theader, frame(4, "f", 2, "\x00"))}), []string{"binary f ", "binary f ", "too many large messages"}},
	} {
		f, err := readKept(t, c.capture.PCAP(), maxKept-10_000)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(f.String(), want) {
				t.Errorf("%s: have\n%.300s\nwant %s", name, f, want)
			}
		}
	}
	// All that compressed messages become together is bounded, and one of them.
	var many []turn
	for range 100 {
		many = append(many, turn{client, theader})
	}
	table := newTable(Options{}, f)
	from, err := sourceOf(bytes.NewReader(conversation(many...).PCAP()))
	if err != nil {
		t.Fatal(err)
	}
	f.calls, f.notes = nil, nil
	if err := table.follow(t.Context(), from); err != nil || len(f.calls) < 30 || len(f.calls) > 40 || len(f.notes)+len(f.calls) != 100 || table.inflated > maxInflatedOfAll+maxRatio*table.bytes+100 {
		t.Errorf("%v: %d calls and %d notes, %d bytes of %d", err, len(f.calls), len(f.notes), table.inflated, table.bytes)
	}
	table.end()
	// A head of HTTP that does not end, and messages that are nested too deeply.
	for name, c := range map[string]struct{ bytes, want string }{
		"head": {string(frame(4, "f", 1, "\x00")) + "POST / HTTP/1.1\r\nA: " + strings.Repeat("x", 2*maxHead), "too long"},
		"deep": {string(frame(4, "f", 1, "\x00")) + string(bare(4, "f", 1, strings.Repeat("\x0c\x00\x01", 1000))), "more than 64 levels"},
		"bits": {string(frame(4, "f", 1, "\x00")) + "\x82\x81\x01\x01f" + strings.Repeat("\x19\x19", 1000), "more than 64 levels"},
	} {
		if f, err := readKept(t, conversation(turn{client, []byte(c.bytes)}).PCAP(), 0); err != nil || !strings.Contains(f.String(), c.want) {
			t.Errorf("%s: %v have\n%.300s\nwant %s", name, err, f, c.want)
		}
	}
}
