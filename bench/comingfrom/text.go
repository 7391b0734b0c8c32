package comingfrom

import (
	"encoding/json"
	"log/slog"

	"google.golang.org/protobuf/encoding/protojson"

	apache "github.com/nocopythrift/nocopythrift/bench/generated/apache/peer"
	kitex "github.com/nocopythrift/nocopythrift/bench/generated/kitex/peer"
	"github.com/nocopythrift/nocopythrift/bench/generated/nocopy/peer"
	pb "github.com/nocopythrift/nocopythrift/bench/generated/vtproto/peer"
	"github.com/nocopythrift/nocopythrift/nocopy/nocopyjson"
)

func jsonApache(b *apache.Business) ([]byte, error) {
	return json.Marshal(b)
}

func jsonKitex(b *kitex.Business) ([]byte, error) {
	return json.Marshal(b)
}

func jsonProtobuf(b *pb.Business) ([]byte, error) {
	return protojson.Marshal(b)
}

func jsonHere(b peer.Business) ([]byte, error) {
	return nocopyjson.Marshal(b, nocopyjson.Int64Strings) // or json.Marshal(b), without options
}

func fromJSONApache(text []byte) (*apache.Business, error) {
	b := apache.NewBusiness()
	if err := json.Unmarshal(text, b); err != nil {
		return nil, err
	}
	return b, nil
}

func fromJSONKitex(text []byte) (*kitex.Business, error) {
	b := kitex.NewBusiness()
	if err := json.Unmarshal(text, b); err != nil {
		return nil, err
	}
	return b, nil
}

func fromJSONProtobuf(text []byte) (*pb.Business, error) {
	b := new(pb.Business)
	if err := protojson.Unmarshal(text, b); err != nil {
		return nil, err
	}
	return b, nil
}

func fromJSON(text []byte) (peer.Business, error) {
	var b peer.Business // the handle of nothing yet
	err := nocopyjson.Unmarshal(text, &b)
	return b, err // unless there is an error, b is the root of a new message
}

func logApache(b *apache.Business) {
	slog.Info("received", "business", b)
}

func logProtobuf(b *pb.Business) {
	slog.Info("received", "business", b)
}

func logHere(b peer.Business) {
	slog.Info("received", "business", b) // groups; fields with (nocopy.redact) are hidden
}
