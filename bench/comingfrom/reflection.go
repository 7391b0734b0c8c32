package comingfrom

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/nocopythrift/nocopythrift/bench/generated/nocopy/peer"
	pb "github.com/nocopythrift/nocopythrift/bench/generated/vtproto/peer"
	"github.com/nocopythrift/nocopythrift/nocopy/reflection"
)

func rangeProtobuf(b *pb.Business) (fields []string) {
	b.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		fields = append(fields, fmt.Sprint(f.Name(), "=", v))
		return true
	})
	return fields
}

func rangeHere(b peer.Business) (fields []string) {
	for f, v := range reflection.Of(b).All() {
		fields = append(fields, fmt.Sprint(f.Name(), "=", v))
	}
	return fields
}
