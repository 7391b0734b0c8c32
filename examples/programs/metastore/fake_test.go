// A metastore in memory, for the tests.
package main

import (
	"context"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nocopythrift/nocopythrift/examples/programs/metastore/hms"
	"github.com/nocopythrift/nocopythrift/nocopy/rpc"
)

// fake has one table, logs.visits, with the partitions of partitionsResult. Fields that
// metastore.thrift does not have stay in what it has.
type fake struct {
	mu    sync.Mutex
	table hms.Table
	parts map[string]hms.Partition
}

// unknown are fields that metastore.thrift does not have, of a table.
const unknown = "\x0b\x00\x11\x00\x00\x00\x04hive" + // 17, catName
	"\x0c\x03\xe8\x0b\x00\x01\x00\x00\x00\x13s3://old/not-known!\x00" // 1000, a struct

func newFake(t *testing.T, n int) *fake {
	f := &fake{parts: map[string]hms.Partition{}}
	list, err := hms.ParseMetastoreGetPartitionsResult(partitionsResult(n))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list.GetSuccess().All() {
		f.parts[nameOf(p)] = p
	}
	table := hms.NewTable()
	table.SetDbName("logs")
	table.SetTableName("visits")
	table.SetOwner("ada\x1b[31m")
	for _, key := range []string{"day", "hour"} {
		k := table.GetPartitionKeys()
		if !table.IsSetPartitionKeys() {
			k = table.NewPartitionKeys(0)
		}
		k.AppendNew().SetName(key)
	}
	table.SetSd(list.GetSuccess().At(0).GetSd())
	table.GetSd().SetLocation("s3://old/warehouse/logs.db/visits")
	table.GetSd().GetSerdeInfo().GetParameters().Put("path", "s3://old/warehouse/logs.db/visits")
	table.GetSd().GetSkewedInfo().NewSkewedColValueLocationMaps()
	table.NewParameters().Put("comment", "copied from s3://old/ in the spring")
	b := table.AppendTo(nil)
	if f.table, err = hms.ParseTable(append(b[:len(b)-1], unknown+"\x00"...)); err != nil {
		t.Fatal(err)
	}
	return f
}

func nameOf(p hms.Partition) string {
	return "day=" + p.GetValues().At(0) + "/hour=" + p.GetValues().At(1)
}

// tableWire returns the bytes of the table.
func (f *fake) tableWire() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.table.AppendTo(nil)
}

// partWire returns the bytes of a partition, nil if there is none.
func (f *fake) partWire(name string) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p, ok := f.parts[name]; ok {
		return p.AppendTo(nil)
	}
	return nil
}

func (f *fake) len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.parts)
}

func (f *fake) GetAllDatabases(_ context.Context, _ hms.MetastoreGetAllDatabasesArgs, result hms.MetastoreGetAllDatabasesResult) error {
	result.SetSuccess([]string{"default", "logs", "\x1b[2J"})
	return nil
}

func (f *fake) GetAllTables(_ context.Context, args hms.MetastoreGetAllTablesArgs, result hms.MetastoreGetAllTablesResult) error {
	if args.GetDbName() == "logs" {
		result.SetSuccess([]string{"visits"})
	} else {
		result.NewSuccess(0)
	}
	return nil
}

func (f *fake) GetDatabase(_ context.Context, args hms.MetastoreGetDatabaseArgs, result hms.MetastoreGetDatabaseResult) error {
	result.NewSuccess().SetName(args.GetName())
	result.GetSuccess().SetLocationUri("s3://old/warehouse/logs.db")
	return nil
}

func missing(what string) error {
	e := hms.NewNoSuchObjectException()
	e.SetMessage(what + " not found")
	return e
}

func (f *fake) GetTable(_ context.Context, args hms.MetastoreGetTableArgs, result hms.MetastoreGetTableResult) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if args.GetTblName() != "visits" {
		return missing(args.GetTblName())
	}
	result.SetSuccess(f.table)
	return nil
}

func (f *fake) AlterTable(_ context.Context, args hms.MetastoreAlterTableArgs, _ hms.MetastoreAlterTableResult) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.table = args.GetNewTbl_().Clone()
	return nil
}

func (f *fake) GetPartitionNames(_ context.Context, _ hms.MetastoreGetPartitionNamesArgs, result hms.MetastoreGetPartitionNamesResult) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	result.SetSuccess(slices.Sorted(maps.Keys(f.parts)))
	return nil
}

func (f *fake) GetPartitions(_ context.Context, _ hms.MetastoreGetPartitionsArgs, result hms.MetastoreGetPartitionsResult) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := result.NewSuccess(len(f.parts))
	for i, name := range slices.Sorted(maps.Keys(f.parts)) {
		list.Set(i, f.parts[name])
	}
	return nil
}

func (f *fake) GetPartitionsByNames(_ context.Context, args hms.MetastoreGetPartitionsByNamesArgs, result hms.MetastoreGetPartitionsByNamesResult) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := result.NewSuccess(args.GetNames().Len())
	for i, name := range args.GetNames().All() {
		list.Set(i, f.parts[name])
	}
	return nil
}

func (f *fake) GetPartitionByName(_ context.Context, args hms.MetastoreGetPartitionByNameArgs, result hms.MetastoreGetPartitionByNameResult) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, ok := f.parts[args.GetPartName()]
	if !ok {
		return missing(args.GetPartName())
	}
	result.SetSuccess(p)
	return nil
}

func (f *fake) PartitionNameToVals(_ context.Context, args hms.MetastorePartitionNameToValsArgs, result hms.MetastorePartitionNameToValsResult) error {
	list := result.NewSuccess(0)
	for part := range strings.SplitSeq(args.GetPartName(), "/") {
		_, value, _ := strings.Cut(part, "=")
		list.Append(value)
	}
	return nil
}

func (f *fake) AddPartition(_ context.Context, args hms.MetastoreAddPartitionArgs, result hms.MetastoreAddPartitionResult) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := args.GetNewPart_().Clone()
	if _, ok := f.parts[nameOf(p)]; ok {
		return hms.NewAlreadyExistsException()
	}
	f.parts[nameOf(p)] = p
	result.SetSuccess(p)
	return nil
}

func (f *fake) AlterPartition(_ context.Context, args hms.MetastoreAlterPartitionArgs, _ hms.MetastoreAlterPartitionResult) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := args.GetNewPart_().Clone()
	f.parts[nameOf(p)] = p
	return nil
}

func (f *fake) DropPartitionByName(_ context.Context, args hms.MetastoreDropPartitionByNameArgs, result hms.MetastoreDropPartitionByNameResult) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.parts[args.GetPartName()]; !ok {
		return missing(args.GetPartName())
	}
	delete(f.parts, args.GetPartName())
	result.SetSuccess(true)
	return nil
}

// serve runs a server until the test ends, and returns its address.
func serve(t *testing.T, srv *rpc.Server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		srv.Shutdown(ctx)
		<-served
	})
	return l.Addr().String()
}

// serveFake runs f as a metastore.
func serveFake(t *testing.T, f *fake) string {
	return serve(t, &rpc.Server{Processor: hms.NewMetastoreProcessor(f)})
}

// serveProxy runs a proxy in front of a metastore.
func serveProxy(t *testing.T, metastore string, opts ...rpc.Option) string {
	t.Helper()
	srv, err := proxy{move{"s3://old", "s3://new"}, metastore, opts}.server()
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, srv)
}
