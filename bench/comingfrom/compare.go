package comingfrom

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	apache "github.com/nocopythrift/nocopythrift/bench/generated/apache/peer"
	kitex "github.com/nocopythrift/nocopythrift/bench/generated/kitex/peer"
	"github.com/nocopythrift/nocopythrift/bench/generated/nocopy/peer"
	pb "github.com/nocopythrift/nocopythrift/bench/generated/vtproto/peer"
	"github.com/nocopythrift/nocopythrift/nocopy/messages"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopycmp"
)

func equalApache(a, b *apache.Business) bool {
	return a.Equals(b)
}

func equalKitex(a, b *kitex.Business) bool {
	return reflect.DeepEqual(a, b)
}

func equalProtobuf(a, b *pb.Business) bool {
	return proto.Equal(a, b)
}

func equal(a, b peer.Business) bool {
	return a.Equal(b) // or messages.Equal, which has options and compares different Go types, too
}

func checkApache(t testing.TB, want, got *apache.Business) {
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func checkProtobuf(t testing.TB, want, got *pb.Business) {
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func check(t testing.TB, want, got peer.Business) {
	if diff := cmp.Diff(want, got, nocopycmp.Transform()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func cloneProtobuf(b *pb.Business) *pb.Business {
	return proto.Clone(b).(*pb.Business)
}

func clone(b peer.Business) peer.Business {
	return b.Clone() // shares what is large
}

func mergeProtobuf(dst, src *pb.Business) {
	proto.Merge(dst, src)
}

func merge(dst, src peer.Business) {
	messages.Merge(dst, src)
}
