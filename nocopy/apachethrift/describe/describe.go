// Package describe lets a server on Apache Thrift's Go library return its IDL to clients that ask,
// such as the tool nocopy and package dynamic. It imports nothing but Apache's library.
//
//	//go:embed shop.bundle
//	var bundle []byte // made by: nocopy bundle shop.thrift -o shop.bundle
//
//	processor, err := describe.Processor(shop.NewShopProcessor(handler), bundle)
//
// All clients of the server can then read the IDL, with its comments. docs/reflection.md
// specifies the method, and lists files that do the same in other languages.
package describe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/thrift/lib/go/thrift"
)

// method is the name of the method that returns the IDL.
const method = "nocopy.describe"

// Processor returns a processor that answers nocopy.describe with a bundle, and leaves all other
// calls to p. It goes around all other processors, also around a TMultiplexedProcessor. The bundle
// is what "nocopy bundle" has written. Processor copies it, and returns an error if it is none.
func Processor(p thrift.TProcessor, bundle []byte) (thrift.TProcessor, error) {
	if p == nil {
		panic("nocopy: describe.Processor with a nil TProcessor")
	}
	described := &processor{p, slices.Concat([]byte{thrift.STRUCT, 0, 0}, bundle, []byte{thrift.STOP})}
	nowhere := thrift.NewTBinaryProtocolConf(thrift.NewTMemoryBuffer(), nil)
	if err := described.writeResult(context.Background(), nowhere); err != nil {
		return nil, fmt.Errorf("this is no bundle: %w", err)
	}
	return described, nil
}

type processor struct {
	thrift.TProcessor
	result []byte // struct Result { 0: Description success }
}

// Process handles a call.
func (p *processor) Process(ctx context.Context, in, out thrift.TProtocol) (bool, thrift.TException) {
	name, kind, seqid, err := in.ReadMessageBegin(ctx)
	if err != nil {
		return false, thrift.WrapTException(err)
	}
	if name != method {
		return p.TProcessor.Process(ctx, thrift.NewStoredMessageProtocol(in, name, kind, seqid), out)
	}
	for _, step := range []func() error{
		func() error { return in.Skip(ctx, thrift.STRUCT) },
		func() error { return in.ReadMessageEnd(ctx) },
		func() error { return out.WriteMessageBegin(ctx, method, thrift.REPLY, seqid) },
		func() error { return p.writeResult(ctx, out) },
		func() error { return out.WriteMessageEnd(ctx) },
		func() error { return out.Flush(ctx) },
	} {
		if err := step(); err != nil {
			return false, thrift.WrapTException(err)
		}
	}
	return true, nil
}

func (p *processor) writeResult(ctx context.Context, out thrift.TProtocol) error {
	in := thrift.NewTBinaryProtocolConf(&thrift.TMemoryBuffer{Buffer: bytes.NewBuffer(p.result)}, nil)
	return copyValue(ctx, in, out, thrift.STRUCT)
}

// copyValue writes a value that it reads in Binary, where the ends of values have no bytes.
func copyValue(ctx context.Context, in, out thrift.TProtocol, kind thrift.TType) error {
	switch kind {
	case thrift.STRING:
		text, err := in.ReadString(ctx)
		return errors.Join(err, out.WriteString(ctx, text))
	case thrift.LIST:
		kind, n, err := in.ReadListBegin(ctx)
		for err = errors.Join(err, out.WriteListBegin(ctx, kind, n)); err == nil && n > 0; n-- {
			err = copyValue(ctx, in, out, kind)
		}
		return errors.Join(err, out.WriteListEnd(ctx))
	case thrift.STRUCT:
		for err := out.WriteStructBegin(ctx, ""); ; {
			_, kind, id, e := in.ReadFieldBegin(ctx)
			if err = errors.Join(err, e); err != nil || kind == thrift.STOP {
				return errors.Join(err, out.WriteFieldStop(ctx), out.WriteStructEnd(ctx))
			}
			err = errors.Join(out.WriteFieldBegin(ctx, "", kind, id), copyValue(ctx, in, out, kind), out.WriteFieldEnd(ctx))
		}
	}
	return fmt.Errorf("a field has the type %v", kind)
}
