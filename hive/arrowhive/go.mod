module github.com/nocopythrift/nocopythrift/hive/arrowhive

go 1.26.0

require (
	github.com/apache/arrow-go/v18 v18.7.0
	github.com/nocopythrift/nocopythrift v1.0.0-rc.1
	github.com/nocopythrift/nocopythrift/hive v1.0.0-rc.1
)

require (
	github.com/go-json-experiment/json v1.27.2 // indirect
	github.com/goccy/go-json v0.10.6 // indirect
	github.com/google/flatbuffers v25.12.19+incompatible // indirect
	github.com/klauspost/cpuid/v2 v2.4.0 // indirect
	github.com/zeebo/xxh3 v1.1.0 // indirect
	golang.org/x/exp v0.0.0-20260112195511-716be5621a96 // indirect
	golang.org/x/sys v0.47.0 // indirect
)
