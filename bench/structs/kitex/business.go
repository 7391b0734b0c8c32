package kitex

import (
	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/generated/kitex/peer"
	"github.com/nocopythrift/nocopythrift/bench/structs"
)

func business(v *data.Business) structs.Message {
	return structs.Typed[peer.Business]{
		Fill:    func(m *peer.Business) { fillBusiness(m, v) },
		Sum:     sumBusiness,
		Partial: func(m *peer.Business) uint64 { return data.F64(m.Score) + uint64(m.Ts) + data.Str(m.Owner.Name) },
		Edit:    func(m *peer.Business) { m.Owner.Name, m.Ts = data.EditText, data.EditInt },
		Values:  businessValues,
	}.Message()
}

func fillBusiness(m *peer.Business, v *data.Business) {
	m.Id, m.Title, m.Status = v.ID, v.Title, v.Status
	meta := structs.Some(&m.Meta)
	meta.Region, meta.Cluster = v.Region, v.Cluster
	fillUser(structs.Some(&meta.User), &v.User)
	meta.Tags = fillPairs(meta.Tags, v.Tags)
	m.Items = structs.Room(m.Items, len(v.Items))
	for i := range v.Items {
		it, from := structs.Some(&m.Items[i]), &v.Items[i]
		it.Id, it.Name, it.Desc, it.Count, it.Price, it.Ok = from.ID, from.Name, from.Desc, from.Count, from.Price, from.OK
	}
	m.Extra = fillPairs(m.Extra, v.Extra)
	m.Nums = structs.Room(m.Nums, len(v.Nums))
	copy(m.Nums, v.Nums)
	m.Words = structs.Room(m.Words, len(v.Words))
	copy(m.Words, v.Words)
	m.Score, m.Flag = v.Score, v.Flag
	fillUser(structs.Some(&m.Owner), &v.Owner)
	m.Ts, m.Trailer = v.Ts, v.Trailer
}

func fillUser(m *peer.User, v *data.User) {
	m.Uid, m.Name, m.Email, m.Age, m.Vip = v.UID, v.Name, v.Email, v.Age, v.VIP
}

func sumBusiness(m *peer.Business) uint64 {
	s := uint64(m.Id) + data.Str(m.Title) + uint64(m.Status) + data.Str(m.Meta.Region) + data.Str(m.Meta.Cluster) + sumUser(m.Meta.User) +
		sumPairs(m.Meta.Tags) + sumPairs(m.Extra) + data.F64(m.Score) + data.Bool(m.Flag) + sumUser(m.Owner) + uint64(m.Ts) + data.Str(m.Trailer)
	for _, it := range m.Items {
		s += uint64(it.Id) + data.Str(it.Name) + data.Str(it.Desc) + uint64(it.Count) + data.F64(it.Price) + data.Bool(it.Ok)
	}
	for _, n := range m.Nums {
		s += uint64(n)
	}
	for _, w := range m.Words {
		s += data.Str(w)
	}
	return s
}

func sumUser(m *peer.User) uint64 {
	return uint64(m.Uid) + data.Str(m.Name) + data.Str(m.Email) + uint64(m.Age) + data.Bool(m.Vip)
}

func sumPairs(m map[string]string) (s uint64) {
	for k, v := range m {
		s += data.Str(k) + data.Str(v)
	}
	return s
}

func businessValues(m *peer.Business) any {
	v := &data.Business{
		ID: m.Id, Title: m.Title, Status: m.Status, Region: m.Meta.Region, Cluster: m.Meta.Cluster, User: userValues(m.Meta.User), Tags: pairValues(m.Meta.Tags),
		Items: make([]data.Item, len(m.Items)), Extra: pairValues(m.Extra), Nums: m.Nums, Words: m.Words,
		Score: m.Score, Flag: m.Flag, Owner: userValues(m.Owner), Ts: m.Ts, Trailer: m.Trailer,
	}
	for i, it := range m.Items {
		v.Items[i] = data.Item{ID: it.Id, Name: it.Name, Desc: it.Desc, Count: it.Count, Price: it.Price, OK: it.Ok}
	}
	return v
}

func userValues(m *peer.User) data.User {
	return data.User{UID: m.Uid, Name: m.Name, Email: m.Email, Age: m.Age, VIP: m.Vip}
}

// pairValues returns the entries in the order of package data.
func pairValues(m map[string]string) []data.Pair {
	pairs := make([]data.Pair, 0, len(m))
	for k, v := range m {
		pairs = append(pairs, data.Pair{Key: k, Value: v})
	}
	data.SortPairs(pairs)
	return pairs
}
