module github.com/nocopythrift/nocopythrift/hive/bench

go 1.26.0

require (
	github.com/apache/arrow-go/v18 v18.7.0
	github.com/apache/thrift v0.25.0
	github.com/beltran/gohive/v2 v2.1.0
	github.com/jmoiron/sqlx v1.4.0
	github.com/nocopythrift/nocopythrift v1.0.0-rc.1
	github.com/nocopythrift/nocopythrift/hive v1.0.0-rc.1
	github.com/nocopythrift/nocopythrift/hive/arrowhive v1.0.0-rc.1
	gorm.io/gorm v1.31.1
)

require (
	github.com/beltran/gosasl v1.0.0 // indirect
	github.com/beltran/gssapi v0.0.0-20200324152954-d86554db4bab // indirect
	github.com/go-json-experiment/json v1.27.2 // indirect
	github.com/goccy/go-json v0.10.6 // indirect
	github.com/google/flatbuffers v25.12.19+incompatible // indirect
	github.com/jinzhu/inflection v1.0.0 // indirect
	github.com/jinzhu/now v1.1.5 // indirect
	github.com/klauspost/cpuid/v2 v2.4.0 // indirect
	github.com/pkg/errors v0.9.1 // indirect
	github.com/zeebo/xxh3 v1.1.0 // indirect
	golang.org/x/exp v0.0.0-20260112195511-716be5621a96 // indirect
	golang.org/x/net v0.55.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
	golang.org/x/text v0.37.0 // indirect
)
