package flat

import (
	"github.com/google/flatbuffers/go"

	"github.com/nocopythrift/nocopythrift/bench/data"
	gen "github.com/nocopythrift/nocopythrift/bench/generated/flat"
)

func business(v *data.Business) message {
	var kept []flatbuffers.UOffsetT // the application's own slice for offsets of elements
	return message{
		fill:   func(b *flatbuffers.Builder) flatbuffers.UOffsetT { return fillBusiness(b, v, &kept) },
		sum:    sumBusiness,
		values: businessValues,
		partial: func(wire []byte) uint64 {
			m := gen.GetRootAsBusiness(wire, 0)
			var owner gen.User
			return data.F64(m.Score()) + uint64(m.Ts()) + data.Str(m.Owner(&owner).Name())
		},
	}
}

func fillBusiness(b *flatbuffers.Builder, v *data.Business, kept *[]flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	offsets := (*kept)[:0]
	for i := range v.Items {
		it := &v.Items[i]
		name, desc := b.CreateString(it.Name), b.CreateString(it.Desc)
		gen.ItemStart(b)
		gen.ItemAddId(b, it.ID)
		gen.ItemAddName(b, name)
		gen.ItemAddDesc(b, desc)
		gen.ItemAddCount(b, it.Count)
		gen.ItemAddPrice(b, it.Price)
		gen.ItemAddOk(b, it.OK)
		offsets = append(offsets, gen.ItemEnd(b))
	}
	gen.BusinessStartItemsVector(b, len(offsets))
	items := vector(b, offsets, func(o flatbuffers.UOffsetT) { b.PrependUOffsetT(o) })
	offsets = offsets[:0]
	for _, w := range v.Words {
		offsets = append(offsets, b.CreateString(w))
	}
	gen.BusinessStartWordsVector(b, len(offsets))
	words := vector(b, offsets, func(o flatbuffers.UOffsetT) { b.PrependUOffsetT(o) })
	gen.BusinessStartNumsVector(b, len(v.Nums))
	nums := int64s(b, v.Nums)
	*kept = offsets

	extra := fillPairs(b, v.Extra, kept)
	tags := fillPairs(b, v.Tags, kept)
	user, region, cluster := fillUser(b, &v.User), b.CreateString(v.Region), b.CreateString(v.Cluster)
	gen.MetaStart(b)
	gen.MetaAddRegion(b, region)
	gen.MetaAddCluster(b, cluster)
	gen.MetaAddUser(b, user)
	gen.MetaAddTags(b, tags)
	meta := gen.MetaEnd(b)
	owner, title, trailer := fillUser(b, &v.Owner), b.CreateString(v.Title), b.CreateString(v.Trailer)
	gen.BusinessStart(b)
	gen.BusinessAddId(b, v.ID)
	gen.BusinessAddTitle(b, title)
	gen.BusinessAddStatus(b, v.Status)
	gen.BusinessAddMeta(b, meta)
	gen.BusinessAddItems(b, items)
	gen.BusinessAddExtra(b, extra)
	gen.BusinessAddNums(b, nums)
	gen.BusinessAddWords(b, words)
	gen.BusinessAddScore(b, v.Score)
	gen.BusinessAddFlag(b, v.Flag)
	gen.BusinessAddOwner(b, owner)
	gen.BusinessAddTs(b, v.Ts)
	gen.BusinessAddTrailer(b, trailer)
	return gen.BusinessEnd(b)
}

func fillUser(b *flatbuffers.Builder, v *data.User) flatbuffers.UOffsetT {
	name, email := b.CreateString(v.Name), b.CreateString(v.Email)
	gen.UserStart(b)
	gen.UserAddUid(b, v.UID)
	gen.UserAddName(b, name)
	gen.UserAddEmail(b, email)
	gen.UserAddAge(b, v.Age)
	gen.UserAddVip(b, v.VIP)
	return gen.UserEnd(b)
}

// fillPairs uses Meta's vector of pairs for both fields that are one: they differ in nothing.
func fillPairs(b *flatbuffers.Builder, v []data.Pair, kept *[]flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	offsets := (*kept)[:0]
	for i := range v {
		key, value := b.CreateString(v[i].Key), b.CreateString(v[i].Value)
		gen.PairStart(b)
		gen.PairAddKey(b, key)
		gen.PairAddValue(b, value)
		offsets = append(offsets, gen.PairEnd(b))
	}
	*kept = offsets
	gen.MetaStartTagsVector(b, len(offsets))
	return vector(b, offsets, func(o flatbuffers.UOffsetT) { b.PrependUOffsetT(o) })
}

func sumBusiness(wire []byte) uint64 {
	m := gen.GetRootAsBusiness(wire, 0)
	var (
		meta gen.Meta
		user gen.User
		pair gen.Pair
		it   gen.Item
	)
	m.Meta(&meta)
	s := uint64(m.Id()) + data.Str(m.Title()) + uint64(m.Status()) + data.Str(meta.Region()) + data.Str(meta.Cluster()) + sumUser(meta.User(&user)) +
		data.F64(m.Score()) + data.Bool(m.Flag()) + sumUser(m.Owner(&user)) + uint64(m.Ts()) + data.Str(m.Trailer())
	for i := range meta.TagsLength() {
		meta.Tags(&pair, i)
		s += data.Str(pair.Key()) + data.Str(pair.Value())
	}
	for i := range m.ItemsLength() {
		m.Items(&it, i)
		s += uint64(it.Id()) + data.Str(it.Name()) + data.Str(it.Desc()) + uint64(it.Count()) + data.F64(it.Price()) + data.Bool(it.Ok())
	}
	for i := range m.ExtraLength() {
		m.Extra(&pair, i)
		s += data.Str(pair.Key()) + data.Str(pair.Value())
	}
	for i := range m.NumsLength() {
		s += uint64(m.Nums(i))
	}
	for i := range m.WordsLength() {
		s += data.Str(m.Words(i))
	}
	return s
}

func sumUser(m *gen.User) uint64 {
	return uint64(m.Uid()) + data.Str(m.Name()) + data.Str(m.Email()) + uint64(m.Age()) + data.Bool(m.Vip())
}

func businessValues(wire []byte) any {
	m := gen.GetRootAsBusiness(wire, 0)
	meta := m.Meta(nil)
	v := &data.Business{
		ID: m.Id(), Title: string(m.Title()), Status: m.Status(), Region: string(meta.Region()), Cluster: string(meta.Cluster()), User: userValues(meta.User(nil)),
		Score: m.Score(), Flag: m.Flag(), Owner: userValues(m.Owner(nil)), Ts: m.Ts(), Trailer: string(m.Trailer()),
	}
	var (
		pair gen.Pair
		it   gen.Item
	)
	for i := range meta.TagsLength() {
		meta.Tags(&pair, i)
		v.Tags = append(v.Tags, data.Pair{Key: string(pair.Key()), Value: string(pair.Value())})
	}
	for i := range m.ItemsLength() {
		m.Items(&it, i)
		v.Items = append(v.Items, data.Item{ID: it.Id(), Name: string(it.Name()), Desc: string(it.Desc()), Count: it.Count(), Price: it.Price(), OK: it.Ok()})
	}
	for i := range m.ExtraLength() {
		m.Extra(&pair, i)
		v.Extra = append(v.Extra, data.Pair{Key: string(pair.Key()), Value: string(pair.Value())})
	}
	for i := range m.NumsLength() {
		v.Nums = append(v.Nums, m.Nums(i))
	}
	for i := range m.WordsLength() {
		v.Words = append(v.Words, string(m.Words(i)))
	}
	return v
}

func userValues(m *gen.User) data.User {
	return data.User{UID: m.Uid(), Name: string(m.Name()), Email: string(m.Email()), Age: m.Age(), VIP: m.Vip()}
}
