#!/usr/bin/env bash
# Tests logins and calls between Apache's library for Java and this module, beside a real KDC:
#
#     ./java.sh [FLAG OF go test...]
#
# Needs Java, Maven and what kdc.sh needs. The first run downloads libthrift.
set -euo pipefail
cd "$(dirname "$0")"
built=$(../interop/setup.sh java "${XDG_CACHE_HOME:-$HOME/.cache}/nocopythrift/interop")
classes=$(mktemp -d)
trap 'rm -rf "$classes"' EXIT
javac -nowarn -d "$classes" -cp "$built/lib/*" java/Peer.java
NOCOPY_KERBEROS_JAVA="$classes:$built/lib/*" ./kdc.sh go test -count=1 -run '^TestJava$' "$@" .
