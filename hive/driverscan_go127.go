//go:build go1.27

package hive

import (
	"database/sql"
	"database/sql/driver"
	"time"
)

var _ driver.RowsColumnScanner = (*sqlRows)(nil)

// ScanColumn stores a value of the row without boxing it, where the types are equal.
func (s *sqlRows) ScanColumn(ctx driver.ScanContext, i int, dest any) error {
	c, row := &s.columns[i], s.row-1
	if !c.nulls.Has(row) {
		switch d := dest.(type) {
		case *int64:
			if d != nil && len(c.ints) > row {
				*d = c.ints[row]
				return nil
			}
		case *float64:
			if d != nil && len(c.floats) > row {
				*d = c.floats[row]
				return nil
			}
		case *string:
			if d != nil && len(c.texts) > row && !c.isTime() {
				*d = c.texts[row]
				return nil
			}
		case *bool:
			if d != nil && len(c.bools) > row {
				*d = c.bools[row]
				return nil
			}
		case *time.Time:
			if d != nil && len(c.texts) > row && c.isTime() {
				t, err := c.time(row)
				*d = t
				return err
			}
		}
	}
	v, err := c.value(row)
	if err != nil {
		return err
	}
	return sql.ConvertAssign(ctx, dest, v)
}
