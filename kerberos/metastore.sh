#!/usr/bin/env bash
# Tests logins and calls of package rpc and of the tool at a real Hive Metastore in Kerberos mode,
# with each quality of protection, and with TLS:
#
#     ./metastore.sh [FLAG OF go test...]
#
# Needs what ../hive/hive.sh needs, and kdc.sh.
set -euo pipefail
cd "$(dirname "$0")/../cmd/nocopy"
for mode in auth auth-int auth-conf "auth -tls"; do
	read -r qop tls <<<"$mode"
	NOCOPY_METASTORE_QOP=$qop ../../hive/hive.sh -kerberos "$qop" -metastore $tls \
		go test -count=1 -run "^TestRealMetastore" "$@" .
	echo "$mode: ok"
done
