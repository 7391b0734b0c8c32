package hive

import (
	"database/sql"
	"database/sql/driver"
	"io"
	"math"
	"reflect"
	"time"

	"github.com/nocopythrift/nocopythrift/hive/internal/tcli"
)

// sqlRows are the rows of a query for database/sql.
type sqlRows struct {
	c       *sqlConn
	r       *Result
	names   []string
	columns []sqlColumn
	row, n  int // in the batch; row counts the next one
}

// sqlColumn has the values of a batch, in the slice for its type.
type sqlColumn struct {
	from    *Column
	info    *ColumnInfo
	arm     tcli.TColumnWhich
	nulls   Nulls
	bools   []bool
	ints    []int64
	floats  []float64
	texts   []string
	bytes   [][]byte
	zoneErr error // instead of times
}

func newRows(c *sqlConn, r *Result) *sqlRows {
	rows := &sqlRows{c: c, r: r, names: make([]string, len(r.columns)), columns: make([]sqlColumn, len(r.columns))}
	for i := range r.columns {
		info := &r.columns[i]
		rows.names[i] = info.Name
		rows.columns[i] = sqlColumn{info: info, arm: info.Type.arm()}
	}
	return rows
}

func (s *sqlRows) Columns() []string { return s.names }

func (s *sqlRows) Close() error { return s.c.note(s.r.Close()) }

// NextRow goes to the next row. It returns io.EOF at the end.
func (s *sqlRows) NextRow() error {
	if s.row++; s.row <= s.n {
		return nil
	}
	if !s.r.Next() {
		s.n, s.row = 0, 0
		if err := s.r.Err(); err != nil {
			return s.c.note(err)
		}
		return io.EOF
	}
	b := s.r.Batch()
	s.n, s.row = b.Len(), 1
	for i := range s.columns {
		s.columns[i].load(b.Column(i))
	}
	return nil
}

// load takes the values of a batch.
func (c *sqlColumn) load(from *Column) {
	c.from, c.nulls = from, from.Nulls()
	switch c.arm {
	case tcli.TColumn_BoolVal:
		c.bools = from.Bools()
	case tcli.TColumn_ByteVal, tcli.TColumn_I16Val, tcli.TColumn_I32Val, tcli.TColumn_I64Val:
		c.ints = from.Int64s()
	case tcli.TColumn_DoubleVal:
		c.floats = from.Float64s()
	case tcli.TColumn_BinaryVal:
		c.bytes = from.Bytes()
	default:
		c.texts = from.Strings()
		if c.isTime() {
			c.zoneErr = from.checkZone()
		} else {
			copyTexts(c.texts)
		}
	}
}

func (c *sqlColumn) isTime() bool { return c.info.Type.isTime() }

// value returns value i. Bytes are valid until the next row.
func (c *sqlColumn) value(i int) (driver.Value, error) {
	if c.nulls.Has(i) {
		return nil, nil
	}
	switch c.arm {
	case tcli.TColumn_BoolVal:
		return c.bools[i], nil
	case tcli.TColumn_ByteVal, tcli.TColumn_I16Val, tcli.TColumn_I32Val, tcli.TColumn_I64Val:
		return c.ints[i], nil
	case tcli.TColumn_DoubleVal:
		return c.floats[i], nil
	case tcli.TColumn_BinaryVal:
		return c.bytes[i], nil
	}
	if c.isTime() {
		return c.time(i)
	}
	return c.texts[i], nil
}

// time returns value i of a column of times.
func (c *sqlColumn) time(i int) (time.Time, error) {
	if c.zoneErr != nil {
		return time.Time{}, c.zoneErr
	}
	return c.from.time(&c.from.reader, i, c.texts[i])
}

// Next reads the next row.
func (s *sqlRows) Next(dest []driver.Value) (err error) {
	if err := s.NextRow(); err != nil {
		return err
	}
	for i := range dest {
		if dest[i], err = s.columns[i].value(s.row - 1); err != nil {
			return err
		}
	}
	return nil
}

// ColumnTypeDatabaseTypeName returns the name in SQL, without numbers in parentheses.
func (s *sqlRows) ColumnTypeDatabaseTypeName(i int) string { return s.columns[i].info.Type.String() }

// ColumnTypeNullable returns true: servers do not say.
func (s *sqlRows) ColumnTypeNullable(int) (nullable, ok bool) { return true, true }

// ColumnTypeLength returns the maximum length of a text in characters, of a binary in bytes.
func (s *sqlRows) ColumnTypeLength(i int) (int64, bool) {
	switch info := s.columns[i].info; info.Type {
	case TypeVarchar, TypeChar:
		return int64(info.Length), info.Length > 0
	case TypeString, TypeBinary:
		return math.MaxInt64, true
	}
	return 0, false
}

// ColumnTypePrecisionScale returns the numbers of a DECIMAL.
func (s *sqlRows) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	info := s.columns[i].info
	return int64(info.Precision), int64(info.Scale), info.Type == TypeDecimal && info.Precision > 0
}

// ColumnTypeScanType returns a type that holds all values, NULL included.
func (s *sqlRows) ColumnTypeScanType(i int) reflect.Type {
	switch c := &s.columns[i]; c.arm {
	case tcli.TColumn_BoolVal:
		return reflect.TypeFor[sql.NullBool]()
	case tcli.TColumn_ByteVal, tcli.TColumn_I16Val:
		return reflect.TypeFor[sql.NullInt16]()
	case tcli.TColumn_I32Val:
		return reflect.TypeFor[sql.NullInt32]()
	case tcli.TColumn_I64Val:
		return reflect.TypeFor[sql.NullInt64]()
	case tcli.TColumn_DoubleVal:
		return reflect.TypeFor[sql.NullFloat64]()
	case tcli.TColumn_BinaryVal:
		return reflect.TypeFor[[]byte]()
	default:
		if c.isTime() {
			return reflect.TypeFor[sql.NullTime]()
		}
		return reflect.TypeFor[sql.NullString]()
	}
}
