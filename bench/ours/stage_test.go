package ours

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/generated/nocopy/peer"
)

func find(name string) any {
	for _, w := range data.All() {
		if w.Name == name {
			return w.New()
		}
	}
	panic(name)
}

func TestStages(t *testing.T) {
	for _, n := range sizes() {
		v := find(fmt.Sprintf("I-edits-%d", n)).(*data.Edits)
		m := peer.NewCatalog()
		its := m.NewItems(len(v.Items))
		for i, from := range v.Items {
			it := its.At(i)
			it.SetID(from.ID)
			it.SetName(from.Name)
			it.SetDesc(from.Desc)
			it.SetCount(from.Count)
			it.SetPrice(from.Price)
			it.SetOk(from.OK)
		}
		wire := m.ThriftStruct().Message().AppendTo(nil)
		m.ThriftStruct().Release()
		var best [5]time.Duration
		for k := range best {
			best[k] = 1e12
		}
		for range max(20, 2000000/n/10) {
			t0 := time.Now()
			c, _ := peer.ParseCatalog(wire)
			t1 := time.Now()
			editItems(c, v)
			t2 := time.Now()
			c.ThriftStruct().Message().Len()
			t3 := time.Now()
			c.ThriftStruct().Message().WriteTo(io.Discard)
			t4 := time.Now()
			c.ThriftStruct().Release()
			t5 := time.Now()
			for k, d := range []time.Duration{t1.Sub(t0), t2.Sub(t1), t3.Sub(t2), t4.Sub(t3), t5.Sub(t4)} {
				best[k] = min(best[k], d)
			}
		}
		fmt.Printf("edits %d: wire %d, ns/edit parse %.1f edit %.1f seal %.1f write %.1f release %.1f\n", n, len(wire)/n, float64(best[0])/float64(n), float64(best[1])/float64(n), float64(best[2])/float64(n), float64(best[3])/float64(n), float64(best[4])/float64(n))
		w := find(fmt.Sprintf("I-fields-random-%d", n)).(*data.FieldOrder)
		for k := range best {
			best[k] = 1e12
		}
		for range max(20, 2000000/n/10) {
			t0 := time.Now()
			c := peer.NewCatalog()
			fillFields(c, w)
			t2 := time.Now()
			c.ThriftStruct().Message().Len()
			t3 := time.Now()
			c.ThriftStruct().Message().WriteTo(io.Discard)
			t4 := time.Now()
			c.ThriftStruct().Release()
			t5 := time.Now()
			for k, d := range []time.Duration{0, t2.Sub(t0), t3.Sub(t2), t4.Sub(t3), t5.Sub(t4)} {
				best[k] = min(best[k], d)
			}
		}
		fmt.Printf("fields %d: ns/set fill %.1f seal %.1f write %.1f release %.1f\n", n, float64(best[1])/float64(n), float64(best[2])/float64(n), float64(best[3])/float64(n), float64(best[4])/float64(n))
	}
}

func sizes() []int {
	if s := os.Getenv("SIZES"); s != "" {
		var out []int
		for _, f := range strings.Fields(s) {
			n, _ := strconv.Atoi(f)
			out = append(out, n)
		}
		return out
	}
	return []int{100, 1000, 10000, 100000}
}
