package linkbuf_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/nocopythrift/nocopythrift/linkbuf"
)

// A record of this protocol is a type byte, the length of the body as a big-endian uint32, and the
// body. The example builds a record around a large body, which is not copied. It sends the record,
// receives it in one piece, and forwards it with another head.
func Example() {
	client, server := net.Pipe()
	go func() {
		defer client.Close()
		var b linkbuf.Buffer
		b.WriteByte('D')
		length := b.Len()
		b.Extend(4) // the length, once it is known
		b.WriteString("photo.raw\n")
		b.Refer(bytes.Repeat([]byte("pixels "), 1000)) // stays where it is
		b.Put(length, binary.BigEndian.AppendUint32(nil, uint32(b.Len()-length-4)))
		b.WriteTo(client)
		b.Free()
	}()

	var in linkbuf.Receiver
	in.Reset(true) // memory comes from pools and goes back there with Free
	defer in.Free()
	const head = 5
	for need := head; len(in.Bytes()) < need; {
		if err := in.Fill(server, need); err != nil {
			fmt.Println(err)
			return
		}
		if have := in.Bytes(); len(have) >= head {
			need = head + int(binary.BigEndian.Uint32(have[1:]))
		}
	}
	var record linkbuf.Buffer
	record.Reset(true)
	in.Take(&record, len(in.Bytes())) // not copied

	// The forwarded record shares the body with the received one.
	var forwarded linkbuf.Buffer
	forwarded.WriteString("F\x00\x00\x1b\x62")
	forwarded.Share(&record, head, record.Len())
	record.Free() // forwarded still holds the memory

	fmt.Printf("%q, %d bytes\n", forwarded.Slice(0, 22), forwarded.Len())
	n, err := forwarded.WriteTo(io.Discard)
	fmt.Println(n, err)
	forwarded.Free()
	// Output:
	// "F\x00\x00\x1bbphoto.raw\npixels ", 7015 bytes
	// 7015 <nil>
}

// To change a message in many places, build another one that shares the unchanged parts.
func ExampleBuffer_Share() {
	var received, edited linkbuf.Buffer
	received.WriteString("name=old; data=" + strings.Repeat("x", 1000) + "; note=old")

	edited.Share(&received, 0, 5)
	edited.WriteString("new")
	edited.Share(&received, 8, received.Len()-3)
	edited.WriteString("a longer note")

	fmt.Printf("%s … %s\n", edited.Slice(0, 16), edited.Slice(edited.Len()-21, edited.Len()))
	// Output: name=new; data=x … x; note=a longer note
}

// To change a message in a few places, use Put and Replace.
func ExampleBuffer_Replace() {
	var b linkbuf.Buffer
	b.WriteString("GET /old HTTP/1.1")
	b.Replace(4, 8, []byte("/a/newer/path"))
	b.Put(0, []byte("PUT"))
	b.Replace(b.Len(), b.Len(), []byte("\r\n"))
	fmt.Printf("%q\n", b.Bytes())
	// Output: "PUT /a/newer/path HTTP/1.1\r\n"
}

// A frame is the length of a message, then the message.
func ExampleReadFrameSize() {
	var wire bytes.Buffer
	var b linkbuf.Buffer
	b.WriteString("a message")
	stats, err := b.WriteFrame(&wire)
	fmt.Println(stats.Bytes, err)

	const limit = 1 << 20 // refuse longer frames
	n, err := linkbuf.ReadFrameSize(&wire, limit, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	b.Free()
	err = b.ReadN(&wire, n) // memory grows with the bytes that arrive, not with n
	fmt.Printf("%q %v\n", b.Bytes(), err)
	// Output:
	// 13 <nil>
	// "a message" <nil>
}
