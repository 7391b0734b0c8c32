// Package arrowhive reads results of package hive as Arrow records, for programs that hand rows
// to others in that form, such as Parquet writers, DuckDB or Flight.
//
// It is a module of its own: Arrow's requirements are dozens of modules, which programs that use
// package hive alone do not want in their go.sum.
//
//	r, err := conn.Query(ctx, "SELECT * FROM users")
//	…
//	reader, err := arrowhive.NewReader(r)
//	…
//	defer reader.Release()
//	for reader.Next() {
//		rec := reader.RecordBatch()
//		…
//	}
//	return reader.Err()
//
// # Types
//
//	BOOLEAN, TINYINT … BIGINT       bool, int8 … int64
//	FLOAT, DOUBLE                   float32, float64
//	DECIMAL(p,s)                    decimal128(p, s)
//	DATE                            date32
//	TIMESTAMP                       timestamp[us] without a zone: clocks in Config.Location
//	TIMESTAMP WITH LOCAL TIME ZONE  timestamp[us, UTC]
//	BINARY                          binary
//	VOID                            null
//	all others                      utf8; ARRAY, MAP and STRUCT as JSON
//
// Fractions of microseconds, which Hive has, are cut off. All columns may have nulls.
package arrowhive

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nocopythrift/nocopythrift/hive"
)

// Reader reads a result. It is an array.RecordReader. One goroutine at a time may use it.
type Reader struct {
	refs    atomic.Int64
	r       *hive.Result
	mem     memory.Allocator
	schema  *arrow.Schema
	current arrow.RecordBatch // nil if there is none
	err     error
}

var _ array.RecordReader = (*Reader)(nil)

// NewReader returns a reader of a result whose query has ended: as Conn.Query returns it, or
// after Wait. The last Release of the reader closes the result. The columns' memory comes from
// mem, or from Go's heap if that is left out.
func NewReader(r *hive.Result, mem ...memory.Allocator) (*Reader, error) {
	if err := r.Wait(nil); err != nil {
		return nil, err
	}
	reader := &Reader{r: r, mem: memory.DefaultAllocator}
	if len(mem) > 0 && mem[0] != nil {
		reader.mem = mem[0]
	}
	fields := make([]arrow.Field, len(r.Columns()))
	for i, c := range r.Columns() {
		fields[i] = arrow.Field{Name: c.Name, Type: typeOf(c), Nullable: true}
	}
	reader.schema = arrow.NewSchema(fields, nil)
	reader.refs.Store(1)
	return reader, nil
}

// typeOf returns Arrow's type for a column.
func typeOf(c hive.ColumnInfo) arrow.DataType {
	switch c.Type {
	case hive.TypeBoolean:
		return arrow.FixedWidthTypes.Boolean
	case hive.TypeTinyInt:
		return arrow.PrimitiveTypes.Int8
	case hive.TypeSmallInt:
		return arrow.PrimitiveTypes.Int16
	case hive.TypeInt:
		return arrow.PrimitiveTypes.Int32
	case hive.TypeBigInt:
		return arrow.PrimitiveTypes.Int64
	case hive.TypeFloat:
		return arrow.PrimitiveTypes.Float32
	case hive.TypeDouble:
		return arrow.PrimitiveTypes.Float64
	case hive.TypeDecimal:
		if p, s := c.Precision, c.Scale; p >= 1 && p <= 38 && s >= 0 && s <= p {
			return &arrow.Decimal128Type{Precision: int32(p), Scale: int32(s)}
		}
	case hive.TypeDate:
		return arrow.FixedWidthTypes.Date32
	case hive.TypeTimestamp:
		return &arrow.TimestampType{Unit: arrow.Microsecond}
	case hive.TypeTimestampTZ:
		return arrow.FixedWidthTypes.Timestamp_us
	case hive.TypeBinary:
		return arrow.BinaryTypes.Binary
	case hive.TypeNull:
		return arrow.Null
	}
	return arrow.BinaryTypes.String
}

// Schema returns the columns.
func (r *Reader) Schema() *arrow.Schema { return r.schema }

// Err returns the error that has ended Next, or nil.
func (r *Reader) Err() error { return r.err }

// RecordBatch returns the rows that Next has found. They are valid until the next call of Next,
// unless they are retained: their memory is independent of the result's.
func (r *Reader) RecordBatch() arrow.RecordBatch { return r.current }

// Record is RecordBatch, by its former name.
func (r *Reader) Record() arrow.RecordBatch { return r.current }

// Retain adds a reference.
func (r *Reader) Retain() { r.refs.Add(1) }

// Release takes a reference away. The last one closes the result.
func (r *Reader) Release() {
	switch n := r.refs.Add(-1); {
	case n == 0:
		r.drop()
		if err := r.r.Close(); r.err == nil {
			r.err = err
		}
	case n < 0:
		panic("nocopy: arrowhive: Reader.Release of a reader that was released")
	}
}

func (r *Reader) drop() {
	if r.current != nil {
		r.current.Release()
		r.current = nil
	}
}

// Next reads the next batch. It returns false at the end, and after an error.
func (r *Reader) Next() bool {
	r.drop()
	if r.err != nil {
		return false
	}
	if !r.r.Next() {
		r.err = r.r.Err()
		return false
	}
	b := r.r.Batch()
	columns := make([]arrow.Array, 0, r.schema.NumFields())
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	for i, f := range r.schema.Fields() {
		c, err := r.column(f.Type, b.Column(i))
		if err != nil {
			r.err = err
			return false
		}
		columns = append(columns, c)
	}
	r.current = array.NewRecordBatch(r.schema, columns, int64(b.Len()))
	return true
}

// column copies a column.
func (r *Reader) column(typ arrow.DataType, c *hive.Column) (arrow.Array, error) {
	switch typ := typ.(type) {
	case *arrow.NullType:
		return array.NewNull(c.Len()), nil
	case *arrow.BooleanType:
		bits := r.buffer((c.Len() + 7) / 8)
		clear(bits.Bytes())
		for i, v := range c.Bools() {
			if v {
				bits.Bytes()[i/8] |= 1 << (i % 8)
			}
		}
		return r.array(typ, c, bits), nil
	case *arrow.Int8Type:
		return r.array(typ, c, r.copied(arrow.Int8Traits.CastToBytes(c.Int8s()))), nil
	case *arrow.Int16Type:
		return r.array(typ, c, r.copied(arrow.Int16Traits.CastToBytes(c.Int16s()))), nil
	case *arrow.Int32Type:
		return r.array(typ, c, r.copied(arrow.Int32Traits.CastToBytes(c.Int32s()))), nil
	case *arrow.Int64Type:
		return r.array(typ, c, r.copied(arrow.Int64Traits.CastToBytes(c.Int64s()))), nil
	case *arrow.Float64Type:
		return r.array(typ, c, r.copied(arrow.Float64Traits.CastToBytes(c.Float64s()))), nil
	case *arrow.Float32Type:
		b := r.buffer(4 * c.Len())
		dst := arrow.Float32Traits.CastFromBytes(b.Bytes())
		for i, v := range c.Float64s() {
			dst[i] = float32(v)
		}
		return r.array(typ, c, b), nil
	case *arrow.Decimal128Type:
		return r.decimals(typ, c)
	case *arrow.Date32Type:
		return r.times(typ, c, 4, func(b *memory.Buffer, i int, t time.Time) {
			arrow.Date32Traits.CastFromBytes(b.Bytes())[i] = arrow.Date32(wall(t) / (24 * 3600))
		})
	case *arrow.TimestampType:
		return r.times(typ, c, 8, func(b *memory.Buffer, i int, t time.Time) {
			if typ.TimeZone == "" {
				t = time.Unix(wall(t), int64(t.Nanosecond()))
			}
			arrow.TimestampTraits.CastFromBytes(b.Bytes())[i] = arrow.Timestamp(t.UnixMicro())
		})
	case *arrow.BinaryType:
		return texts(r, typ, c, c.Bytes())
	}
	return texts(r, typ, c, c.Strings())
}

// buffer returns memory for n bytes, which are not zero.
func (r *Reader) buffer(n int) *memory.Buffer {
	b := memory.NewResizableBuffer(r.mem)
	b.Resize(n)
	return b
}

func (r *Reader) copied(bytes []byte) *memory.Buffer {
	b := r.buffer(len(bytes))
	copy(b.Bytes(), bytes)
	return b
}

// array returns an array of buffers, which it takes over, and c's NULLs.
func (r *Reader) array(typ arrow.DataType, c *hive.Column, buffers ...*memory.Buffer) arrow.Array {
	nulls := c.Nulls().Count()
	var valid *memory.Buffer
	if nulls > 0 {
		valid = r.buffer((c.Len() + 7) / 8)
		n := copy(valid.Bytes(), c.Nulls())
		clear(valid.Bytes()[n:])
		for i := range valid.Bytes() {
			valid.Bytes()[i] ^= 0xff
		}
	}
	all := append([]*memory.Buffer{valid}, buffers...)
	data := array.NewData(typ, c.Len(), all, nil, nulls, 0)
	for _, b := range all {
		if b != nil {
			b.Release()
		}
	}
	defer data.Release()
	return array.MakeFromData(data)
}

// texts copies strings or byte slices.
func texts[T string | []byte](r *Reader, typ arrow.DataType, c *hive.Column, values []T) (arrow.Array, error) {
	size := 0
	for i := range values {
		size += len(values[i])
	}
	if size > math.MaxInt32 {
		return nil, fmt.Errorf("arrowhive: the column %q has %d bytes in a batch, more than 2 GiB", c.Info().Name, size)
	}
	offsets, data := r.buffer(4*(len(values)+1)), r.buffer(size)
	at, off := 0, arrow.Int32Traits.CastFromBytes(offsets.Bytes())
	off[0] = 0
	for i, v := range values {
		at += copy(data.Bytes()[at:], v)
		off[i+1] = int32(at)
	}
	return r.array(typ, c, offsets, data), nil
}

// times copies times by put.
func (r *Reader) times(typ arrow.DataType, c *hive.Column, size int, put func(*memory.Buffer, int, time.Time)) (arrow.Array, error) {
	values, err := c.Times()
	if err != nil {
		return nil, err
	}
	b := r.buffer(size * len(values))
	for i, t := range values {
		put(b, i, t)
	}
	return r.array(typ, c, b), nil
}

// wall returns the seconds since 1970 of what calendar and clock show at t, where it is.
func wall(t time.Time) int64 {
	_, offset := t.Zone()
	return t.Unix() + int64(offset)
}

// decimals copies decimals, all with the column's scale.
func (r *Reader) decimals(typ *arrow.Decimal128Type, c *hive.Column) (arrow.Array, error) {
	values, err := c.Decimals()
	if err != nil {
		return nil, err
	}
	b := r.buffer(arrow.Decimal128Traits.BytesRequired(len(values)))
	dst := arrow.Decimal128Traits.CastFromBytes(b.Bytes())
	for i, d := range values {
		scaled, ok := d.Rescale(int(typ.Scale))
		n := decimal128.New(scaled.Hi, scaled.Lo)
		if !ok || !n.FitsInPrecision(typ.Precision) {
			b.Release()
			return nil, fmt.Errorf("arrowhive: the column %q is %v, which %v is not", c.Info().Name, typ, d)
		}
		dst[i] = n
	}
	return r.array(typ, c, b), nil
}
