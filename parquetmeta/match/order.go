package match

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"math/big"
	"time"

	"github.com/nocopythrift/nocopythrift/parquetmeta"
	"github.com/nocopythrift/nocopythrift/parquetmeta/format"
)

// Order is the order of a column's values, and says how to read them. It is a plain value.
type Order struct {
	kind    kind
	typ     format.Type
	length  int  // bytes of FIXED_LEN_BYTE_ARRAY
	scale   int  // the number is divided by 10 to the power of it
	local   bool // of timestamps: what clocks show, in any place
	trusted bool // whether MinValue and MaxValue are bounds in this order
}

// kind is what values mean, and thereby how they compare.
type kind uint8

const (
	unordered kind = iota // or unknown
	text                  // unsigned bytes
	float
	boolean // this one and all after it are whole numbers
	signed
	unsigned
	decimal
	date
	clock
	timestamp
)

// maxScale bounds the powers of ten that a footer can ask for.
const maxScale = 1000

// OrderOf returns the order of a column. If this package does not know the column's type or
// order, its values do not compare. It panics if there is no such column. The error is a
// *[nocopy.Error].
func OrderOf(c parquetmeta.Column) (Order, error) {
	e, err := c.Node().Metadata()
	if err != nil {
		return Order{}, err
	}
	defer e.Release()
	named, err := c.Order()
	if err != nil {
		return Order{}, err
	}
	o := Order{typ: e.GetType(), length: int(e.GetTypeLength())}
	switch {
	case e.IsSetLogicalType():
		o.kind = o.logical(e.GetLogicalType())
	case e.IsSetConvertedType():
		o.kind = o.converted(e.GetConvertedType(), e.GetScale())
	default:
		o.kind = physical(o.typ)
	}
	switch {
	case named.IsSetTYPE_ORDER():
		o.trusted = true
	case named.IsSetIEEE_754_TOTAL_ORDER(): // that of the numbers, except that it also orders zeros
		o.trusted = o.kind == float
	case named.IsSetINT96_TIMESTAMP_ORDER() && o.typ == format.Type_INT96:
		o.kind, o.scale, o.trusted = timestamp, 9, true
	}
	if !o.fits() {
		o.kind = unordered
	}
	return o, nil
}

// logical returns the kind of a logical type, and notes its scale.
func (o *Order) logical(l format.LogicalType) kind {
	switch {
	case l.IsSetSTRING(), l.IsSetENUM(), l.IsSetJSON(), l.IsSetBSON(), l.IsSetUUID():
		return text
	case l.IsSetFLOAT16():
		return float
	case l.IsSetDECIMAL():
		o.scale = int(l.GetDECIMAL().GetScale())
		return decimal
	case l.IsSetDATE():
		return date
	case l.IsSetTIME():
		o.scale = scaleOf(l.GetTIME().GetUnit())
		return clock
	case l.IsSetTIMESTAMP():
		o.scale = scaleOf(l.GetTIMESTAMP().GetUnit())
		o.local = !l.GetTIMESTAMP().GetIsAdjustedToUTC()
		return timestamp
	case l.IsSetINTEGER() && l.GetINTEGER().GetIsSigned():
		return signed
	case l.IsSetINTEGER():
		return unsigned
	}
	return unordered
}

// scaleOf returns the digits after the point of a second in this unit, or 0.
func scaleOf(unit format.TimeUnit) int {
	switch {
	case unit.IsSetMILLIS():
		return 3
	case unit.IsSetMICROS():
		return 6
	case unit.IsSetNANOS():
		return 9
	}
	return 0
}

// converted returns the kind of a converted type, and notes its scale. scale is that of decimals.
func (o *Order) converted(c format.ConvertedType, scale int32) kind {
	switch c {
	case format.ConvertedType_UTF8, format.ConvertedType_ENUM, format.ConvertedType_JSON, format.ConvertedType_BSON:
		return text
	case format.ConvertedType_DECIMAL:
		o.scale = int(scale)
		return decimal
	case format.ConvertedType_DATE:
		return date
	case format.ConvertedType_TIME_MILLIS:
		o.scale = 3
		return clock
	case format.ConvertedType_TIME_MICROS:
		o.scale = 6
		return clock
	case format.ConvertedType_TIMESTAMP_MILLIS:
		o.scale = 3
		return timestamp
	case format.ConvertedType_TIMESTAMP_MICROS:
		o.scale = 6
		return timestamp
	case format.ConvertedType_UINT_8, format.ConvertedType_UINT_16, format.ConvertedType_UINT_32, format.ConvertedType_UINT_64:
		return unsigned
	case format.ConvertedType_INT_8, format.ConvertedType_INT_16, format.ConvertedType_INT_32, format.ConvertedType_INT_64:
		return signed
	}
	return unordered
}

// physical returns the kind of a column without a logical type.
func physical(t format.Type) kind {
	switch t {
	case format.Type_BOOLEAN:
		return boolean
	case format.Type_INT32, format.Type_INT64:
		return signed
	case format.Type_FLOAT, format.Type_DOUBLE:
		return float
	case format.Type_BYTE_ARRAY, format.Type_FIXED_LEN_BYTE_ARRAY:
		return text
	}
	return unordered
}

// fits reports whether the physical type can have values of the kind.
func (o Order) fits() bool {
	whole := o.typ == format.Type_INT32 || o.typ == format.Type_INT64
	raw := o.typ == format.Type_BYTE_ARRAY || o.typ == format.Type_FIXED_LEN_BYTE_ARRAY
	switch o.kind {
	case text:
		return raw
	case float:
		return physical(o.typ) == float || o.half()
	case boolean:
		return physical(o.typ) == boolean
	case signed, unsigned:
		return whole
	case decimal:
		return (whole || raw) && o.scale >= 0 && o.scale <= maxScale
	case date:
		return o.typ == format.Type_INT32
	case clock:
		return whole && o.scale > 0 && (o.scale == 3) == (o.typ == format.Type_INT32)
	case timestamp:
		return o.scale > 0 && (o.typ == format.Type_INT64 || o.typ == format.Type_INT96)
	}
	return false
}

// half reports whether values of the kind float have 16 bits.
func (o Order) half() bool { return o.typ == format.Type_FIXED_LEN_BYTE_ARRAY && o.length == 2 }

// point is a value of a column. Which field has it depends on the kind.
type point struct {
	n *big.Int
	f float64
	b []byte
}

// point returns a value in the encoding PLAIN, without a length, and whether it has an order.
func (o Order) point(b []byte) (p point, ok bool) {
	switch {
	case o.kind == unordered:
		return point{}, false
	case o.kind == text:
		return point{b: b}, true
	case o.kind == float:
		p.f, ok = o.number(b)
		return p, ok && p.f == p.f
	}
	p.n = o.whole(b)
	return p, p.n != nil
}

// number returns a floating point number.
func (o Order) number(b []byte) (float64, bool) {
	switch {
	case o.half() && len(b) == 2:
		return halfFloat(binary.LittleEndian.Uint16(b)), true
	case o.typ == format.Type_FLOAT && len(b) == 4:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), true
	case o.typ == format.Type_DOUBLE && len(b) == 8:
		return math.Float64frombits(binary.LittleEndian.Uint64(b)), true
	}
	return 0, false
}

// halfFloat returns a floating point number of 16 bits: sign, 5 bits of exponent, 10 of fraction.
func halfFloat(h uint16) float64 {
	exponent, fraction := int(h>>10&31), float64(h&1023)
	f := math.Ldexp(1024+fraction, exponent-25)
	switch {
	case exponent == 31 && fraction != 0:
		f = math.NaN()
	case exponent == 31:
		f = math.Inf(1)
	case exponent == 0:
		f = math.Ldexp(fraction, -24)
	}
	if h>>15 == 1 {
		return -f
	}
	return f
}

// whole returns a whole number, or nil.
func (o Order) whole(b []byte) *big.Int {
	switch {
	case o.typ == format.Type_BOOLEAN && len(b) == 1:
		return big.NewInt(int64(b[0] & 1))
	case o.typ == format.Type_INT32 && len(b) == 4 && o.kind == unsigned:
		return big.NewInt(int64(binary.LittleEndian.Uint32(b)))
	case o.typ == format.Type_INT32 && len(b) == 4:
		return big.NewInt(int64(int32(binary.LittleEndian.Uint32(b))))
	case o.typ == format.Type_INT64 && len(b) == 8 && o.kind == unsigned:
		return new(big.Int).SetUint64(binary.LittleEndian.Uint64(b))
	case o.typ == format.Type_INT64 && len(b) == 8:
		return big.NewInt(int64(binary.LittleEndian.Uint64(b)))
	case o.typ == format.Type_INT96 && len(b) == 12: // nanoseconds of the day, and its Julian number
		const epoch = 2440588
		days := big.NewInt(int64(int32(binary.LittleEndian.Uint32(b[8:]))) - epoch)
		n := days.Mul(days, big.NewInt(int64(24*time.Hour)))
		return n.Add(n, big.NewInt(int64(binary.LittleEndian.Uint64(b))))
	case o.typ == format.Type_BYTE_ARRAY && len(b) > 0, o.typ == format.Type_FIXED_LEN_BYTE_ARRAY && len(b) == o.length && len(b) > 0:
		n := new(big.Int).SetBytes(b) // big-endian, two's complement
		if b[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
		return n
	}
	return nil
}

func (o Order) compare(a, b point) int {
	switch o.kind {
	case text:
		return bytes.Compare(a.b, b.b)
	case float:
		return cmp.Compare(a.f, b.f)
	}
	return a.n.Cmp(b.n)
}

// Compare compares two values of the column in the encoding PLAIN, without the length of a
// BYTE_ARRAY, as statistics have them: -1 if a is less than b, 0 if they are equal, 1 if it is
// greater. ok is false if one of them has no order, such as NaN, or is no value of the column.
func (o Order) Compare(a, b []byte) (c int, ok bool) {
	x, ok1 := o.point(a)
	y, ok2 := o.point(b)
	if !ok1 || !ok2 {
		return 0, false
	}
	return o.compare(x, y), true
}

// Bounds returns the bounds that statistics have for the column's values: MinValue and MaxValue,
// or Min and Max if these are bounds in its order. A bound is nil if there is none. Both are if
// one is no value of the column, or NaN, or if they contradict each other. They alias the footer.
func (o Order) Bounds(s parquetmeta.Statistics) (lo, hi []byte) {
	switch {
	case o.trusted && (s.MinValue != nil || s.MaxValue != nil):
		lo, hi = s.MinValue, s.MaxValue
	case o.kind == float || o.kind >= boolean && o.kind != unsigned && o.typ <= format.Type_INT64:
		lo, hi = s.Min, s.Max // which were compared as signed numbers
	}
	if r, ok := o.span(lo, hi); !ok || r.lo == nil && r.hi == nil {
		return nil, nil
	}
	return lo, hi
}

// span is from lo to hi, with both. It has no end where one is nil.
type span struct{ lo, hi *point }

// span returns the values between two bounds. If there can't be such bounds, it has no ends, and
// ok is false.
func (o Order) span(lo, hi []byte) (r span, ok bool) {
	if lo != nil {
		p, ok := o.point(lo)
		if !ok {
			return span{}, false
		}
		r.lo = &p
	}
	if hi != nil {
		p, ok := o.point(hi)
		if !ok {
			return span{}, false
		}
		r.hi = &p
	}
	if r.lo != nil && r.hi != nil && o.compare(*r.lo, *r.hi) > 0 {
		return span{}, false
	}
	return r, true
}

// apart reports whether two spans have no value in common.
func (o Order) apart(a, b span) bool {
	return a.hi != nil && b.lo != nil && o.compare(*a.hi, *b.lo) < 0 ||
		b.hi != nil && a.lo != nil && o.compare(*b.hi, *a.lo) < 0
}
