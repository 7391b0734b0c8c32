package parquetmeta

import (
	"github.com/nocopythrift/nocopythrift/parquetmeta/format"
	"github.com/parquet-go/parquet-go"
	"testing"
)

var _ = parquet.OpenFile
var _ format.FileMetaData

func TestX(t *testing.T) { t.Log(format.FileMetaDataDesc, parquet.OpenFile) }
