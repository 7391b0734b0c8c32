package main

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/examples/programs/metastore/hms"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// client lists and edits what a metastore has. Its connection must not be one that recycles, since
// names outlive the replies that they came in.
type client struct{ hms hms.MetastoreClient }

// databases returns the names of all databases.
func (c client) databases(ctx context.Context) ([]string, error) {
	res, err := c.hms.GetAllDatabases(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer res.Release()
	return res.GetSuccess().AppendTo(nil), nil
}

// tables returns the names of a database's tables.
func (c client) tables(ctx context.Context, db string) ([]string, error) {
	res, err := c.hms.GetAllTables(ctx, func(args hms.MetastoreGetAllTablesArgs) { args.SetDbName(db) })
	if err != nil {
		return nil, err
	}
	defer res.Release()
	return res.GetSuccess().AppendTo(nil), nil
}

// table calls f with a table, which f may change, and must not keep.
func (c client) table(ctx context.Context, of place, f func(hms.Table) error) error {
	res, err := c.hms.GetTable(ctx, func(args hms.MetastoreGetTableArgs) {
		args.SetDbname(of.db)
		args.SetTblName(of.table)
	})
	if err != nil {
		return err
	}
	defer res.Release()
	return f(res.GetSuccess())
}

// partition calls f with a partition, which f may change, and must not keep.
func (c client) partition(ctx context.Context, of place, f func(hms.Partition) error) error {
	res, err := c.hms.GetPartitionByName(ctx, func(args hms.MetastoreGetPartitionByNameArgs) {
		args.SetDbName(of.db)
		args.SetTblName(of.table)
		args.SetPartName(of.partition)
	})
	if err != nil {
		return err
	}
	defer res.Release()
	return f(res.GetSuccess())
}

// edit changes a table or partition by f. Fields that the IDL does not know are sent back as
// they came. A change that someone else makes meanwhile is lost: a metastore has no better way.
func (c client) edit(ctx context.Context, of place, f func(hms.StorageDescriptor, nocopy.StringMap)) error {
	if of.partition == "" {
		return c.table(ctx, of, func(t hms.Table) error {
			if !t.IsSetParameters() {
				t.NewParameters()
			}
			f(t.GetSd(), t.GetParameters())
			_, err := c.hms.AlterTable(ctx, func(args hms.MetastoreAlterTableArgs) {
				args.SetDbname(of.db)
				args.SetTblName(of.table)
				args.SetNewTbl_(t)
			})
			return err
		})
	}
	return c.partition(ctx, of, func(p hms.Partition) error {
		if !p.IsSetParameters() {
			p.NewParameters()
		}
		f(p.GetSd(), p.GetParameters())
		_, err := c.hms.AlterPartition(ctx, func(args hms.MetastoreAlterPartitionArgs) {
			args.SetDbName(of.db)
			args.SetTblName(of.table)
			args.SetNewPart_(p)
		})
		return err
	})
}

// batch is how many partitions are asked for at a time. It keeps replies from being very large.
const batch = 1000

// partitions returns an iterator over a table's partitions. A partition is valid until the next
// step. An error comes last.
func (c client) partitions(ctx context.Context, of place) iter.Seq2[hms.Partition, error] {
	return func(yield func(hms.Partition, error) bool) {
		names, err := c.partitionNames(ctx, of)
		for some := range slices.Chunk(names, batch) {
			var res hms.MetastoreGetPartitionsByNamesResult
			res, err = c.hms.GetPartitionsByNames(ctx, func(args hms.MetastoreGetPartitionsByNamesArgs) {
				args.SetDbName(of.db)
				args.SetTblName(of.table)
				args.SetNames(some)
			})
			if err != nil {
				break
			}
			for _, p := range res.GetSuccess().All() {
				if !yield(p, nil) {
					res.Release()
					return
				}
			}
			res.Release()
		}
		if err != nil {
			yield(hms.Partition{}, err)
		}
	}
}

// partitionNames returns the names of a table's partitions, such as "day=2026-11-23/hour=7".
func (c client) partitionNames(ctx context.Context, of place) ([]string, error) {
	res, err := c.hms.GetPartitionNames(ctx, func(args hms.MetastoreGetPartitionNamesArgs) {
		args.SetDbName(of.db)
		args.SetTblName(of.table)
		args.SetMaxParts(-1)
	})
	if err != nil {
		return nil, err
	}
	defer res.Release()
	return res.GetSuccess().AppendTo(nil), nil
}

// partitionName returns the name of a table's partition: keys and values, in which characters that
// have a meaning in paths are escaped as Hive has it.
func partitionName(t hms.Table, p hms.Partition) string {
	var b strings.Builder
	for i, value := range p.GetValues().All() {
		if i >= t.GetPartitionKeys().Len() {
			break // the metastore sends what it likes
		}
		if i > 0 {
			b.WriteByte('/')
		}
		b.WriteString(t.GetPartitionKeys().At(i).GetName() + "=")
		for _, c := range []byte(value) {
			if c < ' ' || c == 0x7f || strings.IndexByte(`"#%'*/:=?\{[]^`, c) >= 0 {
				fmt.Fprintf(&b, "%%%02X", c)
			} else {
				b.WriteByte(c)
			}
		}
	}
	return b.String()
}

// addPartition adds a partition with its table's columns and formats, in the table's location
// unless another one is given.
func (c client) addPartition(ctx context.Context, of place, location string) error {
	return c.table(ctx, of, func(t hms.Table) error {
		if err := checkKeys(of, t); err != nil {
			return err
		}
		values, err := c.hms.PartitionNameToVals(ctx, func(args hms.MetastorePartitionNameToValsArgs) {
			args.SetPartName(of.partition)
		})
		if err != nil {
			return err
		}
		defer values.Release()
		if location == "" {
			location = t.GetSd().GetLocation() + "/" + of.partition
		}
		_, err = c.hms.AddPartition(ctx, func(args hms.MetastoreAddPartitionArgs) {
			p := args.NewNewPart_()
			p.SetDbName(of.db)
			p.SetTableName(of.table)
			p.SetValues(values.GetSuccess().AppendTo(nil))
			p.SetSd(t.GetSd())
			p.GetSd().SetLocation(location)
			p.NewParameters()
		})
		return err
	})
}

// checkKeys returns an error unless a partition's name has the keys of its table, in their order:
// the metastore looks at the values only.
func checkKeys(of place, t hms.Table) error {
	var have, want []string
	for part := range strings.SplitSeq(of.partition, "/") {
		key, _, _ := strings.Cut(part, "=")
		have = append(have, key)
	}
	for _, key := range t.GetPartitionKeys().All() {
		want = append(want, key.GetName())
	}
	if !slices.EqualFunc(have, want, strings.EqualFold) {
		return fmt.Errorf("the partition keys of %s.%s are %q, not %q", of.db, of.table, want, have)
	}
	return nil
}

// dropPartition drops a partition. Its files stay.
func (c client) dropPartition(ctx context.Context, of place) error {
	_, err := c.hms.DropPartitionByName(ctx, func(args hms.MetastoreDropPartitionByNameArgs) {
		args.SetDbName(of.db)
		args.SetTblName(of.table)
		args.SetPartName(of.partition)
		args.SetDeleteData(false)
	})
	return err
}
