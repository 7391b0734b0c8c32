package capnp

import (
	"capnproto.org/go/capnp/v3"

	"github.com/nocopythrift/nocopythrift/bench/data"
	gen "github.com/nocopythrift/nocopythrift/bench/generated/capnp"
)

func business(v *data.Business) message {
	return message{
		fill: func(s *capnp.Segment) { fillBusiness(must(gen.NewRootBusiness(s)), v) },
		sum:  func(root capnp.Struct) uint64 { return sumBusiness(gen.Business(root)) },
		partial: func(root capnp.Struct) uint64 {
			m := gen.Business(root)
			return data.F64(m.Score()) + uint64(m.Ts()) + data.Str(must(must(m.Owner()).NameBytes()))
		},
		edit: func(root capnp.Struct) {
			m := gen.Business(root)
			check(must(m.Owner()).SetName(data.EditText))
			m.SetTs(data.EditInt)
		},
		values: func(root capnp.Struct) any { return businessValues(gen.Business(root)) },
	}
}

func fillBusiness(m gen.Business, v *data.Business) {
	m.SetId(v.ID)
	check(m.SetTitle(v.Title))
	m.SetStatus(v.Status)
	meta := must(m.NewMeta())
	check(meta.SetRegion(v.Region))
	check(meta.SetCluster(v.Cluster))
	fillUser(must(meta.NewUser()), &v.User)
	fillPairs(must(meta.NewTags(int32(len(v.Tags)))), v.Tags)
	items := must(m.NewItems(int32(len(v.Items))))
	for i := range v.Items {
		it, from := items.At(i), &v.Items[i]
		it.SetId(from.ID)
		check(it.SetName(from.Name))
		check(it.SetDesc(from.Desc))
		it.SetCount(from.Count)
		it.SetPrice(from.Price)
		it.SetOk(from.OK)
	}
	fillPairs(must(m.NewExtra(int32(len(v.Extra)))), v.Extra)
	nums := must(m.NewNums(int32(len(v.Nums))))
	for i, n := range v.Nums {
		nums.Set(i, n)
	}
	words := must(m.NewWords(int32(len(v.Words))))
	for i, w := range v.Words {
		check(words.Set(i, w))
	}
	m.SetScore(v.Score)
	m.SetFlag(v.Flag)
	fillUser(must(m.NewOwner()), &v.Owner)
	m.SetTs(v.Ts)
	check(m.SetTrailer(v.Trailer))
}

func fillUser(m gen.User, v *data.User) {
	m.SetUid(v.UID)
	check(m.SetName(v.Name))
	check(m.SetEmail(v.Email))
	m.SetAge(v.Age)
	m.SetVip(v.VIP)
}

func fillPairs(m gen.Pair_List, v []data.Pair) {
	for i := range v {
		p := m.At(i)
		check(p.SetKey(v[i].Key))
		check(p.SetValue(v[i].Value))
	}
}

func sumBusiness(m gen.Business) uint64 {
	meta := must(m.Meta())
	s := uint64(m.Id()) + data.Str(must(m.TitleBytes())) + uint64(m.Status()) + data.Str(must(meta.RegionBytes())) + data.Str(must(meta.ClusterBytes())) +
		sumUser(must(meta.User())) + sumPairs(must(meta.Tags())) + sumPairs(must(m.Extra())) + data.F64(m.Score()) + data.Bool(m.Flag()) +
		sumUser(must(m.Owner())) + uint64(m.Ts()) + data.Str(must(m.TrailerBytes()))
	items := must(m.Items())
	for i := range items.Len() {
		it := items.At(i)
		s += uint64(it.Id()) + data.Str(must(it.NameBytes())) + data.Str(must(it.DescBytes())) + uint64(it.Count()) + data.F64(it.Price()) + data.Bool(it.Ok())
	}
	nums := must(m.Nums())
	for i := range nums.Len() {
		s += uint64(nums.At(i))
	}
	words := must(m.Words())
	for i := range words.Len() {
		s += data.Str(must(words.BytesAt(i)))
	}
	return s
}

func sumUser(m gen.User) uint64 {
	return uint64(m.Uid()) + data.Str(must(m.NameBytes())) + data.Str(must(m.EmailBytes())) + uint64(m.Age()) + data.Bool(m.Vip())
}

func sumPairs(m gen.Pair_List) (s uint64) {
	for i := range m.Len() {
		p := m.At(i)
		s += data.Str(must(p.KeyBytes())) + data.Str(must(p.ValueBytes()))
	}
	return s
}

func businessValues(m gen.Business) any {
	meta := must(m.Meta())
	v := &data.Business{
		ID: m.Id(), Title: must(m.Title()), Status: m.Status(), Region: must(meta.Region()), Cluster: must(meta.Cluster()), User: userValues(must(meta.User())),
		Tags: pairValues(must(meta.Tags())), Extra: pairValues(must(m.Extra())), Nums: int64s(must(m.Nums())),
		Score: m.Score(), Flag: m.Flag(), Owner: userValues(must(m.Owner())), Ts: m.Ts(), Trailer: must(m.Trailer()),
	}
	items := must(m.Items())
	for i := range items.Len() {
		it := items.At(i)
		v.Items = append(v.Items, data.Item{ID: it.Id(), Name: must(it.Name()), Desc: must(it.Desc()), Count: it.Count(), Price: it.Price(), OK: it.Ok()})
	}
	words := must(m.Words())
	for i := range words.Len() {
		v.Words = append(v.Words, must(words.At(i)))
	}
	return v
}

func userValues(m gen.User) data.User {
	return data.User{UID: m.Uid(), Name: must(m.Name()), Email: must(m.Email()), Age: m.Age(), VIP: m.Vip()}
}

func pairValues(m gen.Pair_List) (v []data.Pair) {
	for i := range m.Len() {
		p := m.At(i)
		v = append(v, data.Pair{Key: must(p.Key()), Value: must(p.Value())})
	}
	return v
}
