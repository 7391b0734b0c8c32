package victoria

import (
	"github.com/VictoriaMetrics/easyproto"

	"github.com/nocopythrift/nocopythrift/bench/data"
)

var marshalers easyproto.MarshalerPool

func marshalRequest(b []byte, v *data.WriteRequest) []byte {
	m := marshalers.Get()
	root := m.MessageMarshaler()
	for i := range v.Series {
		t, from := root.AppendMessage(1), &v.Series[i]
		for j := range from.Labels {
			l := t.AppendMessage(1)
			l.AppendString(1, from.Labels[j].Name)
			l.AppendString(2, from.Labels[j].Value)
		}
		for j := range from.Samples {
			s := t.AppendMessage(2)
			s.AppendDouble(1, from.Samples[j].Value)
			s.AppendInt64(2, from.Samples[j].Timestamp)
		}
	}
	b = m.Marshal(b)
	marshalers.Put(m)
	return b
}

func marshalRows(b []byte, v *data.VStreamRows) []byte {
	m := marshalers.Get()
	root := m.MessageMarshaler()
	root.AppendString(1, v.Gtid)
	for i := range v.Rows {
		r := root.AppendMessage(2)
		r.AppendSint64s(1, v.Rows[i].Lengths)
		r.AppendBytes(2, v.Rows[i].Values)
	}
	b = m.Marshal(b)
	marshalers.Put(m)
	return b
}

// Every visitor has the loop that easyproto's documentation shows. If the loop were a function
// with a callback for fields, FieldContext would escape to the heap.

// next reads the next field of a message into fc and returns the bytes after it.
func next(fc *easyproto.FieldContext, message []byte) []byte {
	rest, err := fc.NextField(message)
	if err != nil {
		panic(err)
	}
	return rest
}

// ok returns v, which a field of the right wire type holds.
func ok[T any](v T, is bool) T {
	if !is {
		panic("victoria: a field of another type")
	}
	return v
}

func visitRequest(message []byte) (sum uint64) {
	var fc easyproto.FieldContext
	for len(message) > 0 {
		if message = next(&fc, message); fc.FieldNum == 1 {
			sum += visitSeries(ok(fc.MessageData()))
		}
	}
	return sum
}

func visitSeries(message []byte) (sum uint64) {
	var fc easyproto.FieldContext
	for len(message) > 0 {
		message = next(&fc, message)
		switch fc.FieldNum {
		case 1:
			sum += visitLabel(ok(fc.MessageData()))
		case 2:
			sum += visitSample(ok(fc.MessageData()))
		}
	}
	return sum
}

func visitLabel(message []byte) (sum uint64) {
	var fc easyproto.FieldContext
	for len(message) > 0 {
		message = next(&fc, message)
		switch fc.FieldNum {
		case 1, 2:
			sum += data.Str(ok(fc.String()))
		}
	}
	return sum
}

func visitSample(message []byte) (sum uint64) {
	var fc easyproto.FieldContext
	for len(message) > 0 {
		message = next(&fc, message)
		switch fc.FieldNum {
		case 1:
			sum += data.F64(ok(fc.Double()))
		case 2:
			sum += uint64(ok(fc.Int64()))
		}
	}
	return sum
}

// visitLast reads the last series' first label's value and first sample.
func visitLast(message []byte) (sum uint64) {
	var fc easyproto.FieldContext
	var last []byte
	for len(message) > 0 {
		if message = next(&fc, message); fc.FieldNum == 1 {
			last = ok(fc.MessageData())
		}
	}
	labels, samples := 0, 0
	for len(last) > 0 {
		last = next(&fc, last)
		switch fc.FieldNum {
		case 1:
			if labels++; labels == 1 {
				sum += labelValue(ok(fc.MessageData()))
			}
		case 2:
			if samples++; samples == 1 {
				sum += visitSample(ok(fc.MessageData()))
			}
		}
	}
	return sum
}

func labelValue(label []byte) uint64 {
	value, found, err := easyproto.GetString(label, 2)
	if err != nil {
		panic(err)
	}
	return data.Str(ok(value, found))
}

func visitRows(message []byte, lengths *[]int64) (sum uint64) {
	var fc easyproto.FieldContext
	for len(message) > 0 {
		message = next(&fc, message)
		switch fc.FieldNum {
		case 1:
			sum += data.Str(ok(fc.String()))
		case 2:
			sum += visitRow(ok(fc.MessageData()), lengths)
		}
	}
	return sum
}

func visitRow(message []byte, lengths *[]int64) (sum uint64) {
	var fc easyproto.FieldContext
	for len(message) > 0 {
		message = next(&fc, message)
		switch fc.FieldNum {
		case 1:
			*lengths = ok(fc.UnpackSint64s((*lengths)[:0]))
			for _, n := range *lengths {
				sum += uint64(n)
			}
		case 2:
			sum += data.Str(ok(fc.Bytes()))
		}
	}
	return sum
}
