package parquetmeta_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/parquetmeta"
)

// noted is the notes of testdata/write.py on a file. Its chunks have the elements that it lists.
type noted struct {
	Rows    int64
	Creator string
	Size    int64
	Columns [][3]any
	Groups  []struct {
		Rows, Bytes int64
		Chunks      [][]any
	}
}

// TestPyarrow compares the values that we and pyarrow read from files that pyarrow writes.
func TestPyarrow(t *testing.T) {
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip("SKIPPED, nothing was compared with pyarrow: ", err)
	}
	python := filepath.Join(cache, "nocopythrift", "pyarrow", "bin", "python")
	if _, err := os.Stat(python); err != nil {
		t.Skip("SKIPPED, nothing was compared with pyarrow: it is not installed; ./pyarrow.sh does it")
	}
	dir := t.TempDir()
	if out, err := exec.Command(python, "-B", "testdata/write.py", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if err != nil || len(files) < 30 {
		t.Fatal(len(files), err)
	}
	for _, name := range files {
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		name = strings.TrimSuffix(name, ".parquet")
		t.Run(filepath.Base(name), func(t *testing.T) {
			switch filepath.Base(name) {
			case "encrypted":
				if _, err := parquetmeta.Open(bytes.NewReader(file), int64(len(file))); !errors.Is(err, parquetmeta.ErrEncrypted) {
					t.Error(err)
				}
				return
			case "signed":
				for c, err := range opened(t, file).Column("i64").Chunks() {
					if err != nil || !c.Encrypted {
						t.Error(c, err)
					}
				}
				return
			}
			b, err := os.ReadFile(name + ".json")
			if err != nil {
				t.Fatal(err)
			}
			var want noted
			if err := json.Unmarshal(b, &want); err != nil {
				t.Fatal(err)
			}
			compareNoted(t, file, &want)
		})
	}
}

func compareNoted(t *testing.T, file []byte, want *noted) {
	f := opened(t, file)
	same(t, "rows", f.NumRows(), want.Rows)
	same(t, "creator", f.CreatedBy(), want.Creator)
	same(t, "size", int64(len(file))-8-f.Offset(), want.Size)
	same(t, "columns", f.NumColumns(), len(want.Columns))
	for i, c := range want.Columns {
		n := f.ColumnAt(i).Node()
		same(t, "column", [3]any{n.Path(), float64(n.MaxDefinitionLevel()), float64(n.MaxRepetitionLevel())}, c)
	}
	same(t, "row groups", f.NumRowGroups(), len(want.Groups))
	for g, err := range f.RowGroups() {
		if err != nil {
			t.Fatal(err)
		}
		their := want.Groups[g.Number]
		same(t, "rows", [2]int64{g.NumRows, g.TotalByteSize}, [2]int64{their.Rows, their.Bytes})
		for c, err := range g.Chunks() {
			if err != nil {
				t.Fatal(err)
			}
			var encodings []string
			for _, e := range c.Encodings() {
				encodings = append(encodings, e.String())
			}
			slices.Sort(encodings)
			codec := c.Codec.String()
			if codec == "LZ4_RAW" { // pyarrow's name for both
				codec = "LZ4"
			}
			have := []any{
				float64(c.NumValues), float64(c.TotalCompressedSize), float64(c.TotalUncompressedSize), float64(c.DataPageOffset),
				float64(c.DictionaryPageOffset), float64(c.Statistics.NullCount), codec, c.Type.String(),
				strings.Join(slices.Compact(encodings), ","), c.OffsetIndexOffset >= 0, c.ColumnIndexOffset >= 0, c.FilePath(),
			}
			if !slices.Equal(have, their.Chunks[c.Column]) {
				t.Errorf("chunk %d of row group %d: %v, not %v", c.Column, g.Number, have, their.Chunks[c.Column])
			}
			if c.FilePath() == "" {
				compareIndexes(t, file, c)
			} else if _, err := c.OffsetIndex(); !errors.Is(err, parquetmeta.ErrOtherFile) {
				t.Error(err)
			}
		}
	}
	m, err := f.Metadata()
	if err != nil {
		t.Fatal(err)
	}
	again, err := parquetmeta.AppendFooter(nil, m)
	if err != nil || !bytes.Equal(again, file[f.Offset():]) {
		t.Errorf("the footer is not written as it was: %v", err)
	}
}
