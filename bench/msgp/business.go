package msgp

import (
	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/structs"
)

func business(v *data.Business) structs.Message {
	return structs.Typed[Business]{
		Fill:    func(m *Business) { fillBusiness(m, v) },
		Sum:     sumBusiness,
		Partial: func(m *Business) uint64 { return data.F64(m.Score) + uint64(m.Ts) + data.Str(m.Owner.Name) },
		Edit:    func(m *Business) { m.Owner.Name, m.Ts = data.EditText, data.EditInt },
		Values:  businessValues,
	}.Message()
}

func fillBusiness(m *Business, v *data.Business) {
	m.ID, m.Title, m.Status = v.ID, v.Title, v.Status
	m.Meta.Region, m.Meta.Cluster, m.Meta.User = v.Region, v.Cluster, User(v.User)
	m.Meta.Tags = fillPairs(m.Meta.Tags, v.Tags)
	m.Items = structs.Room(m.Items, len(v.Items))
	for i := range v.Items {
		m.Items[i] = Item(v.Items[i])
	}
	m.Extra = fillPairs(m.Extra, v.Extra)
	m.Nums = structs.Room(m.Nums, len(v.Nums))
	copy(m.Nums, v.Nums)
	m.Words = structs.Room(m.Words, len(v.Words))
	copy(m.Words, v.Words)
	m.Score, m.Flag = v.Score, v.Flag
	m.Owner = User(v.Owner)
	m.Ts, m.Trailer = v.Ts, v.Trailer
}

// fillPairs returns a map of the pairs: m, if there is one.
func fillPairs(m map[string]string, pairs []data.Pair) map[string]string {
	if m == nil {
		m = make(map[string]string, len(pairs))
	}
	clear(m)
	for _, p := range pairs {
		m[p.Key] = p.Value
	}
	return m
}

func sumBusiness(m *Business) uint64 {
	s := uint64(m.ID) + data.Str(m.Title) + uint64(m.Status) + data.Str(m.Meta.Region) + data.Str(m.Meta.Cluster) + sumUser(&m.Meta.User) +
		sumPairs(m.Meta.Tags) + sumPairs(m.Extra) + data.F64(m.Score) + data.Bool(m.Flag) + sumUser(&m.Owner) + uint64(m.Ts) + data.Str(m.Trailer)
	for i := range m.Items {
		it := &m.Items[i]
		s += uint64(it.ID) + data.Str(it.Name) + data.Str(it.Desc) + uint64(it.Count) + data.F64(it.Price) + data.Bool(it.OK)
	}
	for _, n := range m.Nums {
		s += uint64(n)
	}
	for _, w := range m.Words {
		s += data.Str(w)
	}
	return s
}

func sumUser(m *User) uint64 {
	return uint64(m.UID) + data.Str(m.Name) + data.Str(m.Email) + uint64(m.Age) + data.Bool(m.VIP)
}

func sumPairs(m map[string]string) (s uint64) {
	for k, v := range m {
		s += data.Str(k) + data.Str(v)
	}
	return s
}

func businessValues(m *Business) any {
	v := &data.Business{
		ID: m.ID, Title: m.Title, Status: m.Status, Region: m.Meta.Region, Cluster: m.Meta.Cluster, User: data.User(m.Meta.User), Tags: pairValues(m.Meta.Tags),
		Items: make([]data.Item, len(m.Items)), Extra: pairValues(m.Extra), Nums: append([]int64{}, m.Nums...), Words: append([]string{}, m.Words...),
		Score: m.Score, Flag: m.Flag, Owner: data.User(m.Owner), Ts: m.Ts, Trailer: m.Trailer,
	}
	for i := range m.Items {
		v.Items[i] = data.Item(m.Items[i])
	}
	return v
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
