#!/bin/sh
# Builds the programs in another language, and prints the path of the directory that has them:
# "server" and "client".
#
#	setup.sh java|node|rust|cpp CACHE
#
# CACHE is a directory, which is made; programs that were built there from the same sources are
# used again. What is downloaded has exact versions, which LANGUAGE/build.sh and the files beside
# it name. Exit codes: 3, a tool is missing; 4, a download failed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
language=${1:?"usage: setup.sh LANGUAGE CACHE"}
cache=${2:?"usage: setup.sh LANGUAGE CACHE"}
cd "$here"
apache=$(go list -m -f '{{.Dir}}' github.com/apache/thrift)
release=$(go list -m -f '{{.Version}}' github.com/apache/thrift | tr -d v)

sum=$(cat setup.sh wide.thrift "$language"/*.* reflection/*.* "$apache/test/ThriftTest.thrift" | cksum | cut -d' ' -f1)
built=$cache/$language-$sum
if [ -e "$built/client" ]; then
	echo "$built"
	exit
fi

mkdir -p "$cache"
work=$(mktemp -d "$cache/new-$language-XXXXXX")
trap 'rm -rf "$work"' EXIT

missing() {
	echo "$language: $*" >&2
	exit 3
}

unavailable() {
	echo "$language: $*" >&2
	exit 4
}

need() {
	for tool; do
		command -v "$tool" >/dev/null || missing "no $tool"
	done
}

# compiler prints the path of the Thrift compiler of the same release as the Apache Thrift module;
# it builds the one in the module unless the installed one is of that release.
compiler() {
	if [ "$(thrift --version 2>/dev/null)" = "Thrift version $release" ]; then
		command -v thrift
		return
	fi
	bin=$cache/thrift-$release
	if [ ! -x "$bin" ]; then
		need cmake flex bison g++
		echo "$language: building Thrift's compiler $release (a minute)" >&2
		cmake -S "$apache/compiler/cpp" -B "$work/compiler" >"$work/log" 2>&1 &&
			cmake --build "$work/compiler" -j 2 >>"$work/log" 2>&1 || {
			tail -n 20 "$work/log" >&2
			exit 1
		}
		mv "$work/compiler/bin/thrift" "$bin"
		rm -rf "$work/compiler"
	fi
	echo "$bin"
}

# generate runs a compiler, with --gen's argument, on both IDL files; the code is written to
# $work/gen.
generate() {
	mkdir -p "$work/gen"
	for idl in "$apache/test/ThriftTest.thrift" "$here/wide.thrift"; do
		"$1" -nowarn -out "$work/gen" --gen "$2" "$idl" >&2
	done
}

. "./$language/build.sh"

# The directory stays where it is moved to, unless another run was faster; what was built from
# older sources goes.
chmod +x "$work/server" "$work/client"
if [ ! -e "$built" ]; then
	rm -rf "$cache/$language-"[0-9]*
	mv "$work" "$built"
fi
echo "$built"
