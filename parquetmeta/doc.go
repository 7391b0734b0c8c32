// Package parquetmeta reads the footers of Parquet files in place. A program asks for the chunks
// of one column, for instance, and only these are decoded. Footers can be edited and written
// again.
//
//	f, err := parquetmeta.Open(file, size)
//	if err != nil {
//		return err
//	}
//	for c, err := range f.Column("customer.name").Chunks() {
//		if err != nil {
//			return err
//		}
//		fmt.Println(c.RowGroup, c.DataPageOffset, c.Statistics.NullCount)
//	}
//
// # How it reads
//
// A footer is a struct in Thrift's compact protocol. [Open] passes over its bytes once, without
// decoding them, and notes where the elements of the schema, the row groups and the column
// chunks begin:
//
//	pages ...                                  the file's data
//	page indexes, Bloom filters                read when asked for: Chunk.OffsetIndex and its like
//	FileMetaData                               the footer
//	    version, schema, num_rows
//	        root, then each node               28 bytes for each: Schema, Column
//	    row_groups
//	        columns of row group 0: chunk ...  4 bytes for each: Chunks
//	        num_rows, ...                      RowGroups
//	        columns of row group 1 ...
//	    key_value_metadata, ...                KeyValue
//	length, "PAR1"
//
// [RowGroup] and [Chunk] are plain values that are decoded from there, without allocations. They
// leave some fields out. All fields are in messages of package format: File, RowGroup, Chunk and
// Node have a method Metadata, which turns their part of the footer into such a message. It has
// getters and setters, and keeps the fields that package format does not know.
//
// # Datasets
//
// A file named _metadata has no pages: it is the footer of a dataset, whose chunks are in other
// files. Chunk.FilePath names them. What the footer says can be read as usual, and is written as
// it was. Methods that check or read places in the file refuse such chunks with [ErrOtherFile]:
// open the file that has them. [OpenFolder] and [OpenFiles] give such a File of files without
// _metadata, and [Merge] the footer to write.
//
// # Predicates
//
// Package match finds row groups, rows and bytes that can match a predicate, by bounds, counts of
// nulls, Bloom filters and page indexes.
//
// # Reads
//
// Open calls ReadAt once or twice; [OpenTail] takes a guess of the footer's length. An index of a
// chunk is one call. [File.ReadIndexes] reads the indexes of all chunks with one call, if they are
// side by side, as is usual.
//
// # Ownership
//
// A File is immutable. Its methods may be called by any number of goroutines at once. Texts are
// copies. Byte slices in Statistics alias the footer, which the File keeps: they must not be
// changed. Messages are the caller's, and may be released; a File needs none of them.
//
// # Errors
//
// A wrong footer gives a *[nocopy.Error] with offset and path. Offsets count from the beginning of
// the footer, which [File.Offset] gives. Open refuses a footer whose structs, lists and texts do
// not fit into it, whose schema is no tree, or whose row groups have not a chunk for each column.
// Numbers are not checked: offsets and sizes may be anything until [Chunk.Range] or a method that
// reads from the file finds that they are not in it. A chunk with another path than its column's
// is an error.
//
// Footers are bounded by [nocopy.Limits], and what a File keeps by 16 bytes for each byte of its
// footer, whatever counts and lengths are in it. Schemas have at most 256 levels.
//
//go:generate go run -C .. ./gen/nocopyc -o parquetmeta parquetmeta/format.thrift
package parquetmeta
