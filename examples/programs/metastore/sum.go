package main

import (
	"github.com/nocopythrift/nocopythrift/examples/programs/metastore/hms"
	"github.com/nocopythrift/nocopythrift/examples/programs/metastore/internal/apache"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

// sumOurs reads every field of every partition.
func sumOurs(list nocopy.StructList[hms.Partition]) (sum int) {
	for _, p := range list.All() {
		sum += texts(p.GetValues()) + len(p.GetDbName()) + len(p.GetTableName())
		sum += int(p.GetCreateTime()) + int(p.GetLastAccessTime()) + pairs(p.GetParameters())
		sd := p.GetSd()
		for _, col := range sd.GetCols().All() {
			sum += len(col.GetName()) + len(col.GetType()) + len(col.GetComment())
		}
		sum += len(sd.GetLocation()) + len(sd.GetInputFormat()) + len(sd.GetOutputFormat())
		sum += number(sd.GetCompressed()) + int(sd.GetNumBuckets()) + pairs(sd.GetParameters())
		serde := sd.GetSerdeInfo()
		sum += len(serde.GetName()) + len(serde.GetSerializationLib()) + pairs(serde.GetParameters())
		sum += texts(sd.GetBucketCols())
		for _, o := range sd.GetSortCols().All() {
			sum += len(o.GetCol()) + int(o.GetOrder())
		}
		sum += texts(sd.GetSkewedInfo().GetSkewedColNames())
		for _, values := range sd.GetSkewedInfo().GetSkewedColValues().All() {
			sum += texts(values)
		}
		for _, at := range sd.GetSkewedInfo().GetSkewedColValueLocationMaps().All() {
			sum += len(at)
		}
		sum += number(sd.GetStoredAsSubDirectories())
	}
	return sum
}

func texts(list nocopy.StringList) (sum int) {
	for _, s := range list.All() {
		sum += len(s)
	}
	return sum
}

func pairs(m nocopy.StringMap) (sum int) {
	for k, v := range m.All() {
		sum += len(k) + len(v)
	}
	return sum
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// sumApache is sumOurs for the types of Apache's generator, which have no
// skewedColValueLocationMaps.
func sumApache(list []*apache.Partition) (sum int) {
	for _, p := range list {
		sum += slicesTexts(p.Values) + len(p.DbName) + len(p.TableName)
		sum += int(p.CreateTime) + int(p.LastAccessTime) + mapPairs(p.Parameters)
		sd := p.Sd
		for _, col := range sd.Cols {
			sum += len(col.Name) + len(col.Type) + len(col.Comment)
		}
		sum += len(sd.Location) + len(sd.InputFormat) + len(sd.OutputFormat)
		sum += number(sd.Compressed) + int(sd.NumBuckets) + mapPairs(sd.Parameters)
		sum += len(sd.SerdeInfo.Name) + len(sd.SerdeInfo.SerializationLib) + mapPairs(sd.SerdeInfo.Parameters)
		sum += slicesTexts(sd.BucketCols)
		for _, o := range sd.SortCols {
			sum += len(o.Col) + int(o.Order)
		}
		sum += slicesTexts(sd.SkewedInfo.SkewedColNames)
		for _, values := range sd.SkewedInfo.SkewedColValues {
			sum += slicesTexts(values)
		}
		sum += number(sd.GetStoredAsSubDirectories())
	}
	return sum
}

func slicesTexts(list []string) (sum int) {
	for _, s := range list {
		sum += len(s)
	}
	return sum
}

func mapPairs(m map[string]string) (sum int) {
	for k, v := range m {
		sum += len(k) + len(v)
	}
	return sum
}
