package capture

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/capture/capturetest"
	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// TestDisorder: packets that come late, twice, or in other pieces change nothing.
func TestDisorder(t *testing.T) {
	p, _ := echo(t)
	addr := serve(t, &rpc.Server{Processor: p})
	for _, w := range wires {
		want := talked(t, w.name, "")
		tape := tape(t, addr, w.name, "", w.opts...)
		for seed := range uint64(20) {
			r := rand.New(rand.NewPCG(seed, 1))
			c := new(capturetest.Capture)
			tape.Play(c, "10.0.0.1", "10.0.0.2:9090")
			small := new(capturetest.Capture) // the same bytes in other packets
			tape.PlayIn(small, "10.0.0.1", "10.0.0.2:9090", 1+r.IntN(700))
			mixed := slices.Clone(small.Packets)
			for _, p := range c.Packets[3:] { // sent again, at some time after
				if r.IntN(3) == 0 {
					at := 1 + slices.IndexFunc(mixed, func(q capturetest.Packet) bool { return sameSender(p, q) && int32(endOf(q)-endOf(p)) >= 0 })
					mixed = slices.Insert(mixed, at+r.IntN(len(mixed)-at+1), p)
				}
			}
			for i := 3; i+2 < len(mixed); i++ { // packets of one side overtake each other
				if r.IntN(4) == 0 && sameSender(mixed[i], mixed[i+1]) {
					mixed[i], mixed[i+1] = mixed[i+1], mixed[i]
				}
			}
			small.Packets = mixed
			if f, sum := read(t, small.PCAP(), Options{}); f.String() != want {
				t.Fatalf("%s, seed %d: %+v\n%s", w.name, seed, sum, difference(f.String(), want))
			}
		}
	}
}

// endOf returns the sequence number after a packet.
func endOf(p capturetest.Packet) uint32 {
	return binary.BigEndian.Uint32(p.Data[38:]) + uint32(len(p.Data)-54)
}

// sameSender reports whether two packets go in the same direction. They have IPv4 on Ethernet.
func sameSender(a, b capturetest.Packet) bool { return bytes.Equal(a.Data[26:34], b.Data[26:34]) }

// chat makes n calls whose results are their arguments. All are different.
func chat(t *testing.T, c rpc.Caller, n int) {
	t.Helper()
	for i := range n {
		args, err := dynamicArgs("say", fmt.Sprintf(`{"text": "%d %s"}`, i, strings.Repeat("x", 40*i)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dynamic.CallRaw(t.Context(), c, "say", args); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLost: if packets are missing, or cut, no call has other bytes than it had, or another's
// reply. Most calls are found, and notes say what is missing.
func TestLost(t *testing.T) {
	p, _ := echo(t)
	addr := serve(t, &rpc.Server{Processor: p})
	const calls = 60
	for _, w := range wires {
		if strings.HasPrefix(w.name, "http") {
			continue // TestLostHTTP
		}
		tape := new(capturetest.Tape)
		client, err := rpc.Dial(t.Context(), "tcp", addr, append(w.opts, rpc.Dialer(tape.DialContext))...)
		if err != nil {
			t.Fatal(err)
		}
		chat(t, client, calls)
		client.Close()
		for seed := range uint64(20) {
			r := rand.New(rand.NewPCG(seed, 2))
			c := new(capturetest.Capture)
			tape.PlayIn(c, "10.0.0.1", "10.0.0.2:9090", 500)
			hurt, cut := 0, 0
			c.Packets = slices.DeleteFunc(c.Packets, func(p capturetest.Packet) bool {
				if r.IntN(20) == 0 {
					hurt++
					return true
				}
				return false
			})
			for i := range c.Packets {
				if p := &c.Packets[i]; r.IntN(20) == 0 && len(p.Data) > 60 {
					cut++
					p.Size, p.Data = len(p.Data), p.Data[:55+r.IntN(len(p.Data)-55)]
				}
			}
			hurt += cut
			f, sum := read(t, c.PCAP(), Options{})
			if l := sum.leftOut[shortened]; cut > 0 && (l == nil || l.N != cut) {
				t.Errorf("%s, seed %d: %d packets were cut: %+v", w.name, seed, cut, sum.LeftOut)
			}
			whole := 0
			for _, call := range f.calls {
				if call.Err != nil {
					if !errors.Is(call.Err, ErrNoReply) {
						t.Errorf("%s, seed %d: %v", w.name, seed, call.Err)
					}
					continue
				}
				whole++
				if want := slices.Clone(call.Args); len(want) < 8 || !bytes.Equal(call.Reply[3:], want[3:]) {
					t.Errorf("%s, seed %d: %q has the reply %q", w.name, seed, call.Args, call.Reply)
				}
			}
			if whole < calls-3*hurt || whole < 10 || whole > calls || len(f.notes) == 0 {
				t.Errorf("%s, seed %d: %d of %d calls with %d packets lost or cut: %+v %q", w.name, seed, whole, calls, hurt, sum, f.notes)
			}
		}
	}
}

// TestLostOneID: if all calls have one sequence id, or are HTTP requests, no call has another's
// reply after lost packets. Most calls of clients that wait for each reply are found, also in the
// middle of a connection. Others send some calls at once.
func TestLostOneID(t *testing.T) {
	const calls, seeds = 60, 60
	for _, http := range []bool{false, true} {
		for _, window := range []int{1, 2, 4} {
			found, hurt, unsure := 0, 0, 0
			for seed := range uint64(seeds) {
				r := rand.New(rand.NewPCG(seed, uint64(window)))
				c := new(capturetest.Capture)
				conn := c.Conn("10.0.0.1:50001", "10.0.0.2:9090")
				conn.MSS = 40 + r.IntN(60)
				conn.Open()
				var wanted []string
				for i := 0; i < calls; {
					var replies []byte
					for range min(window, calls-i) {
						body := fmt.Sprintf("\x0b\x00\x01\x00\x00\x00\x02%02d\x00", i)
						conn.Send(client, carried(http, 1, "f", body))
						replies = append(replies, carried(http, 2, "f", body)...)
						wanted = append(wanted, body)
						i++
					}
					conn.Send(server, replies)
				}
				begin := 0 // or without the packets that open the connection
				if window == 1 {
					begin = 3 * r.IntN(2)
				}
				c.Packets = slices.DeleteFunc(c.Packets[begin:], func(p capturetest.Packet) bool {
					lost := len(p.Data) > 54 && r.IntN(25) == 0
					if lost {
						hurt++
					}
					return lost
				})
				f, sum := read(t, c.PCAP(), Options{})
				for _, call := range f.calls {
					switch {
					case call.Err == nil && !bytes.Equal(call.Args, call.Reply):
						t.Errorf("HTTP %v, window %d, seed %d: %q has the reply %q", http, window, seed, call.Args, call.Reply)
					case call.Err == nil:
						found++
					case errors.Is(call.Err, ErrUnsure):
						unsure++
					}
				}
				if sum.Calls < len(f.calls) || len(f.calls) > len(wanted) {
					t.Errorf("%d calls of %d", len(f.calls), len(wanted))
				}
			}
			if window == 1 && found < calls*seeds-3*hurt || unsure == 0 {
				t.Errorf("HTTP %v, window %d: %d of %d calls with %d packets lost, %d unsure", http, window, found, calls*seeds, hurt, unsure)
			}
		}
	}
}

// TestLostFirst: packets that are missing at the beginning of a connection are told, and what the
// other side says about them is paired with nothing.
func TestLostFirst(t *testing.T) {
	for _, http := range []bool{false, true} {
		wire, first, second := "framed binary", "18 bytes", "18 bytes"
		if http {
			wire, first, second = "http binary", "62 bytes", "53 bytes"
		}
		var turns []turn
		for _, name := range []string{"a", "b", "c", "d"} {
			turns = append(turns, turn{client, carried(http, 1, name, "\x00")}, turn{server, carried(http, 2, name, "\x00")})
		}
		const unsure = " 00 the capture has no reply that is surely its own\n"
		found := func(from byte) (text string) {
			for ; from <= 'd'; from++ {
				text += wire + " " + string(from) + " 00 → 00 (assumed)\n"
			}
			return text
		}
		for lost, want := range []string{
			wire + " b" + unsure + found('c') + first + " are missing at byte 0\na reply to a is paired with no call: bytes are missing, and sequence ids do not tell which one it is for\n" + assumed,
			wire + " a" + unsure + found('b') + second + " are missing at byte 0\n" + assumed,
		} {
			c := conversation(turns...)
			c.Packets = slices.Delete(c.Packets, 3+lost, 4+lost)
			if f, sum := read(t, c.PCAP(), Options{}); f.String() != want || sum.Replies != 2-2*lost {
				t.Errorf("%s, packet %d: %+v\n%s\nwant\n%s", wire, lost, sum, f, want)
			}
		}
	}
}

const assumed = "bytes are missing, or the beginning is, and sequence ids do not tell calls apart: pairs that are marked assumed rest on a client that waits for each reply"

// carried returns a message in a frame, with the sequence id 0, or in HTTP.
func carried(http bool, kind byte, name, body string) []byte {
	if !http {
		return frame(kind, name, 0, body)
	}
	head := "POST / HTTP/1.1\r\nHost: h\r\n"
	if kind != kindCall {
		head = "HTTP/1.1 200 OK\r\n"
	}
	b := bare(kind, name, 0, body)
	return append(fmt.Appendf(nil, "%sContent-Length: %d\r\n\r\n", head, len(b)), b...)
}

// frame returns a frame with a message in Thrift Binary.
func frame(kind byte, name string, seqid uint32, body string) []byte {
	b := bare(kind, name, seqid, body)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

func bare(kind byte, name string, seqid uint32, body string) []byte {
	b := binary.BigEndian.AppendUint32(nil, 0x80010000|uint32(kind))
	b = append(binary.BigEndian.AppendUint32(b, uint32(len(name))), name...)
	return append(binary.BigEndian.AppendUint32(b, seqid), body...)
}

// turn is what an end sends.
type turn struct {
	from int
	data []byte
}

// conversation returns a capture of a connection.
func conversation(turns ...turn) *capturetest.Capture {
	c := new(capturetest.Capture)
	conn := c.Conn("10.0.0.1:50001", "10.0.0.2:9090")
	conn.Open()
	for _, t := range turns {
		conn.Send(t.from, t.data)
	}
	conn.Close()
	return c
}

const (
	client = capturetest.Client
	server = capturetest.Server
)

// TestConversations: calls of clients and servers that this library has none of, and other odd
// ones.
func TestConversations(t *testing.T) {
	join := func(parts ...[]byte) []byte { return slices.Concat(parts...) }
	ttheader := func(payload []byte) []byte {
		b := append([]byte{0x10, 0, 0, 0, 0, 0, 0, 9, 0, 2, 0, 0, 0x10, 0, 0, 0, 0, 0}, payload...)
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
	}
	old := func(kind byte, name string, body string) []byte {
		b := append(binary.BigEndian.AppendUint32(nil, uint32(len(name))), name...)
		return append(append(b, kind, 0, 0, 0, 7), body...)
	}
	theader := func(transform byte) []byte {
		b := append([]byte{0x0f, 0xff, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, transform, 0}, bare(4, "f", 1, "\x00")...)
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
	}
	framed := func(b []byte) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...) }
	httpRequest := func(body []byte) []byte {
		return append(fmt.Appendf(nil, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n", len(body)), body...)
	}
	httpReply := func(status string, body []byte) []byte {
		return append(fmt.Appendf(nil, "HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n", status, len(body)), body...)
	}
	// As github.com/cloudwego/gopkg v0.2.1 makes it, which Kitex calls.
	kitex, err := hex.DecodeString("0000003410000000000000070007000001000100016b00017610000200030003636c69000900016600008001000100000001660000000700")
	if err != nil {
		t.Fatal(err)
	}
	const one, two = "\x03\x00\x01\x01\x00", "\x03\x00\x00\x02\x00"
	for _, c := range []struct {
		name  string
		turns []turn
		want  string
	}{
		{"TTHeader", []turn{{client, ttheader(bare(1, "f", 9, one))}, {server, ttheader(bare(2, "f", 9, two))}}, "ttheader binary f 0300010100 → 0300000200"},
		{"TTHeader, framed", []turn{{client, ttheader(frame(1, "f", 9, one))}, {server, ttheader(frame(2, "f", 9, two))}}, "ttheader binary f 0300010100 → 0300000200"},
		{"TTHeader with infos", []turn{{client, kitex}, {server, ttheader(bare(2, "f", 7, two))}}, "ttheader binary f 00 → 0300000200"},
		{"old, unframed", []turn{{client, old(1, "ping", one)}, {server, old(2, "ping", two)}}, "unframed binary ping 0300010100 → 0300000200"},
		{"names of other letters", []turn{{client, join(frame(1, "größe", 0, one), frame(1, "a\nb", 0, one))}, {server, frame(2, "größe", 0, two)}}, "framed binary größe 0300010100 → 0300000200 (assumed)\nbyte 28: not a Thrift message\n" + assumed},
		{"old name of other letters", []turn{{client, old(1, "öl", one)}, {server, old(2, "öl", two)}}, "unframed binary öl 0300010100 → 0300000200"},
		{"old, framed", []turn{{client, framed(old(1, "ping", one))}, {server, framed(old(2, "ping", two))}}, "framed binary ping 0300010100 → 0300000200"},
		{"two in a frame", []turn{{client, framed(join(bare(1, "f", 1, one), bare(1, "g", 2, one)))}, {server, join(frame(2, "g", 2, two), frame(2, "f", 1, two))}},
			"framed binary g 0300010100 → 0300000200\nframed binary f 0300010100 → 0300000200"},
		{"one sequence id", []turn{{client, join(frame(1, "f", 0, one), frame(1, "g", 0, one), frame(1, "f", 0, "\x00"))}, {server, join(frame(2, "f", 0, two), frame(2, "g", 0, two), frame(2, "f", 0, "\x00"))}},
			"framed binary f 0300010100 → 0300000200\nframed binary g 0300010100 → 0300000200\nframed binary f 00 → 00"},
		{"names by multiplexing", []turn{{client, join(frame(1, "s:f", 0, one), frame(1, "s:g", 0, one))}, {server, join(frame(2, "g", 0, two), frame(2, "f", 0, two))}},
			"framed binary s:g 0300010100 → 0300000200\nframed binary s:f 0300010100 → 0300000200"},
		{"no reply", []turn{{client, frame(1, "f", 1, one)}}, "framed binary f 0300010100 the capture has no reply"},
		{"a call by the server", []turn{{server, frame(1, "f", 1, one)}, {client, frame(2, "f", 1, two)}}, "framed binary f 0300010100 → 0300000200"},
		{"a malformed call", []turn{{client, join(frame(1, "f", 1, one), frame(1, "g", 2, "\x03\x00\x01"), frame(1, "h", 3, "\x77\x00\x01\x00"), frame(4, "k", 4, one))}, {server, frame(2, "f", 1, two)}},
			"framed binary k 0300010100 oneway\nframed binary f 0300010100 → 0300000200 (assumed)\nbyte 22: malformed: a value ends after its frame\nbyte 42: malformed: no type 119\n" + assumed},
		{"cut", []turn{{client, frame(1, "f", 1, one)}, {server, frame(2, "f", 1, two)[:12]}}, "framed binary f 0300010100 the capture has no reply\nthe capture has only 12 bytes of a message"},
		{"cut later", []turn{{client, join(frame(4, "f", 1, one), frame(1, "f", 1, one)[:12])}}, "framed binary f 0300010100 oneway\nthe capture has only 12 bytes of a message"},
		{"THeader with a transform", []turn{{client, join(theader(3), theader(0), theader(3), theader(3))}, {server, theader(4)}},
			"theader binary f 00 oneway\nbyte 0: THeader: transform 3: only zlib (1), Binary (0) and Compact (2) can be read\nbyte 0: THeader: transform 4: only zlib (1), Binary (0) and Compact (2) can be read"},
		{"malformed THeader", []turn{{client, []byte("\x00\x00\x00\x0c\x0f\xff\x00\x00\x00\x00\x00\x01\x00\x09\x00\x00")}}, "byte 0: THeader: malformed: a value ends after its frame"},
		{"malformed TTHeader", []turn{{client, []byte("\x00\x00\x00\x0c\x10\x00\x00\x00\x00\x00\x00\x01\x00\x09\x00\x00")}}, "byte 0: TTHeader: malformed: a value ends after its frame"},
		{"PROXY protocol", []turn{{client, append([]byte("PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n"), frame(1, "f", 0, one)...)}, {server, frame(2, "f", 0, two)}},
			"framed binary f 0300010100 → 0300000200\nbyte 0: not a Thrift message"},
		{"cut THeader", []turn{{client, theader(0)[:20]}}, "the capture has only 20 bytes of a message"},
		{"large", []turn{{client, append([]byte{5, 0, 0, 0}, bare(1, "f", 1, one)...)}}, ""},
		{"SASL", []turn{{client, []byte("\x01\x00\x00\x00\x05PLAIN\x02\x00\x00\x00\x06\x00me\x00pw")}, {server, []byte{5, 0, 0, 0, 0}}, {client, frame(1, "f", 1, one)}, {server, frame(2, "f", 1, two)}},
			"framed binary f 0300010100 → 0300000200\na login by SASL PLAIN"},
		{"SASL with a layer", []turn{{client, []byte("\x01\x00\x00\x00\x06GSSAPI\x02\x00\x00\x00\x01\x77")}, {server, []byte{5, 0, 0, 0, 0}}, {client, framed([]byte("\x05\x04\x06\xffwrapped"))}}, "a login by SASL GSSAPI"},
		{"HTTP, several", []turn{{client, join(httpRequest(bare(1, "f", 0, one)), httpRequest(bare(4, "g", 0, one)), httpRequest([]byte("{}")), httpRequest(bare(1, "h", 0, one)))},
			{server, join(httpReply("200 OK", bare(2, "f", 0, two)), httpReply("200 OK", nil), httpReply("200 OK", []byte("{}")), httpReply("502 Bad", []byte("<b>\x1b")))}},
			"http binary g 0300010100 oneway\nhttp binary f 0300010100 → 0300000200\nhttp binary h 0300010100 HTTP status 502 Bad Gateway: <b>\x1b"},
		{"HTTP until the end", []turn{{client, httpRequest(bare(1, "f", 0, one))}, {server, append([]byte("HTTP/1.0 200 OK\r\n\r\n"), bare(3, "f", 0, "\x0b\x00\x01\x00\x00\x00\x02no\x08\x00\x02\x00\x00\x00\x06\x00")...)}},
			"http binary f 0300010100 rpc: internal error: no"},
		{"HTTP in chunks", []turn{{client, append([]byte("POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n12\r\n"), append(bare(1, "f", 0, one), "\r\n0\r\n\r\n"...)...)}, {server, httpReply("200 OK", bare(2, "f", 0, two))}},
			"http binary f 0300010100 → 0300000200"},
		{"malformed HTTP", []turn{{client, join(httpRequest(bare(4, "g", 0, one)), []byte("POST \x00\r\n\r\n"), httpRequest(bare(4, "h", 0, one)))}},
			"http binary g 0300010100 oneway\nhttp binary h 0300010100 oneway\nbyte 66: malformed HTTP: malformed HTTP request \"POST \\x00\""},
	} {
		f, _ := read(t, conversation(c.turns...).PCAP(), Options{})
		if f.String() != c.want {
			t.Errorf("%s: have\n%s\nwant\n%s", c.name, f, c.want)
		}
	}
}

// TestMiddle: of connections that were there before the capture, calls are found from the first
// whole message on.
func TestMiddle(t *testing.T) {
	c := conversation(turn{client, slices.Concat(frame(1, "lost", 1, strings.Repeat("\x00", 50)), frame(1, "f", 2, "\x00"))}, turn{server, slices.Concat(frame(2, "lost", 1, "\x00"), frame(2, "f", 2, "\x00"))})
	c.Packets = c.Packets[3:] // without those that open the connection

	// The first packet lacks its first 10 bytes.
	first := slices.Concat(c.Packets[0].Data[:54], c.Packets[0].Data[64:])
	binary.BigEndian.PutUint16(first[16:], binary.BigEndian.Uint16(first[16:])-10)
	binary.BigEndian.PutUint32(first[38:], binary.BigEndian.Uint32(first[38:])+10)
	c.Packets[0].Data = first
	f, sum := read(t, c.PCAP(), Options{})
	if f.String() != "framed binary f 00 → 00" || sum.Replies != 1 {
		t.Errorf("%+v\n%s", sum, f)
	}
}

// TestPortsAgain: a connection between the ports of an earlier one is another one. Packets that
// are sent again when it has ended are not.
func TestPortsAgain(t *testing.T) {
	c := conversation(turn{client, frame(1, "f", 1, "\x00")}, turn{server, frame(2, "f", 1, "\x00")})
	again := c.Packets[3]
	conn := c.Conn("10.0.0.1:50001", "10.0.0.2:9090")
	conn.Jump(12345)
	conn.Open()
	conn.Send(client, frame(1, "g", 1, "\x00"))
	conn.Send(server, frame(2, "g", 1, "\x00"))
	last := c.Packets[len(c.Packets)-1]
	conn.Close()
	c.Packets = append(c.Packets, last)
	c.Packets = slices.Insert(c.Packets, 8, again)
	f, sum := read(t, c.PCAP(), Options{})
	if f.String() != "framed binary f 00 → 00\nframed binary g 00 → 00" || sum.Connections != 2 || sum.Replies != 0 {
		t.Errorf("%+v\n%s", sum, f)
	}
}

// TestStrayPackets: a reset with a sequence number of another connection ends none. Packets after
// the end of a connection, which may be of one whose beginning was lost, are told.
func TestStrayPackets(t *testing.T) {
	turns := []turn{{client, frame(1, "f", 1, "\x00")}, {server, frame(2, "f", 1, "\x00")}, {client, frame(1, "g", 2, "\x00")}, {server, frame(2, "g", 2, "\x00")}}
	c := conversation(turns...)
	reset := capturetest.Packet{At: capturetest.Began, Data: slices.Clone(c.Packets[2].Data)}
	reset.Data[47] = 4 // RST
	binary.BigEndian.PutUint32(reset.Data[38:], 1<<31)
	c.Packets = slices.Insert(c.Packets, 5, reset)
	conn := c.Conn("10.0.0.1:50001", "10.0.0.2:9090")
	conn.Jump(1 << 20)
	conn.Send(client, turns[0].data)
	f, sum := read(t, c.PCAP(), Options{})
	if f.String() != "framed binary f 00 → 00\nframed binary g 00 → 00" || len(sum.LeftOut) != 1 || sum.LeftOut[0] != (LeftOut{What: afterEnd, N: 1}) {
		t.Errorf("%+v\n%s", sum, f)
	}
}

// TestCutFrames: with tcpdump -s, which cuts packets, other calls than the cut ones are paired.
func TestCutFrames(t *testing.T) {
	large := "\x0b\x00\x01\x00\x00\x01\x00" + strings.Repeat("x", 256) + "\x00"
	var turns []turn
	for i, body := range []string{"\x00", large, "\x00", "\x00", "\x00"} {
		turns = append(turns, turn{client, frame(1, "f", 0, body)}, turn{server, frame(2, "f", 0, []string{"\x00", "\x00", "\x00", large, "\x00"}[i])})
	}
	c := conversation(turns...)
	for i := range c.Packets {
		if p := &c.Packets[i]; len(p.Data) > 128 {
			p.Size, p.Data = len(p.Data), p.Data[:128]
		}
	}
	const paired, marked, unsure = "framed binary f 00 → 00\n", "framed binary f 00 → 00 (assumed)\n", "framed binary f 00 the capture has no reply that is surely its own\n"
	if f, sum := read(t, c.PCAP(), Options{}); !strings.HasPrefix(f.String(), paired+marked+unsure+marked) || len(f.calls) != 4 || sum.Replies != 1 {
		t.Errorf("%+v\n%s", sum, f)
	}
}

// TestLostHTTP: after lost packets, no response is taken for another request's.
func TestLostHTTP(t *testing.T) {
	request := func(name string) []byte {
		b := bare(1, name, 0, "\x00")
		return append(fmt.Appendf(nil, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n", len(b)), b...)
	}
	response := func(name string) []byte {
		b := bare(2, name, 0, "\x00")
		return append(fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", len(b)), b...)
	}
	var turns []turn
	for _, name := range []string{"a", "b", "c", "d"} {
		turns = append(turns, turn{client, request(name)}, turn{server, response(name)})
	}
	last := &turns[len(turns)-1]
	last.data = append([]byte("HTTP/1.1 100 Continue\r\n\r\n"), last.data...)
	c := conversation(turns...)
	c.Packets = slices.Delete(c.Packets, 6, 7) // the response to b
	f, _ := read(t, c.PCAP(), Options{})
	if want := "http binary a 00 → 00\nhttp binary b 00 the capture has no reply that is surely its own\nhttp binary c 00 → 00 (assumed)\nhttp binary d 00 → 00 (assumed)"; !strings.HasPrefix(f.String(), want) {
		t.Errorf("have\n%s\nwant\n%s", f, want)
	}
}

// TestTook: a call takes as long as from its first packet to its reply's last.
func TestTook(t *testing.T) {
	c := new(capturetest.Capture)
	conn := c.Conn("10.0.0.1:50001", "10.0.0.2:9090")
	conn.MSS = 10
	conn.Open()
	// A frame has 18 bytes.
	conn.Send(client, slices.Concat(frame(1, "f", 1, "\x00"), frame(1, "g", 2, "\x00")))
	conn.Send(server, slices.Concat(frame(2, "g", 2, "\x00"), frame(2, "f", 1, "\x00")))
	f, _ := read(t, c.PCAP(), Options{})
	ms := func(d time.Duration) int64 { return d.Milliseconds() }
	for i, want := range []struct{ began, took int64 }{{4, 4}, {3, 7}} {
		if call := f.calls[i]; ms(call.Began.Sub(capturetest.Began)) != want.began || ms(call.Took) != want.took {
			t.Errorf("%s: began %v, took %v, want %+v", call.Method, call.Began, call.Took, want)
		}
	}
	// Without times, or if the reply is older, no time is made up.
	f, sum := read(t, c.Simple(), Options{})
	if len(f.calls) != 2 || !f.calls[0].Began.IsZero() || f.calls[0].Took != Unknown || len(sum.LeftOut) != 1 || sum.LeftOut[0] != (LeftOut{What: timeless, N: len(c.Packets)}) {
		t.Errorf("%+v\n%s", sum, f)
	}
	c.Packets[len(c.Packets)-1].At = capturetest.Began.Add(-time.Hour)
	if f, _ := read(t, c.PCAP(), Options{}); len(f.calls) != 2 || f.calls[1].Took != Unknown {
		t.Errorf("%+v", f.calls)
	}
}
