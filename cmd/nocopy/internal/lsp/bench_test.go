package lsp

import (
	"os"
	"testing"
)

func BenchmarkTree(b *testing.B) {
	src, _ := os.ReadFile("/work/shared/realworld/hive_metastore.thrift")
	for b.Loop() {
		parse(string(src))
	}
}
