#!/bin/sh
# Makes the folders of generated code of a version that is about to be released:
# gen/internal/released/VERSION and kitex/internal/released/VERSION. They are never written again.
set -eu
cd "$(dirname "$0")/.."
version=${1:?usage: gen/freeze.sh vX.Y.Z}
case $version in v[1-9]*.*.*) ;; *)
	echo "$version is not a version from v1.0.0 on"
	exit 1
	;;
esac
folder=gen/internal/released/$version
kitex=kitex/internal/released/$version
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
mkdir -p "$kitex/idl"
cp kitex/internal/shop/shop.thrift "$kitex/idl"
(cd "$kitex/idl" && "$bin/nocopyc" -kitex -fields -reflect -o .. -package-prefix "$module/$kitex" shop.thrift)

# The tests: those of the code in gen/internal, and those that hand messages to the head.
frozen() { # frozen FILE TO: writes a file of tests with other imports
	sed -e "s/^package .*/package released_test/" -e "s/VERSION/$version/" \
		-e "s#\"$module/gen/internal/\(services\|services/parent\|shapes\|rules\|rules/other\)\"#\"$module/$folder/fields/\1\"#" "$1" >"$2"
}
frozen gen/internal/services/services_test.go "$folder/services_test.go"
sed "s/VERSION/$version/" gen/internal/released/template/handing_test.go.txt >"$folder/handing_test.go"
sed "s/VERSION/$version/" gen/internal/released/template/kitex_test.go.txt >"$kitex/handing_test.go"
gofmt -w "$folder"/*_test.go "$kitex"/*_test.go

for f in "$folder" "$kitex"; do
	(cd "$f" && find . -type f ! -name sums.txt | LC_ALL=C sort | sed 's|^\./||' | xargs sha256sum >sums.txt)
done
go test -C gen/internal -vet=off "./released/$version"
go test -C kitex -vet=off "./internal/released/$version"
echo "made $folder and $kitex: commit them"
