package transport

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc/internal/message"
)

// TestOrdinary receives frames of all kinds when they have arrived as a whole, and one byte after
// the other. Both ways give the same messages and errors, and only the usual kind of message that
// has arrived is taken as one.
func TestOrdinary(t *testing.T) {
	strict := "\x80\x01\x00\x01\x00\x00\x00\x04Echo\x00\x00\x00\x07"
	other := strict[:len(strict)-1] + "\x08"
	old := "\x00\x00\x00\x04Echo\x01\x00\x00\x00\x07"
	frame := func(s string) string { return string(binary.BigEndian.AppendUint32(nil, uint32(len(s)))) + s }
	for _, c := range []struct {
		name, frame string
		ordinary    bool
	}{
		{"strict", frame(strict + "\x00"), true},
		{"nothing but a header", frame(strict), true},
		{"two messages", frame(strict + "\x00" + other + "\x00"), true},
		{"old header", frame(old + "\x00"), false},
		{"compact", frame("\x82\x21\x07\x04Echo\x00"), false},
		{"header cut off", frame(strict[:10]), true},
		{"one byte", frame("\x80"), false},
		{"name too long", frame("\x80\x01\x00\x01\x00\xff\xff\xff" + strict), true},
		{"not Thrift", frame("\x80\x02\x00\x01" + strict), false},
		{"longer than the limit", frame(strict + string(make([]byte, 300))), false},
		{"empty frame", frame(""), false},
	} {
		for _, accept := range []Wire{0, FramedBinary, FramedCompact} {
			stream := []byte(c.frame + frame(strict+"\x00"))
			whole, dripping := received(t, stream, accept, false), received(t, stream, accept, true)
			if !slices.Equal(whole, dripping) {
				t.Errorf("%s, accepting %v: whole %q, dripping %q", c.name, accept, whole, dripping)
			}
		}
		r := receiver(t, []byte(c.frame+frame(strict+"\x00")), false)
		if err := r.fill(frameHeader); err != nil {
			t.Fatal(err)
		}
		if got := r.ordinary() > 0; got != c.ordinary {
			t.Errorf("%s: taken as an ordinary message: %v, want %v", c.name, got, c.ordinary)
		}
	}
}

func receiver(t *testing.T, stream []byte, dripping bool) *Receiver {
	near, far := net.Pipe()
	t.Cleanup(func() { near.Close(); far.Close() })
	r := &Receiver{Conn: near, Src: bytes.NewReader(stream), Transport: Framed, Requests: true, Limits: LimitsOf(256, nocopy.Limits{}, "limit")}
	if dripping {
		r.Src = iotest.OneByteReader(r.Src)
	}
	r.Reset(false)
	t.Cleanup(r.Free)
	return r
}

// received returns what Next returns, up to the error that ends the stream.
func received(t *testing.T, stream []byte, accept Wire, dripping bool) (all []string) {
	r := receiver(t, stream, dripping)
	r.Accept = accept
	if !dripping { // all is there before Next
		if err := r.fill(frameHeader); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 {
		var h message.Header
		c, err := r.Next(&h)
		all = append(all, fmt.Sprint(h.Type, h.Form, h.SeqID, string(h.Name), h.Size, c.Mem, err))
		if err == nil {
			r.ParseStruct(c, nil, nocopy.Limits{}, false, false) // keeps what follows in the frame
			c.Release()
			r.TakeCharge()
		} else if h.Size == 0 && !EndKnown(err) {
			break
		}
	}
	return all
}
