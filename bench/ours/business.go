package ours

import (
	"github.com/nocopythrift/nocopythrift/nocopy"

	"github.com/nocopythrift/nocopythrift/bench/data"
	"github.com/nocopythrift/nocopythrift/bench/generated/nocopy/peer"
)

func business(v *data.Business) message[peer.Business] {
	own := new(lists)
	f, p := businessFields(v)
	return message[peer.Business]{
		make:  peer.NewBusiness,
		parse: peer.ParseBusiness,
		fill:  func(m peer.Business) { fillBusiness(m, v, own) },
		of:    func(opts ...nocopy.Option) peer.Business { p.fill(); return peer.NewBusinessOf(*f, opts...) },
		plain: p,
		sum:   sumBusiness,
		partial: func(m peer.Business) uint64 {
			return data.F64(m.GetScore()) + uint64(m.GetTs()) + data.Str(m.GetOwner().GetName())
		},
		peek: peek(peer.BusinessDesc, func(v []nocopy.Value) uint64 {
			return data.F64(v[0].Float64()) + uint64(v[1].Int64()) + data.Str(v[2].Text())
		}, []int{9}, []int{12}, []int{11, 2}),
		edit: func(m peer.Business) {
			m.GetOwner().SetName(data.EditText)
			m.SetTs(data.EditInt)
		},
		values: businessValues,
	}
}

// lists are the application's own slices, as in myTest.
type lists struct {
	nums  []int64
	words []string
}

func fillBusiness(m peer.Business, v *data.Business, own *lists) {
	m.SetID(v.ID)
	m.SetTitle(v.Title)
	m.SetStatus(v.Status)
	meta := m.NewMeta()
	meta.SetRegion(v.Region)
	meta.SetCluster(v.Cluster)
	fillUser(meta.NewUser(), &v.User)
	tags := meta.NewTags()
	for _, p := range v.Tags {
		tags.Put(p.Key, p.Value)
	}
	items := m.NewItems(len(v.Items))
	for i := range v.Items {
		it, from := items.At(i), &v.Items[i]
		it.SetID(from.ID)
		it.SetName(from.Name)
		it.SetDesc(from.Desc)
		it.SetCount(from.Count)
		it.SetPrice(from.Price)
		it.SetOk(from.OK)
	}
	extra := m.NewExtra()
	for _, p := range v.Extra {
		extra.Put(p.Key, p.Value)
	}
	own.nums = append(own.nums[:0], v.Nums...)
	m.SetNums(own.nums)
	own.words = append(own.words[:0], v.Words...)
	m.SetWords(own.words)
	m.SetScore(v.Score)
	m.SetFlag(v.Flag)
	fillUser(m.NewOwner(), &v.Owner)
	m.SetTs(v.Ts)
	m.SetTrailer(v.Trailer)
}

func fillUser(m peer.User, v *data.User) {
	m.SetUID(v.UID)
	m.SetName(v.Name)
	m.SetEmail(v.Email)
	m.SetAge(v.Age)
	m.SetVip(v.VIP)
}

func sumBusiness(m peer.Business) uint64 {
	meta := m.GetMeta()
	s := uint64(m.GetID()) + data.Str(m.GetTitle()) + uint64(m.GetStatus()) + data.Str(meta.GetRegion()) + data.Str(meta.GetCluster()) + sumUser(meta.GetUser()) +
		data.F64(m.GetScore()) + data.Bool(m.GetFlag()) + sumUser(m.GetOwner()) + uint64(m.GetTs()) + data.Str(m.GetTrailer())
	for k, v := range meta.GetTags().All() {
		s += data.Str(k) + data.Str(v)
	}
	for _, it := range m.GetItems().All() {
		s += uint64(it.GetID()) + data.Str(it.GetName()) + data.Str(it.GetDesc()) + uint64(it.GetCount()) + data.F64(it.GetPrice()) + data.Bool(it.GetOk())
	}
	for k, v := range m.GetExtra().All() {
		s += data.Str(k) + data.Str(v)
	}
	for _, n := range m.GetNums().All() {
		s += uint64(n)
	}
	for _, w := range m.GetWords().All() {
		s += data.Str(w)
	}
	return s
}

func sumUser(m peer.User) uint64 {
	return uint64(m.GetUID()) + data.Str(m.GetName()) + data.Str(m.GetEmail()) + uint64(m.GetAge()) + data.Bool(m.GetVip())
}

func businessValues(m peer.Business) any {
	meta := m.GetMeta()
	v := &data.Business{
		ID: m.GetID(), Title: m.GetTitle(), Status: m.GetStatus(), Region: meta.GetRegion(), Cluster: meta.GetCluster(), User: userValues(meta.GetUser()),
		Tags: []data.Pair{}, Items: []data.Item{}, Extra: []data.Pair{}, Nums: m.GetNums().AppendTo([]int64{}), Words: m.GetWords().AppendTo([]string{}),
		Score: m.GetScore(), Flag: m.GetFlag(), Owner: userValues(m.GetOwner()), Ts: m.GetTs(), Trailer: m.GetTrailer(),
	}
	for k, x := range meta.GetTags().All() {
		v.Tags = append(v.Tags, data.Pair{Key: k, Value: x})
	}
	for _, it := range m.GetItems().All() {
		v.Items = append(v.Items, data.Item{ID: it.GetID(), Name: it.GetName(), Desc: it.GetDesc(), Count: it.GetCount(), Price: it.GetPrice(), OK: it.GetOk()})
	}
	for k, x := range m.GetExtra().All() {
		v.Extra = append(v.Extra, data.Pair{Key: k, Value: x})
	}
	data.SortPairs(v.Tags)
	data.SortPairs(v.Extra)
	return v
}

func userValues(m peer.User) data.User {
	return data.User{UID: m.GetUID(), Name: m.GetName(), Email: m.GetEmail(), Age: m.GetAge(), VIP: m.GetVip()}
}
