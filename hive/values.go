package hive

import (
	"fmt"
	"slices"
	"time"

	"github.com/nocopythrift/nocopythrift/hive/internal/tcli"
)

// This file has the values of columns. Numbers are turned into Go's for a whole reply at once,
// when they are first asked for; texts are looked up for a batch.

// misuse panics: the program asks for values that the column can't have.
func (c *Column) misuse(method string) {
	panic(fmt.Sprintf("nocopy: hive: Column.%s of the column %q, whose type is %s", method, c.info.Name, c.info.typeText()))
}

// need panics unless values of the column's type come in columns of this kind.
func (c *Column) need(arm tcli.TColumnWhich, method string) {
	if c.info.Type.arm() != arm {
		c.misuse(method)
	}
}

// loadOnce calls load for the first batch of a reply.
func (c *Column) loadOnce(load func()) {
	if !c.loaded {
		load()
		c.loaded = true
	}
}

// part returns the elements of the batch.
func part[T any](c *Column, all []T) []T { return all[c.from : c.from+c.n : c.from+c.n] }

// Bools returns the values of a TypeBoolean.
func (c *Column) Bools() []bool {
	c.need(tcli.TColumn_BoolVal, "Bools")
	c.loadOnce(func() { c.bools = c.col.GetBoolVal().GetValues().AppendTo(c.bools[:0]) })
	return part(c, c.bools)
}

// Int8s returns the values of a TypeTinyInt.
func (c *Column) Int8s() []int8 {
	c.need(tcli.TColumn_ByteVal, "Int8s")
	c.loadOnce(func() { c.int8s = c.col.GetByteVal().GetValues().AppendTo(c.int8s[:0]) })
	return part(c, c.int8s)
}

// Int16s returns the values of a TypeSmallInt.
func (c *Column) Int16s() []int16 {
	c.need(tcli.TColumn_I16Val, "Int16s")
	c.loadOnce(func() { c.int16s = c.col.GetI16Val().GetValues().AppendTo(c.int16s[:0]) })
	return part(c, c.int16s)
}

// Int32s returns the values of a TypeInt.
func (c *Column) Int32s() []int32 {
	c.need(tcli.TColumn_I32Val, "Int32s")
	c.loadOnce(func() { c.int32s = c.col.GetI32Val().GetValues().AppendTo(c.int32s[:0]) })
	return part(c, c.int32s)
}

// Int64s returns the values of a TypeBigInt, or those of a TypeInt, TypeSmallInt or TypeTinyInt
// as int64.
func (c *Column) Int64s() []int64 {
	switch c.info.Type.arm() {
	case tcli.TColumn_I64Val:
		c.loadOnce(func() { c.int64s = c.col.GetI64Val().GetValues().AppendTo(c.int64s[:0]) })
		return part(c, c.int64s)
	case tcli.TColumn_I32Val:
		c.int64s = widened(c.int64s, c.Int32s())
	case tcli.TColumn_I16Val:
		c.int64s = widened(c.int64s, c.Int16s())
	case tcli.TColumn_ByteVal:
		c.int64s = widened(c.int64s, c.Int8s())
	default:
		c.misuse("Int64s")
	}
	return c.int64s
}

func widened[T int8 | int16 | int32](dst []int64, from []T) []int64 {
	dst = slices.Grow(dst[:0], len(from))
	for _, v := range from {
		dst = append(dst, int64(v))
	}
	return dst
}

// Float64s returns the values of a TypeDouble or TypeFloat.
func (c *Column) Float64s() []float64 {
	c.need(tcli.TColumn_DoubleVal, "Float64s")
	c.loadOnce(func() { c.float64s = c.col.GetDoubleVal().GetValues().AppendTo(c.float64s[:0]) })
	return part(c, c.float64s)
}

// Strings returns the values of a TypeString, TypeVarchar or TypeChar, and those of all other
// types that are no numbers, booleans or binaries, as the server writes them: decimals,
// timestamps, dates and intervals as text, arrays, maps and structs as JSON, in which Spark does
// not escape quotes. The strings alias the reply.
func (c *Column) Strings() []string {
	c.need(tcli.TColumn_StringVal, "Strings")
	if len(c.strings) != c.n {
		list := c.col.GetStringVal().GetValues()
		c.strings = slices.Grow(c.strings[:0], c.n)
		for i := range c.n {
			c.strings = append(c.strings, list.At(c.from+i))
		}
	}
	return c.strings
}

// Bytes returns the values of a TypeBinary. They alias the reply.
func (c *Column) Bytes() [][]byte {
	c.need(tcli.TColumn_BinaryVal, "Bytes")
	if len(c.bytes) != c.n {
		list := c.col.GetBinaryVal().GetValues()
		c.bytes = slices.Grow(c.bytes[:0], c.n)
		for i := range c.n {
			c.bytes = append(c.bytes, list.At(c.from+i))
		}
	}
	return c.bytes
}

// Times returns the values of a TypeTimestamp, TypeTimestampTZ or TypeDate. Timestamps without a
// zone are in Config.Location, and so are time.Times as arguments of a query. A date is the first
// moment of that day there. NULL is the zero Time. The error is about the first value that is no
// time. It wraps ErrTimeZone if the session has another zone, or if the value may be another time:
// see there.
func (c *Column) Times() ([]time.Time, error) {
	if !c.info.Type.isTime() {
		c.misuse("Times")
	}
	if err := c.checkZone(); err != nil {
		return nil, err
	}
	c.times = slices.Grow(c.times[:0], c.n)
	for i, text := range c.Strings() {
		if c.IsNull(i) {
			c.times = append(c.times, time.Time{})
			continue
		}
		t, err := c.time(&c.reader, i, text)
		if err != nil {
			return nil, err
		}
		c.times = append(c.times, t)
	}
	return c.times, nil
}

// checkZone returns an error if the column has timestamps of the session's zone, and that zone is
// not Config.Location.
func (c *Column) checkZone() error {
	if c.info.Type != TypeTimestamp || c.n == 0 {
		return nil
	}
	return c.r.c.checkSpan(c.r.ctx, c.r.batch.reply.zone)
}

// time returns the time that text, which is value i, says.
func (c *Column) time(reader *timeReader, i int, text string) (time.Time, error) {
	t, err := reader.read(text)
	if err == nil && c.info.Type == TypeTimestamp {
		err = c.r.c.zone.inRange(t.Unix())
	}
	switch {
	case err == nil:
		return t, nil
	case err == errNoTime:
		return time.Time{}, c.badValue(i, text)
	}
	return time.Time{}, fmt.Errorf("hive: the column %q: %w", c.info.Name, err)
}

// Decimals returns the values of a TypeDecimal. NULL is the zero Decimal. The scale of a value is
// the number of digits that the server has sent, which may be less than the column's. The error
// is about the first value that is none.
func (c *Column) Decimals() ([]Decimal, error) {
	if c.info.Type != TypeDecimal {
		c.misuse("Decimals")
	}
	c.decimals = slices.Grow(c.decimals[:0], c.n)
	for i, text := range c.Strings() {
		if c.IsNull(i) {
			c.decimals = append(c.decimals, Decimal{})
			continue
		}
		d, ok := parseDecimal(text)
		if !ok {
			return nil, c.badValue(i, text)
		}
		c.decimals = append(c.decimals, d)
	}
	return c.decimals, nil
}

func (c *Column) badValue(i int, text string) error {
	return badReply(fmt.Sprintf("%s.columns.values[%d]", rowSetPath, c.from+i), "the column %q is %v, which %.60q is not", c.info.Name, c.info.Type, text)
}
