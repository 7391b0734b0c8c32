// Command quickstart sends a message to a server that is written with Apache Thrift's Go library,
// reads the reply in place, changes it, and sends it on; it prints what went over the wire.
//
//	go run ./examples/quickstart
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"time"

	"github.com/nocopythrift/nocopythrift/examples/quickstart/order"
	"github.com/nocopythrift/nocopythrift/linkbuf"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

//go:generate go run github.com/nocopythrift/nocopythrift/gen/nocopyc -fields -o . order.thrift

// The server's structs, in apache/, were made by Apache's compiler, version 0.17:
//
//	thrift --gen go -out apache order.thrift

func main() {
	log.SetFlags(0)
	if err := run(os.Stdout); err != nil {
		log.Fatal("quickstart: ", err)
	}
}

// served holds the text that the server has read from the forwarded receipt.
type served struct {
	document []byte
	total    float64
	message  string
	err      error
}

func run(out io.Writer) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	done := make(chan served, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			done <- served{err: err}
			return
		}
		conn.SetDeadline(time.Now().Add(10 * time.Second))
		o, r, err := serve(conn)
		if err != nil {
			done <- served{err: err}
			return
		}
		done <- served{o.Document, r.Total, r.Message, nil}
	}()

	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	document := bytes.Repeat([]byte("scan "), 2000)
	if err := talk(conn, document, out); err != nil {
		return err
	}
	got := <-done
	if got.err != nil {
		return got.err
	}
	fmt.Fprintf(out, "\n4. The server, Apache Thrift's Go library, has read\n     message %q, total %.2f\n", got.message, got.total)
	if !bytes.Equal(got.document, document) || got.message != message || got.total != total {
		return errors.New("the server has read something else than was sent")
	}
	return nil
}

// The values that are set in the receipt before it is forwarded.
const (
	message = "thank you, and here are five percent off"
	total   = 87.4
)

// talk sends an order, reads the receipt, changes it and sends it on.
func talk(conn net.Conn, document []byte, out io.Writer) error {
	o := newOrder(document)
	defer o.Release()
	fmt.Fprintf(out, "1. An order, built by setters right in its wire bytes\n     %s\n", abbreviate(o.String()))
	if err := send(conn, o.Message(), out); err != nil {
		return err
	}

	r, err := receive(conn)
	if err != nil {
		return err
	}
	defer r.Release()
	fmt.Fprintf(out, "\n2. The reply, read in place\n     %s\n", r)
	fmt.Fprintf(out, "     %s received; GetMessage is a string that lies in them: %q\n", count(r.Message().Len(), "byte"), r.GetMessage())

	r.SetMessage(message)
	r.SetTotal(total)
	fmt.Fprintf(out, "\n3. The same message, a string and a number of it set, sent on\n     %s\n", r)
	fmt.Fprintf(out, "     (up to 2 KiB a received message is copied with the new string in it; in a larger one that is linked in)\n")
	return send(conn, r.Message(), out)
}

func newOrder(document []byte) order.Order {
	o := order.NewOrder()
	o.SetID(4711)
	o.SetCustomer("Ada")
	lines := o.NewLines(2)
	for i, article := range []string{"analytical engine", "punched cards"} {
		line := lines.At(i)
		line.SetArticle(article)
		line.SetCount(int32(1 + 9*i))
		line.SetPrice(82 - 81*float64(i))
	}
	labels := o.NewLabels()
	labels.Put("channel", "post")
	o.SetDocument(document) // 4 KiB and more are referred to, not copied
	return o
}

// send writes the message as a frame, and prints how many pieces and bytes that were.
func send(conn net.Conn, m *nocopy.Message, out io.Writer) error {
	stats, err := m.WriteFrame(conn)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "     on the wire: %s (4 are the frame's length) in %s\n", count(stats.Bytes, "byte"), count(stats.Pieces, "piece"))
	fmt.Fprintf(out, "     by reference: %s, %s, written from where they lay in memory; copied together: %s\n",
		count(stats.ByRef, "piece"), count(stats.RefBytes, "byte"), count(stats.Bytes-stats.RefBytes, "byte"))
	fmt.Fprintf(out, "     nodes (values that stand elsewhere than in line, because they are large or were changed): %d\n", m.Nodes())
	return nil
}

// count returns a number of things as text: "1 piece", "2 pieces".
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// maxFrame is the most bytes of a reply.
const maxFrame = 1 << 20

// receive reads a frame into a message's own memory and parses it there.
func receive(conn net.Conn) (order.Receipt, error) {
	var scratch [4]byte
	n, err := linkbuf.ReadFrameSize(conn, maxFrame, &scratch)
	if err != nil {
		return order.Receipt{}, err
	}
	return nocopy.Read[order.Receipt](order.ReceiptDesc, conn, n)
}

// abbreviate returns text with the document's hexadecimal digits shortened.
func abbreviate(s string) string {
	if len(s) > 300 {
		return s[:160] + " … " + s[len(s)-60:]
	}
	return s
}
