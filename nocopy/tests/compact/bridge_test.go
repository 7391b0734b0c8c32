// The referee: Apache's library reads one protocol and writes the other, value by value.

package compact_test

import (
	"bytes"
	"context"
	"errors"

	"github.com/apache/thrift/lib/go/thrift"
)

var background = context.Background()

func compactOn(mem *thrift.TMemoryBuffer) thrift.TProtocol {
	return thrift.NewTCompactProtocolConf(mem, nil)
}

func binaryOn(mem *thrift.TMemoryBuffer) thrift.TProtocol {
	return thrift.NewTBinaryProtocolConf(mem, nil)
}

// bridge converts the struct at the beginning of b to the other protocol. It also returns its
// length in b.
func bridge(b []byte, from, to func(*thrift.TMemoryBuffer) thrift.TProtocol) (out []byte, n int, err error) {
	in, mem := &thrift.TMemoryBuffer{Buffer: bytes.NewBuffer(bytes.Clone(b))}, thrift.NewTMemoryBuffer()
	c := copier{from(in), to(mem)}
	err = c.record(0)
	return mem.Bytes(), len(b) - in.Len(), err
}

func toBinary(b []byte) ([]byte, int, error)  { return bridge(b, compactOn, binaryOn) }
func toCompact(b []byte) ([]byte, int, error) { return bridge(b, binaryOn, compactOn) }

var errTooDeep = errors.New("too deep for the test")

type copier struct{ in, out thrift.TProtocol }

func (c copier) record(depth int) error {
	if depth > 2000 {
		return errTooDeep
	}
	if _, err := c.in.ReadStructBegin(background); err != nil {
		return err
	}
	if err := c.out.WriteStructBegin(background, ""); err != nil {
		return err
	}
	for {
		_, t, id, err := c.in.ReadFieldBegin(background)
		if err != nil {
			return err
		}
		if t == thrift.STOP {
			break
		}
		if err := c.out.WriteFieldBegin(background, "", t, id); err != nil {
			return err
		}
		if err := c.value(t, depth); err != nil {
			return err
		}
	}
	return errors.Join(c.out.WriteFieldStop(background), c.in.ReadStructEnd(background), c.out.WriteStructEnd(background))
}

// copied returns an error of reading or writing a value.
func copied[T any](v T, err error, write func(context.Context, T) error) error {
	if err != nil {
		return err
	}
	return write(background, v)
}

func (c copier) value(t thrift.TType, depth int) error {
	switch t {
	case thrift.BOOL:
		if _, ok := c.in.(*thrift.TBinaryProtocol); ok { // 2 is true, too
			v, err := c.in.ReadByte(background)
			return copied(v != 0, err, c.out.WriteBool)
		}
		v, err := c.in.ReadBool(background)
		return copied(v, err, c.out.WriteBool)
	case thrift.BYTE:
		v, err := c.in.ReadByte(background)
		return copied(v, err, c.out.WriteByte)
	case thrift.I16:
		v, err := c.in.ReadI16(background)
		return copied(v, err, c.out.WriteI16)
	case thrift.I32:
		v, err := c.in.ReadI32(background)
		return copied(v, err, c.out.WriteI32)
	case thrift.I64:
		v, err := c.in.ReadI64(background)
		return copied(v, err, c.out.WriteI64)
	case thrift.DOUBLE:
		v, err := c.in.ReadDouble(background)
		return copied(v, err, c.out.WriteDouble)
	case thrift.STRING:
		v, err := c.in.ReadBinary(background)
		return copied(v, err, c.out.WriteBinary)
	case thrift.UUID:
		v, err := c.in.ReadUUID(background)
		return copied(v, err, c.out.WriteUUID)
	case thrift.STRUCT:
		return c.record(depth + 1)
	case thrift.LIST, thrift.SET:
		elem, n, err := c.in.ReadListBegin(background)
		if err != nil {
			return err
		}
		if err := c.out.WriteListBegin(background, elem, n); err != nil {
			return err
		}
		return c.values(n, depth, elem)
	case thrift.MAP:
		key, elem, n, err := c.in.ReadMapBegin(background)
		if err != nil {
			return err
		}
		if err := c.out.WriteMapBegin(background, key, elem, n); err != nil {
			return err
		}
		return c.values(n, depth, key, elem)
	}
	return errors.New("no such type")
}

// values copies one value of each type, n times.
func (c copier) values(n, depth int, types ...thrift.TType) error {
	if depth > 2000 {
		return errTooDeep
	}
	for range n {
		for _, t := range types {
			if err := c.value(t, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}
