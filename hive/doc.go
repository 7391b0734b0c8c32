// Package hive runs SQL on HiveServer2 and on Spark's Thrift server. Results come as columns: a
// batch of rows is a Go slice for each column.
//
//	conn, err := hive.Connect(ctx, hive.Config{Addr: "hive.example.com:10000", User: "ada"})
//	if err != nil {
//		return err
//	}
//	defer conn.Close()
//	r, err := conn.Query(ctx, "SELECT id, name FROM users WHERE age > ?", 30)
//	if err != nil {
//		return err
//	}
//	defer r.Close()
//	for r.Next() {
//		ids, names := r.Batch().Column(0).Int64s(), r.Batch().Column(1).Strings()
//		for i, id := range ids {
//			fmt.Println(id, names[i])
//		}
//	}
//	return r.Err()
//
// For programs that use database/sql, the package registers the driver "hive": see [Driver]. It
// takes six times as long as columns. Package hive/arrowhive gives Arrow records.
//
// # Memory
//
// A reply of the server lies in memory of a pool. Strings and byte slices of a batch alias it,
// and numbers are copied into slices that the Result keeps for the next batch:
//
//	reply    | schema | 1 2 3 4 … | 3 Ada 5 Grace … | bitmaps of NULLs |
//	                     |            \    \
//	Int64s   [1 2 3 4 …] copied        \    \
//	Strings                           [Ada  Grace …] headers that point into the reply
//
// All of this is valid until the next call of [Result.Next] or [Result.Close]. Meanwhile the next
// reply is fetched, so that two are in memory. [Config] bounds their size.
//
// # Errors
//
// An [*Error] is the server's error about a query or a call. [ErrCanceled], [ErrSession] and
// [ErrClosed] are the reasons that programs care about. A reply that can't be read, or does not
// make sense, gives a *nocopy.Error; one that is too large wraps nocopy.ErrLimit. Errors of the
// connection are those of package rpc, such as rpc.ErrConnLost.
//
// Programs that use values of a column as another type than [Result.Columns] says panic.
//
//go:generate go run -C .. ./gen/nocopyc -o hive/internal hive/internal/TCLIService.thrift
package hive
