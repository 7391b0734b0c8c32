package comingfrom

import (
	"context"

	"capnproto.org/go/capnp/v3"
	"github.com/apache/thrift/lib/go/thrift"
	"google.golang.org/protobuf/proto"

	apache "github.com/nocopythrift/nocopythrift/bench/generated/apache/peer"
	capnpeer "github.com/nocopythrift/nocopythrift/bench/generated/capnp"
	kitex "github.com/nocopythrift/nocopythrift/bench/generated/kitex/peer"
	"github.com/nocopythrift/nocopythrift/bench/generated/nocopy/peer"
	pb "github.com/nocopythrift/nocopythrift/bench/generated/vtproto/peer"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

func buildApache() ([]byte, error) {
	b := apache.NewBusiness()
	b.Id = 7
	b.Meta = apache.NewMeta()
	b.Meta.User = &apache.User{Uid: 1, Name: "Ada"}
	b.Items = []*apache.Item{{Name: "kettle", Count: 2}}
	b.Extra = map[string]string{"ship": "now"}
	b.Nums = []int64{1, 2, 3}
	return thrift.NewTSerializer().Write(context.Background(), b)
}

func buildKitex() ([]byte, error) {
	b := kitex.NewBusiness()
	b.Id = 7
	b.Meta = kitex.NewMeta()
	b.Meta.User = &kitex.User{Uid: 1, Name: "Ada"}
	b.Items = []*kitex.Item{{Name: "kettle", Count: 2}}
	b.Extra = map[string]string{"ship": "now"}
	b.Nums = []int64{1, 2, 3}
	buf := make([]byte, b.BLength())
	return buf[:b.FastWriteNocopy(buf, nil)], nil
}

func buildProtobuf() ([]byte, error) {
	b := &pb.Business{
		Id:    7,
		Meta:  &pb.Meta{User: &pb.User{Uid: 1, Name: "Ada"}},
		Items: []*pb.Item{{Name: "kettle", Count: 2}},
		Extra: map[string]string{"ship": "now"},
		Nums:  []int64{1, 2, 3},
	}
	return proto.Marshal(b)
}

func buildCapnp() ([]byte, error) {
	msg, seg, err := capnp.NewMessage(capnp.SingleSegment(nil))
	if err != nil {
		return nil, err
	}
	b, err := capnpeer.NewRootBusiness(seg)
	if err != nil {
		return nil, err
	}
	b.SetId(7)
	meta, err := b.NewMeta()
	if err != nil {
		return nil, err
	}
	user, err := meta.NewUser()
	if err != nil {
		return nil, err
	}
	user.SetUid(1)
	if err := user.SetName("Ada"); err != nil {
		return nil, err
	}
	items, err := b.NewItems(1)
	if err != nil {
		return nil, err
	}
	if err := items.At(0).SetName("kettle"); err != nil {
		return nil, err
	}
	items.At(0).SetCount(2)
	return msg.Marshal()
}

func build() ([]byte, error) {
	b := peer.NewBusiness()
	defer b.Release()
	b.SetID(7)
	user := b.NewMeta().NewUser()
	user.SetUID(1)
	user.SetName("Ada")
	item := b.NewItems(1).At(0)
	item.SetName("kettle")
	item.SetCount(2)
	b.SetExtraMap(map[string]string{"ship": "now"})
	b.SetNums([]int64{1, 2, 3})
	return b.Message().AppendTo(nil), nil
}

func readApache(wire []byte) (name string, count int32, err error) {
	b := apache.NewBusiness()
	if err := thrift.NewTDeserializer().Read(context.Background(), b, wire); err != nil {
		return "", 0, err
	}
	if b.Meta != nil && b.Meta.User != nil {
		name = b.Meta.User.Name
	}
	for _, item := range b.Items {
		count += item.Count
	}
	return name, count, nil
}

func readKitex(wire []byte) (name string, count int32, err error) {
	b := kitex.NewBusiness()
	if _, err := b.FastRead(wire); err != nil {
		return "", 0, err
	}
	if b.IsSetMeta() && b.Meta.IsSetUser() {
		name = b.Meta.User.Name
	}
	for _, item := range b.Items {
		count += item.Count
	}
	return name, count, nil
}

func readProtobuf(wire []byte) (name string, count int32, err error) {
	var b pb.Business
	if err := proto.Unmarshal(wire, &b); err != nil {
		return "", 0, err
	}
	name = b.GetMeta().GetUser().GetName()
	for _, item := range b.GetItems() {
		count += item.GetCount()
	}
	return name, count, nil
}

func readCapnp(wire []byte) (name string, count int32, err error) {
	msg, err := capnp.Unmarshal(wire)
	if err != nil {
		return "", 0, err
	}
	b, err := capnpeer.ReadRootBusiness(msg)
	if err != nil {
		return "", 0, err
	}
	meta, err := b.Meta()
	if err != nil {
		return "", 0, err
	}
	user, err := meta.User()
	if err != nil {
		return "", 0, err
	}
	if name, err = user.Name(); err != nil {
		return "", 0, err
	}
	items, err := b.Items()
	if err != nil {
		return "", 0, err
	}
	for i := range items.Len() {
		count += items.At(i).Count()
	}
	return name, count, nil
}

func read(wire []byte) (name string, count int32, err error) {
	b, err := peer.ParseBusiness(wire) // checks all of it; getters have no errors
	if err != nil {
		return "", 0, err
	}
	defer b.Release()
	name = b.GetMeta().GetUser().GetName() // "" if anything on the way is not set
	for _, item := range b.GetItems().All() {
		count += item.GetCount()
	}
	return name, count, nil
}

func forwardApache(wire []byte) ([]byte, error) {
	b := apache.NewBusiness()
	if err := thrift.NewTDeserializer().Read(context.Background(), b, wire); err != nil {
		return nil, err
	}
	b.Meta.User.Name = "Grace"
	return thrift.NewTSerializer().Write(context.Background(), b)
}

func forwardKitex(wire []byte) ([]byte, error) {
	b := kitex.NewBusiness()
	if _, err := b.FastRead(wire); err != nil {
		return nil, err
	}
	b.Meta.User.Name = "Grace"
	buf := make([]byte, b.BLength())
	return buf[:b.FastWriteNocopy(buf, nil)], nil
}

func forwardProtobuf(wire []byte) ([]byte, error) {
	var b pb.Business
	if err := proto.Unmarshal(wire, &b); err != nil {
		return nil, err
	}
	b.Meta.User.Name = "Grace"
	return proto.Marshal(&b)
}

func forward(wire []byte) ([]byte, error) {
	b, err := peer.ParseBusiness(wire, nocopy.Lazy) // only what is touched is indexed
	if err != nil {
		return nil, err
	}
	defer b.Release()
	b.GetMeta().GetUser().SetName("Grace") // the rest stays the bytes that they are
	return b.Message().AppendTo(nil), nil
}

func presenceApache(b *apache.Business) bool { return b.IsSetOwner() }

func presenceKitex(b *kitex.Business) bool { return b.IsSetOwner() }

func presenceProtobuf(b *pb.Business) bool { return b.Owner != nil }

func presenceCapnp(b capnpeer.Business) bool { return b.HasOwner() }

func presence(b peer.Business) bool { return b.IsSetOwner() }
