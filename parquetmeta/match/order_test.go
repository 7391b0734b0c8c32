package match_test

import (
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/nocopy"

	"github.com/nocopythrift/nocopythrift/parquetmeta"
	"github.com/nocopythrift/nocopythrift/parquetmeta/format"
	"github.com/nocopythrift/nocopythrift/parquetmeta/match"
)

// footer returns a footer with one column, "c", and a row group of 10 rows. element sets the
// column's type; order its order, if it is not nil.
func footer(element func(format.SchemaElement), order func(format.ColumnOrder), statistics func(format.Statistics)) format.FileMetaData {
	m := format.NewFileMetaData()
	m.SetVersion(2)
	schema := m.NewSchema(2)
	schema.At(0).SetName("root")
	schema.At(0).SetNumChildren(1)
	e := schema.At(1)
	e.SetName("c")
	e.SetRepetitionType(format.FieldRepetitionType_OPTIONAL)
	element(e)
	m.SetNumRows(10)
	g := m.NewRowGroups(1).At(0)
	g.SetNumRows(10)
	d := g.NewColumns(1).At(0).NewMetaData()
	d.SetType(e.GetType())
	d.SetEncodings([]format.Encoding{format.Encoding_PLAIN})
	d.SetPathInSchema([]string{"c"})
	d.SetNumValues(10)
	if statistics != nil {
		statistics(d.NewStatistics())
	}
	if order != nil {
		order(m.NewColumnOrders(1).At(0))
	}
	return m
}

// fileOf returns a file with these data, after its first 4 bytes, and a footer.
func fileOf(t testing.TB, data []byte, m format.FileMetaData) *parquetmeta.File {
	t.Helper()
	file, err := parquetmeta.AppendFooter(append([]byte("PAR1"), data...), m)
	if err != nil {
		t.Fatal(err)
	}
	return open(t, file)
}

func typeOrder(o format.ColumnOrder) { o.NewTYPE_ORDER() }

func orderOf(t *testing.T, element func(format.SchemaElement), order func(format.ColumnOrder)) match.Order {
	t.Helper()
	o, err := match.OrderOf(fileOf(t, nil, footer(element, order, nil)).ColumnAt(0))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func u16(v uint16) []byte  { return binary.LittleEndian.AppendUint16(nil, v) }
func u32(v uint32) []byte  { return binary.LittleEndian.AppendUint32(nil, v) }
func u64(v uint64) []byte  { return binary.LittleEndian.AppendUint64(nil, v) }
func f32(v float64) []byte { return u32(math.Float32bits(float32(v))) }
func f64(v float64) []byte { return u64(math.Float64bits(v)) }

// int96 is a time of the day, in nanoseconds, and the day's Julian number.
func int96(nanoseconds uint64, day uint32) []byte { return append(u64(nanoseconds), u32(day)...) }

// ofType returns what sets a physical and a logical type.
func ofType(typ format.Type, length int32, logical func(format.LogicalType)) func(format.SchemaElement) {
	return func(e format.SchemaElement) {
		e.SetType(typ)
		e.SetTypeLength(length)
		if logical != nil {
			logical(e.NewLogicalType())
		}
	}
}

func converted(typ format.Type, c format.ConvertedType) func(format.SchemaElement) {
	return func(e format.SchemaElement) {
		e.SetType(typ)
		e.SetConvertedType(c)
		e.SetScale(2)
	}
}

func decimals(scale int32) func(format.LogicalType) {
	return func(l format.LogicalType) { l.NewDECIMAL().SetScale(scale) }
}

func integers(width int8, signed bool) func(format.LogicalType) {
	return func(l format.LogicalType) {
		i := l.NewINTEGER()
		i.SetBitWidth(width)
		i.SetIsSigned(signed)
	}
}

// TestOrder: values of each type, in ascending order, and what they are in Go.
func TestOrder(t *testing.T) {
	const (
		boolean, i32, i64, i96 = format.Type_BOOLEAN, format.Type_INT32, format.Type_INT64, format.Type_INT96
		float, double          = format.Type_FLOAT, format.Type_DOUBLE
		binary, fixed          = format.Type_BYTE_ARRAY, format.Type_FIXED_LEN_BYTE_ARRAY
	)
	at := func(seconds int64, nanoseconds int64) time.Time { return time.Unix(seconds, nanoseconds).UTC() }
	for name, test := range map[string]struct {
		element func(format.SchemaElement)
		values  [][]byte
		first   any // of the values, in Go
	}{
		"bool":        {ofType(boolean, 0, nil), [][]byte{{0}, {1}}, false},
		"int32":       {ofType(i32, 0, nil), [][]byte{u32(1 << 31), u32(math.MaxUint32), u32(0), u32(1 << 30)}, int64(math.MinInt32)},
		"int64":       {ofType(i64, 0, nil), [][]byte{u64(1 << 63), u64(math.MaxUint64), u64(0), u64(1 << 62)}, int64(math.MinInt64)},
		"uint32":      {ofType(i32, 0, integers(32, false)), [][]byte{u32(7), u32(1 << 31), u32(math.MaxUint32)}, uint64(7)},
		"uint64":      {ofType(i64, 0, integers(64, false)), [][]byte{u64(7), u64(1 << 63), u64(math.MaxUint64)}, uint64(7)},
		"int8":        {ofType(i32, 0, integers(8, true)), [][]byte{u32(1<<32 - 100), u32(0), u32(100)}, int64(-100)},
		"old uint8":   {converted(i32, format.ConvertedType_UINT_8), [][]byte{u32(3), u32(math.MaxUint32)}, uint64(3)},
		"old int64":   {converted(i64, format.ConvertedType_INT_64), [][]byte{u64(math.MaxUint64), u64(3)}, int64(-1)},
		"float":       {ofType(float, 0, nil), [][]byte{f32(math.Inf(-1)), f32(-2), f32(0), f32(1e-40), f32(2), f32(math.Inf(1))}, math.Inf(-1)},
		"double":      {ofType(double, 0, nil), [][]byte{f64(math.Inf(-1)), f64(-2), f64(0), f64(5e-324), f64(2), f64(math.Inf(1))}, math.Inf(-1)},
		"float16":     {ofType(fixed, 2, func(l format.LogicalType) { l.NewFLOAT16() }), [][]byte{u16(0xfc00), u16(0xfbff), u16(0xbc00), u16(0x8001), u16(0), u16(1), u16(0x3ff), u16(0x400), u16(0x3c00), u16(0x7bff), u16(0x7c00)}, math.Inf(-1)},
		"decimal32":   {ofType(i32, 0, decimals(2)), [][]byte{u32(1<<32 - 125), u32(0), u32(125)}, big.NewRat(-125, 100)},
		"decimal64":   {ofType(i64, 0, decimals(0)), [][]byte{u64(1<<64 - 125), u64(0), u64(125)}, big.NewRat(-125, 1)},
		"decimal":     {ofType(binary, 0, decimals(1)), [][]byte{{0xff, 0}, {0x80}, {0xff, 0xff, 0xff}, {0}, {1}, {0, 0, 0, 2}, {0, 0x80}, {1, 0}}, big.NewRat(-256, 10)},
		"decimal3":    {ofType(fixed, 3, decimals(1)), [][]byte{{0x80, 0, 0}, {0xff, 0, 0}, {0xff, 0xff, 0xff}, {0, 0, 0}, {0, 0x80, 0}, {0x7f, 0, 0}}, big.NewRat(-1<<23, 10)},
		"old decimal": {converted(binary, format.ConvertedType_DECIMAL), [][]byte{{0xff}, {0}, {0, 0xff}}, big.NewRat(-1, 100)},
		"date":        {ofType(i32, 0, func(l format.LogicalType) { l.NewDATE() }), [][]byte{u32(math.MaxUint32), u32(0), u32(20000)}, at(-86400, 0)},
		"time":        {ofType(i32, 0, func(l format.LogicalType) { l.NewTIME().NewUnit().NewMILLIS() }), [][]byte{u32(1), u32(2)}, time.Millisecond},
		"time ns":     {ofType(i64, 0, func(l format.LogicalType) { l.NewTIME().NewUnit().NewNANOS() }), [][]byte{u64(1), u64(2)}, time.Nanosecond},
		"timestamp":   {ofType(i64, 0, func(l format.LogicalType) { l.NewTIMESTAMP().NewUnit().NewMICROS() }), [][]byte{u64(math.MaxUint64), u64(0), u64(1)}, at(-1, 999_999_000)},
		"old stamp":   {converted(i64, format.ConvertedType_TIMESTAMP_MILLIS), [][]byte{u64(math.MaxUint64), u64(0), u64(1)}, at(-1, 999_000_000)},
		"string":      {ofType(binary, 0, func(l format.LogicalType) { l.NewSTRING() }), [][]byte{{}, []byte("Z"), []byte("a"), []byte("aa"), []byte("z"), []byte("ä"), {0xff}}, []byte{}},
		"old string":  {converted(binary, format.ConvertedType_UTF8), [][]byte{{}, []byte("a"), {0xff}}, []byte{}},
		"uuid":        {ofType(fixed, 16, func(l format.LogicalType) { l.NewUUID() }), [][]byte{make([]byte, 16), append([]byte{0x80}, make([]byte, 15)...)}, make([]byte, 16)},
		"fixed":       {ofType(fixed, 1, nil), [][]byte{{0}, {0x7f}, {0x80}}, []byte{0}},
	} {
		o := orderOf(t, test.element, typeOrder)
		for i, a := range test.values {
			for k, b := range test.values {
				want := 0
				if i != k {
					want = (i - k) / max(i-k, k-i)
				}
				if c, ok := o.Compare(a, b); c != want || !ok {
					t.Errorf("%s: %x and %x: %d, %v, not %d", name, a, b, c, ok, want)
				}
			}
		}
		if v, ok := o.Value(test.values[0]); !ok || !same(v, test.first) {
			t.Errorf("%s: %v, not %v", name, v, test.first)
		}
	}
	zeros := orderOf(t, ofType(double, 0, nil), typeOrder)
	if c, ok := zeros.Compare(f64(0), f64(math.Copysign(0, -1))); c != 0 || !ok {
		t.Error(c, ok)
	}
	stamps := orderOf(t, ofType(i96, 0, nil), func(o format.ColumnOrder) { o.NewINT96_TIMESTAMP_ORDER() })
	if c, ok := stamps.Compare(int96(5, 2440588), int96(4, 2440589)); c != -1 || !ok {
		t.Error(c, ok)
	}
	if v, ok := stamps.Value(int96(5, 2440589)); !ok || !v.(time.Time).Equal(at(86400, 5)) {
		t.Error(v, ok)
	}
}

func same(a, b any) bool {
	switch a := a.(type) {
	case *big.Rat:
		return a.Cmp(b.(*big.Rat)) == 0
	case []byte:
		return string(a) == string(b.([]byte))
	}
	return a == b
}

// TestUnordered: types without a known order, and values that are none of their type.
func TestUnordered(t *testing.T) {
	wide := make([]byte, 12)
	for name, test := range map[string]struct {
		element func(format.SchemaElement)
		value   []byte
	}{
		"int96":        {ofType(format.Type_INT96, 0, nil), wide},
		"interval":     {converted(format.Type_FIXED_LEN_BYTE_ARRAY, format.ConvertedType_INTERVAL), wide},
		"null":         {ofType(format.Type_INT32, 0, func(l format.LogicalType) { l.NewUNKNOWN() }), wide[:4]},
		"variant":      {ofType(format.Type_BYTE_ARRAY, 0, func(l format.LogicalType) { l.NewVARIANT() }), wide},
		"geometry":     {ofType(format.Type_BYTE_ARRAY, 0, func(l format.LogicalType) { l.NewGEOMETRY() }), wide},
		"newer type":   {ofType(format.Type_BYTE_ARRAY, 0, func(format.LogicalType) {}), wide},
		"no unit":      {ofType(format.Type_INT64, 0, func(l format.LogicalType) { l.NewTIMESTAMP().NewUnit() }), wide[:8]},
		"no such text": {ofType(format.Type_INT64, 0, func(l format.LogicalType) { l.NewSTRING() }), wide[:8]},
		"scale":        {ofType(format.Type_BYTE_ARRAY, 0, decimals(math.MaxInt32)), wide},
		"short int":    {ofType(format.Type_INT32, 0, nil), wide[:3]},
		"empty number": {ofType(format.Type_BYTE_ARRAY, 0, decimals(1)), nil},
		"other length": {ofType(format.Type_FIXED_LEN_BYTE_ARRAY, 5, decimals(1)), wide[:4]},
		"NaN":          {ofType(format.Type_DOUBLE, 0, nil), f64(math.NaN())},
		"half NaN":     {ofType(format.Type_FIXED_LEN_BYTE_ARRAY, 2, func(l format.LogicalType) { l.NewFLOAT16() }), u16(0x7c01)},
	} {
		o := orderOf(t, test.element, typeOrder)
		if c, ok := o.Compare(test.value, test.value); ok {
			t.Error(name, c)
		}
		if v, ok := o.Value(test.value); ok {
			t.Error(name, v)
		}
	}
}

// TestBounds: which of the bounds in statistics count.
func TestBounds(t *testing.T) {
	u32s, i32s := ofType(format.Type_INT32, 0, integers(32, false)), ofType(format.Type_INT32, 0, nil)
	texts, doubles := ofType(format.Type_BYTE_ARRAY, 0, nil), ofType(format.Type_DOUBLE, 0, nil)
	newer := func(lo, hi []byte) parquetmeta.Statistics { return parquetmeta.Statistics{MinValue: lo, MaxValue: hi} }
	older := func(lo, hi []byte) parquetmeta.Statistics { return parquetmeta.Statistics{Min: lo, Max: hi} }
	total := func(o format.ColumnOrder) { o.NewIEEE_754_TOTAL_ORDER() }
	for name, test := range map[string]struct {
		element func(format.SchemaElement)
		order   func(format.ColumnOrder)
		s       parquetmeta.Statistics
		want    bool
	}{
		"named order":             {u32s, typeOrder, newer(u32(1), u32(1<<31)), true},
		"no order":                {u32s, nil, newer(u32(1), u32(2)), false},
		"newer order":             {u32s, func(format.ColumnOrder) {}, newer(u32(1), u32(2)), false},
		"old bounds":              {i32s, nil, older(u32(1), u32(2)), true},
		"old unsigned bounds":     {u32s, nil, older(u32(1), u32(2)), false},
		"old texts":               {texts, typeOrder, older([]byte("a"), []byte("b")), false},
		"an empty text":           {texts, typeOrder, newer([]byte{}, []byte{}), true},
		"one bound":               {texts, typeOrder, newer([]byte("a"), nil), true},
		"no bounds":               {texts, typeOrder, newer(nil, nil), false},
		"contradiction":           {i32s, typeOrder, newer(u32(2), u32(1)), false},
		"wrong length":            {i32s, typeOrder, newer(u32(1), u64(2)), false},
		"numbers":                 {doubles, typeOrder, newer(f64(1), f64(2)), true},
		"NaN":                     {doubles, typeOrder, newer(f64(1), f64(math.NaN())), false},
		"total order":             {doubles, total, newer(f64(1), f64(2)), true},
		"total order of integers": {i32s, total, newer(u32(1), u32(2)), false},
		"old numbers":             {doubles, nil, older(f64(math.Copysign(0, -1)), f64(0)), true},
	} {
		lo, hi := orderOf(t, test.element, test.order).Bounds(test.s)
		if have := lo != nil || hi != nil; have != test.want {
			t.Errorf("%s: %x, %x", name, lo, hi)
		}
	}
}

// TestExcluded: single row groups, by their statistics.
func TestExcluded(t *testing.T) {
	nulls := func(n int64) func(format.Statistics) { return func(s format.Statistics) { s.SetNullCount(n) } }
	between := func(lo, hi []byte) func(format.Statistics) {
		return func(s format.Statistics) { s.SetMinValue(lo); s.SetMaxValue(hi) }
	}
	ints, floats := ofType(format.Type_INT32, 0, nil), ofType(format.Type_FLOAT, 0, nil)
	halves := ofType(format.Type_FIXED_LEN_BYTE_ARRAY, 2, func(l format.LogicalType) { l.NewFLOAT16() })
	cents := ofType(format.Type_INT32, 0, decimals(2))
	millis := ofType(format.Type_INT64, 0, func(l format.LogicalType) {
		l.NewTIMESTAMP().SetIsAdjustedToUTC(true)
		l.GetTIMESTAMP().NewUnit().NewMILLIS()
	})
	for name, test := range map[string]struct {
		element    func(format.SchemaElement)
		statistics func(format.Statistics)
		p          match.Predicate
		want       bool
	}{
		"all null":              {ints, nulls(10), match.Equal("c", 1), false},
		"all null, is null":     {ints, nulls(10), match.IsNull("c"), true},
		"all null, not null":    {ints, nulls(10), match.NotNull("c"), false},
		"no null, is null":      {ints, nulls(0), match.IsNull("c"), false},
		"unknown, is null":      {ints, nil, match.IsNull("c"), true},
		"some null, not null":   {ints, nulls(9), match.NotNull("c"), true},
		"nothing known":         {ints, nil, match.Equal("c", 1), true},
		"all rows":              {ints, nulls(10), match.And(), true},
		"no rows":               {ints, nil, match.Or(), false},
		"no value between":      {ints, nil, match.Between("c", 2, 1), false},
		"beyond the type":       {ints, between(u32(1), u32(math.MaxInt32)), match.Between("c", int64(1<<40), nil), false},
		"a fraction":            {ints, between(u32(1), u32(9)), match.Equal("c", big.NewRat(3, 2)), false},
		"a range of fractions":  {ints, between(u32(1), u32(9)), match.Between("c", big.NewRat(3, 2), big.NewRat(5, 2)), true},
		"0.1 as a float32":      {floats, between(f32(0.1), f32(0.1)), match.Equal("c", 0.1), true},
		"0.1 and 0.2":           {floats, between(f32(0.2), f32(0.2)), match.Equal("c", 0.1), false},
		"-0 and 0":              {floats, between(f32(math.Copysign(0, -1)), f32(math.Copysign(0, -1))), match.Equal("c", 0), true},
		"0.1 as a float16":      {halves, between(u16(0x2e66), u16(0x2e66)), match.Equal("c", 0.1), true},
		"0.2 as a float16":      {halves, between(u16(0x2e66), u16(0x2e66)), match.Equal("c", 0.2), false},
		"infinite as a float16": {halves, between(u16(0x7c00), u16(0x7c00)), match.Equal("c", 1e6), true},
		"3 digits of 2":         {cents, between(u32(0), u32(200)), match.Equal("c", big.NewRat(1234, 1000)), false},
		"2 digits of 2":         {cents, between(u32(0), u32(200)), match.Equal("c", big.NewRat(123, 100)), true},
		"microseconds of milli": {millis, between(u64(1), u64(2)), match.Between("c", time.UnixMicro(2001), nil), false},
		"until a microsecond":   {millis, between(u64(1), u64(2)), match.Between("c", nil, time.UnixMicro(1001)), true},
		"a year 1":              {millis, between(u64(1), u64(2)), match.Between("c", time.Time{}, nil), true},
	} {
		t.Run(name, func(t *testing.T) {
			f := fileOf(t, nil, footer(test.element, typeOrder, test.statistics))
			n := 0
			for _, err := range match.Parts(f, test.p) {
				if err != nil {
					t.Fatal(err)
				}
				n++
			}
			if n == 1 != test.want {
				t.Errorf("%d row groups", n)
			}
		})
	}
}

// TestWrongPredicate: values that are none of the column, and columns that there are not.
func TestWrongPredicate(t *testing.T) {
	for name, test := range map[string]struct {
		element func(format.SchemaElement)
		p       match.Predicate
		text    string
	}{
		"a text":    {ofType(format.Type_INT32, 0, nil), match.Equal("c", "1"), `match: column "c": an integer or *big.Rat fits it, not string`},
		"nothing":   {ofType(format.Type_INT32, 0, nil), match.Equal("c", nil), `match: column "c": an integer or *big.Rat fits it, not <nil>`},
		"a float":   {ofType(format.Type_INT32, 0, decimals(2)), match.Between("c", nil, 0.1), `match: column "c": an integer or *big.Rat fits it, not float64`},
		"NaN":       {ofType(format.Type_DOUBLE, 0, nil), match.Equal("c", math.NaN()), `match: column "c": a number, not NaN fits it, not float64`},
		"a number":  {ofType(format.Type_BYTE_ARRAY, 0, nil), match.Between("c", 5, nil), `match: column "c": a string or []byte fits it, not int`},
		"no column": {ofType(format.Type_INT32, 0, nil), match.Or(match.And(), match.IsNull("d")), `match: column "d": no such`},
	} {
		f := fileOf(t, nil, footer(test.element, typeOrder, nil))
		n := 0
		for _, err := range match.Parts(f, test.p) {
			if n++; err == nil || len(err.Error()) < len(test.text) || err.Error()[:len(test.text)] != test.text {
				t.Errorf("%s: %v", name, err)
			}
			if name == "no column" && !errors.Is(err, nocopy.ErrNotFound) {
				t.Error(err)
			}
		}
		if n != 1 {
			t.Error(name, n)
		}
	}
}
