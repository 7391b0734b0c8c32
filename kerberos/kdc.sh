#!/usr/bin/env bash
# Runs a command beside a KDC (MIT's krb5kdc) that serves the realm TEST.EXAMPLE on a free port of
# 127.0.0.1:
#
#     ./kdc.sh COMMAND [ARGUMENT...]
#
# It needs no root. Debian has the programs in krb5-kdc, krb5-admin-server and krb5-user. Its files
# are in a temporary folder, which is removed in the end. The command has their paths:
#
#     KRB5_CONFIG             the configuration for clients; KRB5CCNAME is a cache that does not exist
#     NOCOPY_KDC              the folder
#     NOCOPY_KDC/client.keytab   the keys of ada
#     NOCOPY_KDC/server.keytab   those of store/localhost, hive/localhost and HTTP/localhost
#     NOCOPY_KDC/old.keytab      keys of the server that the KDC has replaced
#     NOCOPY_KDC/kdc.pid         the process of the KDC
#
# It also serves the realm OTHER.EXAMPLE, which trusts TEST.EXAMPLE and has store/far.test.
#
# The password of ada is "secret".
set -euo pipefail
[ $# -gt 0 ] || { echo "usage: $0 COMMAND [ARGUMENT...]" >&2; exit 2; }
PATH=$PATH:/usr/sbin:/sbin
for tool in krb5kdc kdb5_util kadmin.local; do
	command -v $tool >/dev/null || { echo "$0: no $tool: apt install krb5-kdc krb5-admin-server krb5-user" >&2; exit 3; }
done
dir=$(mktemp -d)
kdc=
trap '[ -z "$kdc" ] || { kill "$kdc" 2>/dev/null || true; wait "$kdc" 2>/dev/null || true; }; rm -rf "$dir"' EXIT

free_port() { # a port on which nothing listens
	local port
	while :; do
		port=$((20000 + RANDOM % 12000))
		(exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null || break
	done
	echo $port
}

configure() { # configure PORT
	cat >"$dir/krb5.conf" <<-CONF
		[libdefaults]
		  default_realm = TEST.EXAMPLE
		  dns_lookup_realm = false
		  dns_lookup_kdc = false
		  rdns = false
		  dns_canonicalize_hostname = false
		  udp_preference_limit = 1
		  permitted_enctypes = aes256-cts-hmac-sha1-96 aes128-cts-hmac-sha1-96
		  default_tkt_enctypes = aes256-cts-hmac-sha1-96 aes128-cts-hmac-sha1-96
		  default_tgs_enctypes = aes256-cts-hmac-sha1-96 aes128-cts-hmac-sha1-96
		[realms]
		  TEST.EXAMPLE = {
		    kdc = 127.0.0.1:$1
		  }
		  OTHER.EXAMPLE = {
		    kdc = 127.0.0.1:$1
		  }
		[domain_realm]
		  localhost = TEST.EXAMPLE
		  far.test = OTHER.EXAMPLE
	CONF
	cat >"$dir/kdc.conf" <<-CONF
		[kdcdefaults]
		  kdc_listen = 127.0.0.1:$1
		  kdc_tcp_listen = 127.0.0.1:$1
		[realms]
		  TEST.EXAMPLE = {
		    database_name = $dir/principal
		    key_stash_file = $dir/stash
		    acl_file = $dir/acl
		    max_life = 10h
		    max_renewable_life = 7d
		    master_key_type = aes256-cts-hmac-sha1-96
		    supported_enctypes = aes256-cts-hmac-sha1-96:normal aes128-cts-hmac-sha1-96:normal
		  }
		  OTHER.EXAMPLE = {
		    database_name = $dir/other
		    key_stash_file = $dir/otherstash
		    acl_file = $dir/acl
		    master_key_type = aes256-cts-hmac-sha1-96
		    supported_enctypes = aes256-cts-hmac-sha1-96:normal aes128-cts-hmac-sha1-96:normal
		  }
		[logging]
		  kdc = FILE:$dir/kdc.log
	CONF
}

export KRB5_CONFIG=$dir/krb5.conf KRB5_KDC_PROFILE=$dir/kdc.conf KRB5CCNAME=FILE:$dir/cache KRB5RCACHENAME=none: NOCOPY_KDC=$dir
configure 1
for realm in TEST OTHER; do
	kdb5_util create -s -r $realm.EXAMPLE -P master >>"$dir/log" 2>&1 || { cat "$dir/log" >&2; exit 1; }
done
server="store/localhost hive/localhost HTTP/localhost"
{
	echo "addprinc -pw secret ada"
	echo "addprinc -pw trust krbtgt/OTHER.EXAMPLE@TEST.EXAMPLE"
	for principal in $server; do echo "addprinc -randkey $principal"; done
	for principal in $server; do echo "ktadd -k $dir/old.keytab $principal"; done
	for principal in $server; do echo "ktadd -k $dir/server.keytab $principal"; done
	echo "ktadd -norandkey -k $dir/client.keytab ada"
} | kadmin.local -r TEST.EXAMPLE >>"$dir/log" 2>&1 || { cat "$dir/log" >&2; exit 1; }
printf '%s\n' "addprinc -pw trust krbtgt/OTHER.EXAMPLE@TEST.EXAMPLE" "addprinc -randkey store/far.test" |
	kadmin.local -r OTHER.EXAMPLE >>"$dir/log" 2>&1 || { cat "$dir/log" >&2; exit 1; }

answers() { (exec 3<>/dev/tcp/127.0.0.1/"$1") 2>/dev/null; }

for attempt in 1 2 3 4 5; do
	port=$(free_port)
	configure "$port"
	krb5kdc -n -r TEST.EXAMPLE -r OTHER.EXAMPLE >>"$dir/log" 2>&1 &
	kdc=$!
	for ((i = 0; i < 600; i++)); do
		kill -0 $kdc 2>/dev/null || break
		if answers "$port"; then
			echo $kdc >"$dir/kdc.pid"
			"$@"
			exit
		fi
		sleep 0.1
	done
	kill $kdc 2>/dev/null || true
done
cat "$dir/log" "$dir/kdc.log" >&2
exit 1
