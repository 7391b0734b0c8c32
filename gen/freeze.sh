#!/bin/sh
# Makes the folders of generated code of a version that is about to be released:
# gen/internal/released/VERSION and kitex/internal/released/VERSION. They are never written again
# once the version has its tag. Until then, gen/freeze.sh VERSION again replaces them.
set -eu
cd "$(dirname "$0")/.."
version=${1:?usage: gen/freeze.sh vX.Y.Z [again]}
case $version in v[1-9]*.*.*) ;; *)
	echo "$version is not a version from v1.0.0 on"
	exit 1
	;;
esac
folder=gen/internal/released/$version
kitex=kitex/internal/released/$version
if [ "${2-}" = again ] && ! git rev-parse -q --verify "refs/tags/$version" >/dev/null; then
	rm -rf "$folder" "$kitex"
fi
for f in "$folder" "$kitex"; do
	if [ -e "$f" ]; then
		echo "$f exists: code of a released version is not written again"
		exit 1
	fi
done
grep -q "^const Version = \"$version\"" gen/golang/emit.go ||
	echo "warning: the code will say $(sed -n 's/^const Version = //p' gen/golang/emit.go), not $version: that stands in gen/golang/emit.go"

module=github.com/nocopythrift/nocopythrift
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go build -o "$bin/nocopyc" ./gen/nocopyc

# The IDL, and the code.
for f in shapes/shapes services/services services/parent rules/rules rules/other wide/wide; do
	mkdir -p "$folder/idl/$(dirname $f)"
	cp "gen/internal/$f.thrift" "$folder/idl/$f.thrift"
done
make_in() { # make_in FOLDER ARGUMENTS...: runs nocopyc for all of them
	to=$1
	shift
	mkdir -p "$folder/$to"
	(cd "$folder/idl" && "$bin/nocopyc" "$@" -o "../$to" -package-prefix "$module/$folder/$to" \
		shapes/shapes.thrift services/services.thrift services/parent.thrift rules/rules.thrift rules/other.thrift wide/wide.thrift)
}
make_in fields -fields -reflect
make_in golint -fields -reflect -golint
for f in shop/shop market/market; do
	mkdir -p "$kitex/idl/$(dirname $f)"
	cp "kitex/internal/$f.thrift" "$kitex/idl/$f.thrift"
done
(cd "$kitex/idl" && "$bin/nocopyc" -kitex -fields -reflect -o .. -package-prefix "$module/$kitex" \
	shop/shop.thrift market/market.thrift)

# The tests: those of the code in gen/internal, and those that hand messages to the head.
frozen() { # frozen FILE TO: writes a file of tests with other imports
	sed -e "s/^package .*/package released_test/" -e "s/VERSION/$version/" \
		-e "s#\"$module/gen/internal/\(services\|services/parent\|shapes\|rules\|rules/other\)\"#\"$module/$folder/fields/\1\"#" "$1" >"$2"
}
frozen gen/internal/services/services_test.go "$folder/services_test.go"
for f in handing features; do
	sed "s/VERSION/$version/" gen/internal/released/template/${f}_test.go.txt >"$folder/${f}_test.go"
done
sed "s/VERSION/$version/" gen/internal/released/template/kitex_test.go.txt >"$kitex/handing_test.go"
gofmt -w "$folder"/*_test.go "$kitex"/*_test.go

for f in "$folder" "$kitex"; do
	(cd "$f" && find . -type f ! -name sums.txt | LC_ALL=C sort | sed 's|^\./||' | xargs sha256sum >sums.txt)
done
go test -C gen/internal -vet=off "./released/$version"
go test -C kitex -vet=off "./internal/released/$version"
echo "made $folder and $kitex: commit them"
