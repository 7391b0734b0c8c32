//go:build amd64 || arm64

package hyper

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/nocopythrift/nocopythrift/bench/data"
)

type (
	descriptor = protoreflect.MessageDescriptor
	field      = protoreflect.FieldDescriptor
	message    = protoreflect.Message
)

// fields returns a message's fields by their numbers, which are 1 to the number of fields; the
// first element is nil.
func fields(d descriptor) []field {
	all := make([]field, 1+d.Fields().Len())
	for i := 1; i < len(all); i++ {
		all[i] = d.Fields().ByNumber(protoreflect.FieldNumber(i))
	}
	return all
}

func str(m message, f field) uint64 { return data.Str(m.Get(f).String()) }
func num(m message, f field) uint64 { return uint64(m.Get(f).Int()) }
func f64(m message, f field) uint64 { return data.F64(m.Get(f).Float()) }
func is(m message, f field) uint64  { return data.Bool(m.Get(f).Bool()) }

func list(m message, f field) protoreflect.List { return m.Get(f).List() }

func nums(m message, f field) (sum uint64) {
	l := list(m, f)
	for i := range l.Len() {
		sum += uint64(l.Get(i).Int())
	}
	return sum
}

func sumMyTest(d descriptor) func(message) uint64 {
	f := fields(d)
	ano := fields(f[2].Message())
	return func(m message) uint64 {
		return num(m, f[1]) + num(m.Get(f[2]).Message(), ano[1]) + nums(m, f[3])
	}
}

func sumSmall(d descriptor) func(message) uint64 {
	f := fields(d)
	sub := fields(f[9].Message())
	return func(m message) uint64 {
		s := m.Get(f[9]).Message()
		return str(m, f[1]) + str(m, f[2]) + str(m, f[3]) + num(m, f[4]) + num(m, f[5]) + num(m, f[6]) + is(m, f[7]) + f64(m, f[8]) +
			str(s, sub[1]) + str(s, sub[2]) + num(s, sub[3])
	}
}

func partialSmall(d descriptor) func(message) uint64 {
	f := fields(d)
	name := fields(f[9].Message())[1]
	return func(m message) uint64 {
		return num(m, f[6]) + f64(m, f[8]) + str(m.Get(f[9]).Message(), name)
	}
}

func sumBusiness(d descriptor) func(message) uint64 {
	f := fields(d)
	meta, item, user := fields(f[4].Message()), fields(f[5].Message()), fields(f[11].Message())
	sumUser := func(u message) uint64 {
		return num(u, user[1]) + str(u, user[2]) + str(u, user[3]) + num(u, user[4]) + is(u, user[5])
	}
	return func(m message) uint64 {
		mt := m.Get(f[4]).Message()
		s := num(m, f[1]) + str(m, f[2]) + num(m, f[3]) + str(mt, meta[1]) + str(mt, meta[2]) + sumUser(mt.Get(meta[3]).Message()) +
			pairs(mt, meta[4]) + pairs(m, f[6]) + nums(m, f[7]) + f64(m, f[9]) + is(m, f[10]) + sumUser(m.Get(f[11]).Message()) +
			num(m, f[12]) + str(m, f[13])
		items := list(m, f[5])
		for i := range items.Len() {
			it := items.Get(i).Message()
			s += num(it, item[1]) + str(it, item[2]) + str(it, item[3]) + num(it, item[4]) + f64(it, item[5]) + is(it, item[6])
		}
		words := list(m, f[8])
		for i := range words.Len() {
			s += data.Str(words.Get(i).String())
		}
		return s
	}
}

func pairs(m message, f field) (sum uint64) {
	for k, v := range m.Get(f).Map().Range {
		sum += data.Str(k.String()) + data.Str(v.String())
	}
	return sum
}

func partialBusiness(d descriptor) func(message) uint64 {
	f := fields(d)
	name := fields(f[11].Message())[2]
	return func(m message) uint64 {
		return f64(m, f[9]) + num(m, f[12]) + str(m.Get(f[11]).Message(), name)
	}
}

func sumBlob(d descriptor) func(message) uint64 {
	f := fields(d)
	return func(m message) uint64 {
		return num(m, f[1]) + str(m, f[2]) + data.Str(m.Get(f[3]).Bytes()) + num(m, f[4]) + is(m, f[5])
	}
}

func sumRows(d descriptor) func(message) uint64 {
	f := fields(d)
	row := fields(f[2].Message())
	return func(m message) uint64 {
		s, rows := str(m, f[1]), list(m, f[2])
		for i := range rows.Len() {
			r := rows.Get(i).Message()
			s += nums(r, row[1]) + data.Str(r.Get(row[2]).Bytes())
		}
		return s
	}
}

func sumRequest(d descriptor) func(message) uint64 {
	all := fields(d)[1]
	series := fields(all.Message())
	label, sample := fields(series[1].Message()), fields(series[2].Message())
	return func(m message) (s uint64) {
		l := list(m, all)
		for i := range l.Len() {
			t := l.Get(i).Message()
			labels, samples := list(t, series[1]), list(t, series[2])
			for j := range labels.Len() {
				lb := labels.Get(j).Message()
				s += str(lb, label[1]) + str(lb, label[2])
			}
			for j := range samples.Len() {
				sm := samples.Get(j).Message()
				s += f64(sm, sample[1]) + num(sm, sample[2])
			}
		}
		return s
	}
}

func partialRequest(d descriptor) func(message) uint64 {
	all := fields(d)[1]
	series := fields(all.Message())
	label, sample := fields(series[1].Message()), fields(series[2].Message())
	return func(m message) uint64 {
		l := list(m, all)
		t := l.Get(l.Len() - 1).Message()
		sm := list(t, series[2]).Get(0).Message()
		return str(list(t, series[1]).Get(0).Message(), label[2]) + f64(sm, sample[1]) + num(sm, sample[2])
	}
}

// sumWide asks for all fields of each row, as the other peers do.
func sumWide(d descriptor) func(message) uint64 {
	all := fields(d)[1]
	row := fields(all.Message())
	return func(m message) (s uint64) {
		rows := list(m, all)
		for i := range rows.Len() {
			r := rows.Get(i).Message()
			for j := range data.WideFields {
				switch f := row[data.WideFields[j].ID]; data.WideFields[j].Kind {
				case data.TextField:
					s += str(r, f)
				case data.IntField:
					s += num(r, f)
				case data.DoubleField:
					s += f64(r, f)
				case data.BoolField:
					s += is(r, f)
				}
			}
		}
		return s
	}
}

func partialWide(d descriptor) func(message) uint64 {
	all := fields(d)[1]
	text := fields(all.Message())[data.WideText]
	return func(m message) (s uint64) {
		rows := list(m, all)
		for i := range rows.Len() {
			s += str(rows.Get(i).Message(), text)
		}
		return s
	}
}
