package main

import (
	"bytes"

	"github.com/nocopythrift/nocopythrift/examples/quickstart/order"
)

// nocopyThrift does the tasks with this library.
type nocopyThrift struct {
	out     bytes.Buffer // stands for a connection
	changed int          // values of the last forwarded message that were not sent as they came
}

func (l *nocopyThrift) build() ([]byte, error) {
	o := order.NewOrder()
	defer o.Release()
	o.SetID(4711)
	o.SetCustomer(customer)
	lines := o.NewLines(lineCount)
	for i := range lineCount {
		line := lines.At(i)
		line.SetArticle(article(i))
		line.SetCount(int32(i))
		line.SetPrice(0.5)
	}
	l.out.Reset()
	_, err := o.Message().WriteTo(&l.out)
	return l.out.Bytes(), err
}

func (l *nocopyThrift) readAll(wire []byte) (sum, error) {
	o, err := order.ParseOrder(wire)
	if err != nil {
		return sum{}, err
	}
	defer o.Release()
	s := sum{texts: len(o.GetCustomer()), lines: o.GetLines().Len()}
	for _, line := range o.GetLines().All() {
		s.texts += len(line.GetArticle())
		s.total += float64(line.GetCount()) * line.GetPrice()
	}
	return s, nil
}

func (l *nocopyThrift) editAndForward(wire []byte) ([]byte, error) {
	o, err := order.ParseOrder(wire)
	if err != nil {
		return nil, err
	}
	defer o.Release()
	line := o.GetLines().At(lineCount / 2)
	line.SetArticle(newArticle)
	line.SetCount(line.GetCount() + 2)
	l.out.Reset()
	_, err = o.Message().WriteTo(&l.out)
	l.changed = o.Message().Nodes()
	return l.out.Bytes(), err
}
