package main

import (
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/nocopythrift/nocopythrift/bench/kitexrpc/generated/nocopy/records"
)

// sink keeps what was read alive, so that no reading can be optimised away.
var sink atomic.Uint64

// source is the data from which an application makes a record.
type source struct {
	id            int64
	tenant, trace string
	items         []sourceItem
	numbers       []int64
	data          []byte
}

type sourceItem struct {
	id         int64
	name, note string
	price      float64
	tags       []string
}

// shapes are the kinds of records: lists of structs with strings, and one large binary.
var shapes = []string{"structs", "binary"}

// newSource returns what a record of size wire bytes is made of: a few more or less with structs.
func newSource(shape string, size int) *source {
	s := &source{id: 42, tenant: "tenant-7", trace: "4bf92f3577b34da6a3ce929d0e0e4736", numbers: []int64{1, 2, 3, 5, 8, 13, 21, 34}}
	left := size - s.wire()
	if shape == "binary" {
		s.data = make([]byte, left)
		for i := range s.data {
			s.data[i] = byte(i * 7)
		}
		return s
	}
	for i := range left / itemSize {
		s.items = append(s.items, sourceItem{
			id: int64(i), name: "item number " + strconv.Itoa(10000+i), price: float64(i) + 0.5,
			tags: []string{"new", "fragile", "in stock"}, note: strings.Repeat("note ", 8),
		})
	}
	return s
}

// itemSize is the wire size of an item.
const itemSize = 11 + 7 + 17 + 11 + 8 + 3*4 + 3 + 7 + 8 + 7 + 40 + 1

// message returns the record as a message.
func (s *source) message() records.Record {
	r := records.NewRecord()
	fillOurs(r, s)
	return r
}

// wire returns how many bytes the record has.
func (s *source) wire() int { return len(s.message().Message().Bytes()) }
