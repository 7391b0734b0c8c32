package hive

import (
	"fmt"
	"strings"

	"github.com/nocopythrift/nocopythrift/hive/internal/tcli"
)

// Type is a type of Hive's SQL.
type Type int32

// The types. Spark uses a part of them; its intervals and other types of its own arrive as
// TypeString.
const (
	TypeBoolean           = Type(tcli.TTypeId_BOOLEAN_TYPE)
	TypeTinyInt           = Type(tcli.TTypeId_TINYINT_TYPE)
	TypeSmallInt          = Type(tcli.TTypeId_SMALLINT_TYPE)
	TypeInt               = Type(tcli.TTypeId_INT_TYPE)
	TypeBigInt            = Type(tcli.TTypeId_BIGINT_TYPE)
	TypeFloat             = Type(tcli.TTypeId_FLOAT_TYPE)
	TypeDouble            = Type(tcli.TTypeId_DOUBLE_TYPE)
	TypeString            = Type(tcli.TTypeId_STRING_TYPE)
	TypeTimestamp         = Type(tcli.TTypeId_TIMESTAMP_TYPE)
	TypeBinary            = Type(tcli.TTypeId_BINARY_TYPE)
	TypeArray             = Type(tcli.TTypeId_ARRAY_TYPE)
	TypeMap               = Type(tcli.TTypeId_MAP_TYPE)
	TypeStruct            = Type(tcli.TTypeId_STRUCT_TYPE)
	TypeUnion             = Type(tcli.TTypeId_UNION_TYPE)
	TypeUserDefined       = Type(tcli.TTypeId_USER_DEFINED_TYPE)
	TypeDecimal           = Type(tcli.TTypeId_DECIMAL_TYPE)
	TypeNull              = Type(tcli.TTypeId_NULL_TYPE)
	TypeDate              = Type(tcli.TTypeId_DATE_TYPE)
	TypeVarchar           = Type(tcli.TTypeId_VARCHAR_TYPE)
	TypeChar              = Type(tcli.TTypeId_CHAR_TYPE)
	TypeIntervalYearMonth = Type(tcli.TTypeId_INTERVAL_YEAR_MONTH_TYPE)
	TypeIntervalDayTime   = Type(tcli.TTypeId_INTERVAL_DAY_TIME_TYPE)
	TypeTimestampTZ       = Type(tcli.TTypeId_TIMESTAMPLOCALTZ_TYPE)
)

// String returns the type's name in SQL, such as "BIGINT".
func (t Type) String() string {
	switch t {
	case TypeUnion:
		return "UNIONTYPE"
	case TypeTimestampTZ:
		return "TIMESTAMP WITH LOCAL TIME ZONE"
	}
	return strings.TrimSuffix(tcli.TTypeId(t).String(), "_TYPE")
}

// arm returns the kind of column that values of the type come in.
func (t Type) arm() tcli.TColumnWhich {
	switch t {
	case TypeBoolean:
		return tcli.TColumn_BoolVal
	case TypeTinyInt:
		return tcli.TColumn_ByteVal
	case TypeSmallInt:
		return tcli.TColumn_I16Val
	case TypeInt:
		return tcli.TColumn_I32Val
	case TypeBigInt:
		return tcli.TColumn_I64Val
	case TypeFloat, TypeDouble:
		return tcli.TColumn_DoubleVal
	case TypeBinary:
		return tcli.TColumn_BinaryVal
	}
	return tcli.TColumn_StringVal
}

// isTime reports whether values of the type are times, which come as texts.
func (t Type) isTime() bool { return t == TypeTimestamp || t == TypeDate || t == TypeTimestampTZ }

// ColumnInfo describes a column of a result.
type ColumnInfo struct {
	Name      string
	Type      Type
	Precision int    // of TypeDecimal: the most digits; 0 if unknown
	Scale     int    // of TypeDecimal: the digits after the point
	Length    int    // of TypeVarchar and TypeChar: the most characters; 0 if unknown
	Comment   string // "" if there is none
}

// String returns name and type, such as "price DECIMAL(10,2)".
func (c ColumnInfo) String() string { return c.Name + " " + c.typeText() }

func (c ColumnInfo) typeText() string {
	switch {
	case c.Type == TypeDecimal && c.Precision > 0:
		return fmt.Sprintf("DECIMAL(%d,%d)", c.Precision, c.Scale)
	case c.Length > 0:
		return fmt.Sprintf("%v(%d)", c.Type, c.Length)
	}
	return c.Type.String()
}

// columnsOf copies a schema.
func columnsOf(s tcli.TTableSchema) ([]ColumnInfo, error) {
	list := s.GetColumns()
	columns := make([]ColumnInfo, list.Len())
	for i, c := range list.All() {
		info := ColumnInfo{Name: bounded(c.GetColumnName()), Comment: bounded(c.GetComment())}
		types := c.GetTypeDesc().GetTypes()
		if types.Len() == 0 {
			return nil, badReply(fmt.Sprintf("schema.columns[%d].typeDesc.types", i), "the column %q has no type", info.Name)
		}
		switch top := types.At(0); top.Which() {
		case tcli.TTypeEntry_PrimitiveEntry:
			p := top.GetPrimitiveEntry()
			info.Type = Type(p.GetType())
			q := p.GetTypeQualifiers()
			info.Precision = qualifier(q, tcli.PRECISION)
			info.Scale = qualifier(q, tcli.SCALE)
			info.Length = qualifier(q, tcli.CHARACTER_MAXIMUM_LENGTH)
		case tcli.TTypeEntry_ArrayEntry:
			info.Type = TypeArray
		case tcli.TTypeEntry_MapEntry:
			info.Type = TypeMap
		case tcli.TTypeEntry_StructEntry:
			info.Type = TypeStruct
		case tcli.TTypeEntry_UnionEntry:
			info.Type = TypeUnion
		default:
			info.Type = TypeUserDefined
		}
		columns[i] = info
	}
	return columns, nil
}

// qualifier returns the number that a type has by a name, such as its precision; 0 if it has
// none.
func qualifier(q tcli.TTypeQualifiers, name string) int {
	v, _ := q.GetQualifiers().Get(name)
	return int(v.GetI32Value())
}
