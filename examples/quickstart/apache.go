package main

import (
	"context"

	"github.com/apache/thrift/lib/go/thrift"

	apache "github.com/nocopythrift/nocopythrift/examples/quickstart/apache/order"
)

// apacheThrift does the tasks with Apache Thrift's Go library and the structs that its compiler
// generates. Buffers and protocols are kept from one message to the next.
type apacheThrift struct {
	in, out     *thrift.TMemoryBuffer
	read, write *thrift.TBinaryProtocol
}

func newApacheThrift() *apacheThrift {
	cfg := &thrift.TConfiguration{}
	in, out := thrift.NewTMemoryBuffer(), thrift.NewTMemoryBuffer()
	return &apacheThrift{in, out, thrift.NewTBinaryProtocolConf(in, cfg), thrift.NewTBinaryProtocolConf(out, cfg)}
}

func (l *apacheThrift) build() ([]byte, error) {
	o := apache.NewOrder()
	o.ID = 4711
	o.Customer = customer
	o.Lines = make([]*apache.Line, lineCount)
	for i := range lineCount {
		o.Lines[i] = &apache.Line{Article: article(i), Count: int32(i), Price: 0.5}
	}
	return l.encode(o)
}

func (l *apacheThrift) encode(o *apache.Order) ([]byte, error) {
	l.out.Reset()
	err := o.Write(context.Background(), l.write)
	return l.out.Bytes(), err
}

func (l *apacheThrift) decode(wire []byte) (*apache.Order, error) {
	l.in.Reset()
	l.in.Write(wire)
	o := apache.NewOrder()
	return o, o.Read(context.Background(), l.read)
}

func (l *apacheThrift) readAll(wire []byte) (sum, error) {
	o, err := l.decode(wire)
	if err != nil {
		return sum{}, err
	}
	s := sum{texts: len(o.Customer), lines: len(o.Lines)}
	for _, line := range o.Lines {
		s.texts += len(line.Article)
		s.total += float64(line.Count) * line.Price
	}
	return s, nil
}

func (l *apacheThrift) editAndForward(wire []byte) ([]byte, error) {
	o, err := l.decode(wire)
	if err != nil {
		return nil, err
	}
	line := o.Lines[lineCount/2]
	line.Article = newArticle
	line.Count += 2
	return l.encode(o)
}
