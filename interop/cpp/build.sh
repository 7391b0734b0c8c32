# C++: the installed library, by Debian's packages libthrift-dev, libevent-dev, libboost-dev and
# thrift-compiler. Its compiler must be of the same release. Read by ../setup.sh.
need g++ pkg-config thrift
installed=$(pkg-config --modversion thrift-nb 2>/dev/null) || missing "no libthrift-dev"
[ "$(thrift --version)" = "Thrift version $installed" ] || missing "the library is $installed, the compiler $(thrift --version)"
echo '#include <boost/version.hpp>
#include <event.h>' | g++ -E - >/dev/null 2>&1 || missing "no libevent-dev, or no libboost-dev"
# Releases before 0.18 know no uuid.
mkdir "$work/idl" "$work/gen"
if grep -q uuid /usr/include/thrift/protocol/TBinaryProtocol.h 2>/dev/null; then
	cp "$apache/test/ThriftTest.thrift" "$work/idl"
else
	sed '/uuid/d' "$apache/test/ThriftTest.thrift" >"$work/idl/ThriftTest.thrift"
fi
for idl in "$work/idl/ThriftTest.thrift" "$here/wide.thrift"; do
	thrift -nowarn -out "$work/gen" --gen cpp "$idl" >&2
done
rm "$work/gen/"*skeleton.cpp
echo "cpp: compiling (a minute)" >&2
for source in "$work/gen/"*.cpp "$here/cpp/"*.cpp; do
	echo "$source"
done | xargs -P 2 -I SOURCE sh -c 'g++ -std=c++14 -O0 -w -I "$1/gen" -I "$2/reflection" -c "$3" -o "$1/$(basename "$3").o"' sh "$work" "$here" SOURCE
g++ -o "$work/server" "$work/server.cpp.o" "$work/less.cpp.o" "$work/"*Service.cpp.o "$work/ThriftTest"*.o -lthriftnb -lthriftz -lthrift -lz -levent -lpthread
g++ -o "$work/client" "$work/client.cpp.o" "$work/less.cpp.o" "$work/"*Service.cpp.o "$work/ThriftTest"*.o "$work/"[Ww]ide*.o -lthriftz -lthrift -lz -lpthread
rm "$work/"*.o
