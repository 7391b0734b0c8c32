// Package match finds the row groups of a Parquet file, the rows and the bytes that can match a
// predicate. It compares bounds in the order of their column.
//
//	p := match.And(match.Between("ts", from, to), match.Equal("customer.name", "Ada"))
//	for part, err := range match.Parts(f, p) {
//		if err != nil {
//			return err
//		}
//		ranges, err := part.Bytes(f.Column("price").Number())
//		...
//	}
//
// What a predicate excludes has no row that matches. The rest may have some: readers test each
// row.
//
// # What is asked
//
// A row group is excluded by the bounds and counts of nulls in its chunks' statistics, then by
// their Bloom filters. Its rows are excluded by the column indexes, which have such bounds for
// each page. Whatever is absent, encrypted or unknown excludes nothing. Nor do bounds that
// contradict each other.
//
//	RowGroups    footer, and for Equal a block of the Bloom filter: two calls of ReadAt
//	Parts        also the column index and offset index of the predicate's columns
//	Part.Bytes   the offset index of the column
//
// [parquetmeta.File.ReadIndexes] reads all indexes at once. Chunks in other files, as in
// _metadata files, are excluded by the footer alone: to know more, open the file that FilePath
// names.
//
// # Orders
//
// Bounds are compared as [Order] says: integers with or without sign, decimals as numbers,
// floating point numbers as numbers, times and timestamps as such, texts and other bytes as
// unsigned bytes. Shortened bounds of texts are still bounds.
//
//   - MinValue and MaxValue count if the footer names the column's order. Min and Max of old
//     writers count for types that are compared as signed numbers.
//   - NaN is in no range. Bounds that are NaN mean nothing. Zeros are equal, whatever their sign.
//   - INT96 has no order, unless the footer says that it is that of timestamps. INTERVAL, VARIANT
//     and shapes have none, nor have types that are newer than this package.
//
// # Values
//
// Values of predicates have the Go type that fits the column:
//
//	boolean                bool
//	integers, decimals     any integer type, *big.Int or *big.Rat
//	floating point         float32, float64, or one of the above
//	dates, timestamps      time.Time
//	times of day           time.Duration since midnight
//	all other              string or []byte
//
// A date is that of the time's own location. So is a timestamp that is not adjusted to UTC. A
// float64 is compared with values of fewer bits as if it were any of the two next to it.
//
// # Errors
//
// A value of another type, or a column that the file does not have ([nocopy.ErrNotFound]), is an
// error. So are a wrong footer and a wrong index: a *[nocopy.Error], or one with ErrIndex.
package match
