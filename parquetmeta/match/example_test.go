package match_test

import (
	"fmt"
	"log"
	"os"
	"time"

	"github.com/nocopythrift/nocopythrift/parquetmeta"
	"github.com/nocopythrift/nocopythrift/parquetmeta/match"
)

// Which bytes of a file must be read for the rows of half an hour.
func Example() {
	file, err := os.Open("testdata/events.parquet")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		log.Fatal(err)
	}
	f, err := parquetmeta.Open(file, info.Size())
	if err != nil {
		log.Fatal(err)
	}
	if f, err = f.ReadIndexes(); err != nil {
		log.Fatal(err)
	}
	from := time.Date(2026, 11, 30, 9, 10, 0, 0, time.UTC)
	for part, err := range match.Parts(f, match.Between("ts", from, from.Add(30*time.Minute))) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("row group", part.RowGroup.Number, "rows", part.Rows)
		for i := range f.NumColumns() {
			ranges, err := part.Bytes(i)
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(" ", f.ColumnAt(i).Path(), ranges)
		}
	}
	// Output:
	// row group 0 rows [{60 120}]
	//   ts [{435 864}]
	//   level [{864 905} {975 1045}]
	//   value [{1383 1719}]
}

// Bounds as values of Go.
func ExampleOrder_Bounds() {
	file, err := os.Open("testdata/events.parquet")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		log.Fatal(err)
	}
	f, err := parquetmeta.Open(file, info.Size())
	if err != nil {
		log.Fatal(err)
	}
	order, err := match.OrderOf(f.Column("ts"))
	if err != nil {
		log.Fatal(err)
	}
	for c, err := range f.Column("ts").Chunks() {
		if err != nil {
			log.Fatal(err)
		}
		lo, hi := order.Bounds(c.Statistics)
		first, _ := order.Value(lo)
		last, _ := order.Value(hi)
		fmt.Println(first, "to", last)
	}
	// Output:
	// 2026-11-30 08:00:00 +0000 UTC to 2026-11-30 09:59:00 +0000 UTC
	// 2026-11-30 10:00:00 +0000 UTC to 2026-11-30 11:59:00 +0000 UTC
}
