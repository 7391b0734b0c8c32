package hive

import (
	"math/bits"
	"time"

	"github.com/nocopythrift/nocopythrift/hive/internal/tcli"
)

// Batch is a part of the rows of a result. It, its Columns and all that they return are valid
// until the next call of Result.Next or Close.
type Batch struct {
	r       *Result
	reply   reply
	from, n int // the rows of reply that the batch has
	columns []Column
}

// Len returns the number of rows, at most Config.BatchRows.
func (b *Batch) Len() int { return b.n }

// Column returns column i, in the order of Result.Columns. It panics if there is none.
func (b *Batch) Column(i int) *Column { return &b.columns[i] }

// set begins with the rows of a reply. It releases the one before.
func (b *Batch) set(rep reply) {
	b.reply.release()
	b.reply, b.from, b.n = rep, 0, 0
	for i := range b.columns {
		c := &b.columns[i]
		c.loaded, c.col = false, tcli.TColumn{}
		if rep.rows > 0 {
			c.col = rep.columns[i]
		}
		c.nulls = columnNulls(c.col)
	}
	b.advance()
}

// advance goes to the next rows of the reply, if there are any: one with many more rows than were
// asked for makes several batches. A batch begins at a multiple of 8, as bytes of bitmaps do.
func (b *Batch) advance() bool {
	b.from += b.n
	b.n = min(b.reply.rows-b.from, b.r.c.cfg.BatchRows)
	for i := range b.columns {
		b.columns[i].window(b.from, b.n)
	}
	return b.n > 0
}

// Nulls is a bitmap: bit i%8 of byte i/8, counted from the lowest, is 1 if value i is NULL. Bytes
// that are missing at the end are 0.
type Nulls []byte

// Has reports whether value i is NULL.
func (n Nulls) Has(i int) bool { return i>>3 < len(n) && n[i>>3]>>(i&7)&1 != 0 }

// Count returns how many values are NULL.
func (n Nulls) Count() int {
	count := 0
	for _, b := range n {
		count += bits.OnesCount8(b)
	}
	return count
}

// Column is a column of a Batch. Its methods for values return a slice with an element for each
// row; where IsNull, the element is the value that the server sent, usually zero. The program may
// change the elements of slices; bytes of a []byte it must not.
//
// A method for values of another type than the column's panics. Result.Columns returns the types.
type Column struct {
	r       *Result
	info    *ColumnInfo
	col     tcli.TColumn // of the reply
	nulls   []byte       // of the reply
	from, n int

	bitmap Nulls  // of the batch
	masked []byte // memory for a bitmap with bits after the last row
	// Values of the reply, if they are numbers, or of the batch, once they were asked for. Slices
	// are kept for later replies.
	loaded   bool
	bools    []bool
	int8s    []int8
	int16s   []int16
	int32s   []int32
	int64s   []int64
	float64s []float64
	strings  []string
	bytes    [][]byte
	times    []time.Time
	decimals []Decimal
	reader   timeReader
}

// window makes c the n rows of the reply after from others.
func (c *Column) window(from, n int) {
	c.from, c.n = from, n
	c.strings, c.bytes = c.strings[:0], c.bytes[:0]
	low, high := min(from/8, len(c.nulls)), min((from+n+7)/8, len(c.nulls))
	c.bitmap = c.nulls[low:high:high]
	if used := n & 7; used != 0 && high == (from+n+7)/8 && c.bitmap[len(c.bitmap)-1]>>used != 0 {
		c.masked = append(c.masked[:0], c.bitmap...)
		c.masked[len(c.masked)-1] &= 1<<used - 1
		c.bitmap = c.masked
	}
}

// Info describes the column.
func (c *Column) Info() ColumnInfo { return *c.info }

// Len returns the number of rows of the batch.
func (c *Column) Len() int { return c.n }

// Nulls returns which values are NULL. The program must not change it.
func (c *Column) Nulls() Nulls { return c.bitmap }

// IsNull reports whether value i is NULL.
func (c *Column) IsNull(i int) bool { return c.bitmap.Has(i) }
