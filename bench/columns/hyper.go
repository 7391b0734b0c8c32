//go:build amd64 || arm64

package main

import (
	"buf.build/go/hyperpb"

	pb "github.com/nocopythrift/nocopythrift/bench/generated/vtproto/prom"
)

// hyperRows returns the row of hyperpb for a write request of one series.
func hyperRows(request []byte) []row {
	t := hyperpb.CompileMessageDescriptor((*pb.WriteRequest)(nil).ProtoReflect().Descriptor())
	series := t.Descriptor().Fields().ByNumber(1)
	samples := series.Message().Fields().ByNumber(2)
	value, timestamp := samples.Message().Fields().ByNumber(1), samples.Message().Fields().ByNumber(2)
	opts := []hyperpb.UnmarshalOption{hyperpb.WithAllowAlias(true), hyperpb.WithAllowInvalidUTF8(true)}
	shared := new(hyperpb.Shared)
	return []row{{"hyperpb", func() {
		m := shared.NewMessage(t)
		if err := m.Unmarshal(request, opts...); err != nil {
			panic(err)
		}
		l := m.Get(series).List().Get(0).Message().Get(samples).List()
		for i := range l.Len() {
			s := l.Get(i).Message()
			out.values = append(out.values, s.Get(value).Float())
			out.times = append(out.times, s.Get(timestamp).Int())
		}
		shared.Free()
	}}}
}
