#!/usr/bin/env bash
# Runs a command beside HiveServer2 3.1.3, or its metastore:
#
#     ./hive.sh [-kerberos QOP] [-nosasl] [-http] [-zookeeper] COMMAND [ARGUMENT...]
#     ./hive.sh [-kerberos QOP] -metastore [-tls] COMMAND [ARGUMENT...]
#
# The server is in a network namespace of its own that has a loopback interface and nothing else,
# whatever it listens on. The command runs in it, too, and has the server's address in
# NOCOPY_HIVE_DSN. The server takes any user by SASL PLAIN; with -nosasl it needs no login. With
# -kerberos, the first option, it wants a login by Kerberos with a QOP such as auth-conf, beside the
# KDC of ../kerberos/kdc.sh; the command has ada's keytab in KRB5_CLIENT_KTNAME. With
# -http it speaks HTTP. With -zookeeper it registers in a ZooKeeper 3.9.4, where the address in
# NOCOPY_HIVE_DSN finds it. With -metastore there is no HiveServer2, but the metastore's own service,
# whose address is in NOCOPY_METASTORE; with -tls it wants TLS, too, and whom to trust is in the file
# NOCOPY_METASTORE_CA. Metastore (Derby) and files are in a temporary folder, which stays; the
# log is hive.log there. Statements that need a MapReduce job, such as INSERT and ORDER BY, fail: Hive 3's
# plans can't be serialized on Java 17.
#
# The first run downloads the server with Maven (minutes). Java 17 is needed, and root, or the right
# to make namespaces.
set -euo pipefail
version=3.1.3 zookeeper_version=3.9.4
cache=${XDG_CACHE_HOME:-$HOME/.cache}/nocopythrift/hive
home=$cache/hive-$version
zookeeper_home=$cache/zookeeper-$zookeeper_version

project='<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>1</version><dependencies>'
dependency() { echo "<dependency><groupId>$1</groupId><artifactId>$2</artifactId><version>$3</version><exclusions>${4:-}</exclusions></dependency>"; }

download_zookeeper() { # download_zookeeper FOLDER: the jars in FOLDER
	cd "$1"
	{
		echo "$project"
		dependency org.apache.zookeeper zookeeper $zookeeper_version
		dependency io.dropwizard.metrics metrics-core 4.1.12.1
		dependency org.xerial.snappy snappy-java 1.1.10.5
		echo '</dependencies></project>'
	} >pom.xml
	mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies -DoutputDirectory=.
}

download() { # download FOLDER: the server's jars in FOLDER/lib, and a class loader in FOLDER/loader
	mkdir -p "$1/lib" "$1/loader"
	cd "$1"
	exclusion() { echo "<exclusion><groupId>$1</groupId><artifactId>$2</artifactId></exclusion>"; }
	{
		echo "$project"
		dependency org.apache.hive hive-service $version "$(exclusion org.apache.hbase '*')$(exclusion org.pentaho '*')$(exclusion org.apache.calcite.avatica '*')$(exclusion org.apache.logging.log4j log4j-slf4j-impl)"
		for name in hadoop-common hadoop-mapreduce-client-core hadoop-mapreduce-client-common hadoop-mapreduce-client-jobclient hadoop-yarn-api hadoop-yarn-common; do
			dependency org.apache.hadoop $name 3.1.0
		done
		dependency org.apache.tez tez-api 0.9.1 "$(exclusion '*' '*')"
		dependency com.lmax disruptor 3.3.7
		dependency com.google.guava guava 19.0
		dependency org.slf4j slf4j-log4j12 1.7.25
		dependency org.apache.calcite.avatica avatica 1.12.0 "$(exclusion '*' '*')"
		echo '</dependencies></project>'
	} >pom.xml
	mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies -DoutputDirectory=lib
	# Hive 3 asks for the system's class loader to be a URLClassLoader, which Java 17's is not.
	cat >Loader.java <<-'JAVA'
		import java.io.File;
		import java.net.URL;
		import java.net.URLClassLoader;
		import java.util.ArrayList;
		import java.util.List;

		public class Loader extends URLClassLoader {
			public Loader(ClassLoader parent) throws Exception {
				super(urls(), parent.getParent());
			}

			private static URL[] urls() throws Exception {
				List<URL> urls = new ArrayList<>();
				for (String path : System.getProperty("loader.path").split(":")) {
					urls.add(new File(path).toURI().toURL());
					for (String name : new File(path).list()) {
						if (name.endsWith(".jar")) {
							urls.add(new File(path, name).toURI().toURL());
						}
					}
				}
				return urls.toArray(new URL[0]);
			}
		}
	JAVA
	javac -d loader Loader.java
}

if [ -z "${NOCOPY_HIVE_INSIDE:-}" ]; then
	fetch() { # fetch FOLDER COMMAND: the folder, which the command fills if there is none
		[ ! -d "$1" ] || return 0
		mkdir -p "$cache"
		work=$(mktemp -d "$cache/download-XXXXXX")
		trap 'rm -rf "$work"' EXIT
		("$2" "$work" >&2)
		mv "$work" "$1"
		trap - EXIT
	}
	fetch "$home" download
	case " $* " in *" -zookeeper "*) fetch "$zookeeper_home" download_zookeeper ;; esac
	user=
	[ "$(id -u)" = 0 ] || user=-r
	NOCOPY_HIVE_INSIDE=1 exec unshare $user -n bash "$0" "$@"
fi
ip link set lo up
if [ "${1:-}" = -kerberos ] && [ -z "${NOCOPY_KDC:-}" ]; then
	exec "$(dirname "$0")/../kerberos/kdc.sh" bash "$0" "$@"
fi

login=NONE mode=binary query='auth=PLAIN' port=10000 zookeeper= qop= host=127.0.0.1 who=tester:secret@
metastore= tls=false service=org.apache.hive.service.server.HiveServer2
while [ $# -gt 0 ]; do
	case $1 in
	-kerberos) login=KERBEROS qop=${2:?} query="auth=KERBEROS&saslQop=$2" host=localhost who=; shift ;;
	-nosasl) login=NOSASL query='auth=NOSASL' ;;
	-http) mode=http query="transport=http${qop:+&auth=KERBEROS}" ;;
	-zookeeper) zookeeper=2181 ;;
	-metastore) metastore=yes port=9083 service=org.apache.hadoop.hive.metastore.HiveMetaStore ;;
	-tls) tls=true ;;
	-*) echo "$0: no option $1" >&2; exit 2 ;;
	*) break ;;
	esac
	shift
done
[ $# -gt 0 ] || { echo "usage: $0 [-kerberos QOP] [-nosasl] [-http] [-zookeeper] [-metastore [-tls]] COMMAND [ARGUMENT...]" >&2; exit 2; }

dir=$(mktemp -d)
mkdir -m 777 "$dir/conf" "$dir/warehouse" "$dir/scratch" "$dir/local"
property() { echo "<property><name>$1</name><value>$2</value></property>"; }
{
	echo '<configuration>'
	property javax.jdo.option.ConnectionURL "jdbc:derby:;databaseName=$dir/metastore;create=true"
	property javax.jdo.option.ConnectionDriverName org.apache.derby.jdbc.EmbeddedDriver
	property hive.metastore.warehouse.dir "file://$dir/warehouse"
	property hive.exec.scratchdir "file://$dir/scratch"
	property hive.exec.local.scratchdir "$dir/local"
	property fs.defaultFS file:///
	property hive.metastore.schema.verification false
	property datanucleus.schema.autoCreateAll true
	property hive.metastore.event.db.notification.api.auth false
	property hive.server2.authentication $login
	property hive.server2.transport.mode $mode
	property hive.server2.thrift.bind.host 127.0.0.1
	property hive.server2.thrift.port $port
	property hive.server2.thrift.http.port $port
	property hive.server2.webui.port 0
	property hive.server2.enable.doAs false
	property hive.execution.engine mr
	property mapreduce.framework.name local
	property hive.server2.tez.initialize.default.sessions false
	property hive.security.authorization.enabled false
	if [ -n "$qop" ]; then
		property hadoop.security.authentication kerberos
		property hadoop.security.auth_to_local DEFAULT
		property hive.server2.thrift.sasl.qop "$qop"
		property hive.server2.authentication.kerberos.principal hive/localhost@TEST.EXAMPLE
		property hive.server2.authentication.kerberos.keytab "$NOCOPY_KDC/server.keytab"
		property hive.server2.authentication.spnego.principal HTTP/localhost@TEST.EXAMPLE
		property hive.server2.authentication.spnego.keytab "$NOCOPY_KDC/server.keytab"
		property hadoop.rpc.protection "$(echo "$qop" | sed 's/auth-int/integrity/; s/auth-conf/privacy/; s/auth$/authentication/')"
	fi
	if [ -n "$metastore" ]; then
		property hive.metastore.sasl.enabled "$([ -n "$qop" ] && echo true || echo false)"
		property hive.metastore.kerberos.principal hive/localhost@TEST.EXAMPLE
		property hive.metastore.kerberos.keytab.file "${NOCOPY_KDC:-}/server.keytab"
		property hive.metastore.use.SSL $tls
		property hive.metastore.keystore.path "$dir/keys"
		property hive.metastore.keystore.password secret
	fi
	if [ -n "$zookeeper" ]; then
		property hive.server2.support.dynamic.service.discovery true
		property hive.zookeeper.quorum 127.0.0.1
		property hive.zookeeper.client.port $zookeeper
	fi
	echo '</configuration>'
} >"$dir/conf/hive-site.xml"
[ -z "$qop" ] || cp "$dir/conf/hive-site.xml" "$dir/conf/core-site.xml" # Hadoop reads that one
cat >"$dir/conf/log4j.properties" <<-'LOG'
	log4j.rootLogger=WARN, err
	log4j.appender.err=org.apache.log4j.ConsoleAppender
	log4j.appender.err.target=System.err
	log4j.appender.err.layout=org.apache.log4j.PatternLayout
	log4j.appender.err.layout.ConversionPattern=%d %p %c: %m%n
LOG
running=()
stop() {
	for pid in "${running[@]}"; do
		kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true
	done
}
trap stop EXIT
await() { # await PORT PID LOG: until something listens there, unless the process ends
	for ((i = 0; ; i++)); do
		if (exec 3<>/dev/tcp/127.0.0.1/$1) 2>/dev/null; then break; fi
		if ! kill -0 $2 2>/dev/null || [ $i -gt 600 ]; then
			tail -20 "$3" >&2
			exit 1
		fi
		sleep 0.5
	done
}
if [ -n "$zookeeper" ]; then
	java -Xmx256m -Dzookeeper.admin.enableServer=false -cp "$zookeeper_home/*" \
		org.apache.zookeeper.server.ZooKeeperServerMain $zookeeper "$dir/zookeeper" >"$dir/zookeeper.log" 2>&1 &
	running+=($!)
	await $zookeeper $! "$dir/zookeeper.log"
fi
if [ $tls = true ]; then
	keytool -genkeypair -keystore "$dir/keys" -storepass secret -alias metastore -keyalg EC -dname CN=localhost -ext san=dns:localhost,ip:127.0.0.1 2>"$dir/keytool.log"
	keytool -exportcert -rfc -keystore "$dir/keys" -storepass secret -alias metastore >"$dir/ca.pem" 2>>"$dir/keytool.log"
fi
opens=
for p in java.lang java.lang.reflect java.net java.util java.util.concurrent java.io java.nio java.util.regex java.util.concurrent.atomic java.time; do
	opens="$opens --add-opens=java.base/$p=ALL-UNNAMED"
done
opens="$opens --add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED --add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED"
(
	cd "$dir"
	export HADOOP_HOME=$dir HIVE_SERVER2_THRIFT_BIND_HOST=127.0.0.1
	exec java ${qop:+-Djava.security.krb5.conf=$KRB5_CONFIG} -Xmx${NOCOPY_HIVE_MEMORY:-2g} $opens -Dderby.system.home="$dir" -Djava.system.class.loader=Loader -Dloader.path="$dir/conf:$home/lib" \
		-cp "$home/loader:$dir/conf:$home/lib/*" $service ${metastore:+-p $port}
) >"$dir/hive.log" 2>&1 &
running+=($!)
await $port $! "$dir/hive.log"
if ip -o link show | grep -qv ': lo:'; then
	echo "$0: the namespace has other interfaces than lo" >&2
	exit 1
fi
echo "${service##*.} $version answers; its log is $dir/hive.log; it listens on:" >&2
ss -Hltn >&2
[ -z "$zookeeper" ] || port=$zookeeper query="$query&discovery=zookeeper"
[ -z "$qop" ] || export KRB5_CLIENT_KTNAME=$NOCOPY_KDC/client.keytab
if [ -n "$metastore" ]; then
	if [ $tls = true ]; then export NOCOPY_METASTORE_CA=$dir/ca.pem; fi
	NOCOPY_METASTORE=$host:$port "$@"
	exit
fi
NOCOPY_HIVE_DSN="hive://$who$host:$port/?$query" NOCOPY_HIVE_SERVER=hive "$@"
