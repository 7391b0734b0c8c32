package data

import (
	"fmt"
	"math/rand/v2"
)

// source makes random values from one fixed seed.
type source struct{ *rand.Rand }

func newSource(seed uint64) source { return source{rand.New(rand.NewPCG(seed, 0x6e6f636f7079))} }

const letters = "abcdefghijklmnopqrstuvwxyz0123456789_-./:"

// text returns a new string of n bytes. Each is an allocation of its own, as strings in an
// application usually are.
func (r source) text(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[r.IntN(len(letters))]
	}
	return string(b)
}

// between returns a text of lo to hi bytes.
func (r source) between(lo, hi int) string { return r.text(lo + r.IntN(hi-lo+1)) }

func newMyTest(n int) *MyTest {
	r := newSource(1)
	v := &MyTest{Num: r.Int64(), Ano: r.Int64(), Nums: OrNil(make([]int64, n))}
	for i := range v.Nums {
		v.Nums[i] = r.Int64()
	}
	return v
}

func newSmall() *Small {
	r := newSource(2)
	return &Small{
		Service: "user.profile.query.service", Method: "GetProfile", Caller: "gateway.public.edge-17",
		Code: 200, TraceID: r.Int64(), Timestamp: 1732150000123456789, Sampled: true, Weight: 0.875,
		SubName: "profile-cache-primary", SubRegion: "eu-central-1", SubID: r.Int64(),
	}
}

func (r source) user() User {
	return User{UID: r.Int64(), Name: r.between(8, 16), Email: r.between(16, 28), Age: int32(r.IntN(90)), VIP: r.IntN(2) == 0}
}

// pairs returns entries of a map, whose keys are distinct.
func (r source) pairs(n int) []Pair {
	p := make([]Pair, n)
	for i := range p {
		p[i] = Pair{Key: fmt.Sprintf("k%d.%s", i, r.text(4)), Value: r.between(10, 24)}
	}
	return p
}

// newBusiness returns a message of n units, each an item, two numbers, two words and half a map
// entry, about 174 bytes on the wire, and a last string of the given length.
func newBusiness(n, trailer int) *Business {
	r := newSource(3)
	v := &Business{
		ID: r.Int64(), Title: r.text(24), Status: 2, Region: "eu-central-1", Cluster: r.text(12), User: r.user(), Tags: r.pairs(3),
		Items: make([]Item, n), Extra: r.pairs((n + 1) / 2), Nums: make([]int64, 2*n), Words: make([]string, 2*n),
		Score: 98.6, Flag: true, Owner: r.user(), Ts: 1732150000123, Trailer: r.text(trailer),
	}
	for i := range v.Items {
		v.Items[i] = Item{ID: r.Int64(), Name: r.between(8, 16), Desc: r.between(40, 80), Count: int32(r.IntN(1000)), Price: r.Float64() * 100, OK: r.IntN(2) == 0}
	}
	for i := range v.Nums {
		v.Nums[i] = r.Int64()
		v.Words[i] = r.between(4, 16)
	}
	return v
}

// businessOf returns a message of about size bytes on the wire.
func businessOf(size int) *Business {
	const unit, rest = 174, 455
	return newBusiness((size-rest)/unit, (size-rest)%unit)
}

func newBlob(n int) *Blob {
	r := newSource(4)
	v := &Blob{ID: r.Int64(), Name: "object-0001.bin", Data: make([]byte, n), Code: 200, OK: true}
	for i := range v.Data {
		v.Data[i] = byte(r.Uint32())
	}
	return v
}
