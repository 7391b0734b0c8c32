package hive_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/hive"
)

// TestRealMetadata: what the server has, and a statement's log.
func TestRealMetadata(t *testing.T) {
	cfg, err := hive.ParseDSN(realServer(t))
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, cfg)
	ctx := t.Context()
	if err := c.Exec(ctx, "CREATE TABLE IF NOT EXISTS listed (a INT, b STRING)"); err != nil {
		t.Fatal(err)
	}
	defer c.Exec(context.WithoutCancel(ctx), "DROP TABLE listed")
	texts := func(r *hive.Result, err error, column string) (texts []string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		i := slices.IndexFunc(r.Columns(), func(c hive.ColumnInfo) bool { return c.Name == column })
		if i < 0 {
			t.Fatal(column, r.Columns())
		}
		for r.Next() {
			for _, text := range r.Batch().Column(i).Strings() {
				texts = append(texts, strings.Clone(text))
			}
		}
		if err := r.Err(); err != nil {
			t.Error(err)
		}
		return texts
	}
	r, err := c.Schemas(ctx, "def%")
	if got := texts(r, err, "TABLE_SCHEM"); !slices.Equal(got, []string{"default"}) {
		t.Error(got)
	}
	r, err = c.Tables(ctx, "default", "listed")
	if got := texts(r, err, "TABLE_NAME"); !slices.Equal(got, []string{"listed"}) {
		t.Error(got)
	}
	r, err = c.Tables(ctx, "", "listed", "VIEW")
	if got := texts(r, err, "TABLE_NAME"); len(got) > 0 {
		t.Error(got)
	}
	r, err = c.Columns(ctx, "default", "listed", "")
	if got := texts(r, err, "COLUMN_NAME"); !slices.Equal(got, []string{"a", "b"}) {
		t.Error(got)
	}
	r, err = c.Query(ctx, "SELECT 1")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	lines, err := r.Log(ctx)
	t.Logf("%d lines, error %v", len(lines), err)
	if os.Getenv("NOCOPY_HIVE_SERVER") == "hive" && err != nil { // hive.sh's writes no lines
		t.Error(err)
	}
}
