package ours

import (
	"bytes"
	"testing"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/generated/nocopy/peer"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

func wires(name string) (plain, with []byte) {
	for _, w := range data.All() {
		if w.Name == name {
			v := w.New().(*data.Business)
			m := peer.NewBusiness()
			fillBusiness(m, v, new(lists))
			plain = bytes.Clone(m.Message().Bytes())
			s, _ := peer.ParseBusiness(plain, nocopy.WithIndex)
			with = bytes.Clone(s.Message().Bytes())
			return
		}
	}
	return
}

var n int

func BenchmarkIx(b *testing.B) {
	for _, name := range []string{"C20K", "C6M"} {
		plain, with := wires(name)
		b.Run("fields/"+name, func(b *testing.B) {
			for range b.N {
				m, _ := peer.ParseBusiness(with, nocopy.ByIndex, nocopy.Recycle)
				n += int(m.GetScore()) + int(m.GetTs()) + len(m.GetOwner().GetName())
				m.Release()
			}
		})
		b.Run("open/"+name, func(b *testing.B) {
			for range b.N {
				m, _ := peer.ParseBusiness(with, nocopy.ByIndex, nocopy.Recycle)
				m.Release()
			}
		})
		b.Run("opentwo/"+name, func(b *testing.B) {
			for range b.N {
				m, _ := peer.ParseBusiness(with, nocopy.ByIndex, nocopy.Recycle)
				n += int(m.GetScore()) + int(m.GetTs())
				m.Release()
			}
		})
		b.Run("none/"+name, func(b *testing.B) {
			empty := []byte{0}
			for range b.N {
				m, _ := peer.ParseBusiness(empty, nocopy.Recycle)
				m.Release()
			}
		})
		b.Run("element/"+name, func(b *testing.B) {
			i := 0
			for range b.N {
				m, _ := peer.ParseBusiness(with, nocopy.ByIndex, nocopy.Recycle)
				it := m.GetItems()
				i = (i + it.Len()*5/8 + 1) % it.Len()
				n += len(it.At(i).GetName())
				m.Release()
			}
		})
		b.Run("parse/"+name, func(b *testing.B) {
			for range b.N {
				m, _ := peer.ParseBusiness(plain, nocopy.Recycle)
				m.Release()
			}
		})
		b.Run("add/"+name, func(b *testing.B) {
			for range b.N {
				m, _ := peer.ParseBusiness(plain, nocopy.Recycle, nocopy.WithIndex)
				m.Release()
			}
		})
	}
}
