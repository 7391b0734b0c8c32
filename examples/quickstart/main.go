// Command quickstart shows what the library is for, in numbers: it builds, receives, edits and
// forwards an order of 20 KB, beside Apache Thrift's Go library in the same process, and prints
// what both take.
//
//	go run ./examples/quickstart
package main

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"os"
	"time"
)

//go:generate go run github.com/nocopythrift/nocopythrift/gen/nocopyc -fields -o . order.thrift

// The structs in apache/ were made by Apache's compiler, version 0.17:
//
//	thrift --gen go -out apache order.thrift

func main() {
	log.SetFlags(0)
	if err := run(os.Stdout, 100*time.Millisecond); err != nil {
		log.Fatal("quickstart: ", err)
	}
}

// A library does the four tasks. Each returns the bytes that it has written, or nil; they are good
// until the next call.
type library interface {
	build() ([]byte, error)
	readAll(wire []byte) (sum, error)
	editAndForward(wire []byte) ([]byte, error)
}

// sum has the totals of an order, which depend on all of its values.
type sum struct {
	texts, lines int
	total        float64
}

// The order: what both libraries build, and what they change before they forward it.
const (
	lineCount  = 500
	newArticle = "difference engine, second hand, as seen in the catalogue"
)

// article returns the text of a line.
func article(i int) string { return articles[i%len(articles)] }

var articles = []string{"analytical engine", "punched cards", "oil, one can", "a brass gear wheel"}

func run(out io.Writer, each time.Duration) error {
	ours, theirs := &nocopyThrift{}, newApacheThrift()
	wire, err := checkAll(ours, theirs)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "An order of %d lines: %d bytes of Thrift Binary.\n\n", lineCount, len(wire))
	fmt.Fprintf(out, "%-28s %-26s %-26s\n", "", "nocopythrift", "Apache Thrift for Go")
	for _, task := range []struct {
		name string
		do   func(l library) error
	}{
		{"build and encode", func(l library) error { _, err := l.build(); return err }},
		{"receive and read all", func(l library) error { _, err := l.readAll(wire); return err }},
		{"receive, edit, forward", func(l library) error { _, err := l.editAndForward(wire); return err }},
	} {
		a, b, err := compare(each, func() error { return task.do(ours) }, func() error { return task.do(theirs) })
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-28s %-26s %-26s %.1f × as fast\n", task.name, a, b, float64(b.time)/float64(a.time))
	}
	fmt.Fprint(out, "\nEach library has read what the other one built and forwarded, and found the same values.\n")
	fmt.Fprintf(out, "Of the forwarded message nocopythrift wrote %d values anew; all other bytes went out as they came.\n", ours.changed)
	return nil
}

// checkAll lets each library read what the other one built and forwarded, and returns the bytes of
// the order.
func checkAll(ours, theirs library) ([]byte, error) {
	var wire []byte
	for _, l := range []struct{ writer, reader library }{{ours, theirs}, {theirs, ours}} {
		built, err := l.writer.build()
		if err != nil {
			return nil, err
		}
		built = bytes.Clone(built)
		got, err := l.reader.readAll(built)
		if err != nil {
			return nil, err
		}
		if want := expected(); got != want {
			return nil, fmt.Errorf("read %v, not %v, of what %T built", got, want, l.writer)
		}
		forwarded, err := l.writer.editAndForward(built)
		if err != nil {
			return nil, err
		}
		got, err = l.reader.readAll(bytes.Clone(forwarded))
		if err != nil {
			return nil, err
		}
		want := expected()
		want.texts += len(newArticle) - len(article(lineCount/2))
		want.total += 1
		if got != want {
			return nil, fmt.Errorf("read %v, not %v, of what %T forwarded", got, want, l.writer)
		}
		wire = built
	}
	return wire, nil
}

// expected returns the sum of the order that is built.
func expected() sum {
	s := sum{texts: len(customer), lines: lineCount}
	for i := range lineCount {
		s.texts += len(article(i))
		s.total += float64(i) * 0.5
	}
	return s
}

const customer = "Ada"
