#!/bin/sh
# Makes a virtual environment with Apache Thrift's Python library and prints the path of its interpreter.
#
#	setup.sh DIR
#
# A directory that has one already is used as it is. Exit codes: 3, there is no Python 3 with venv; 4, the library could not be installed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:?"usage: setup.sh DIR"}
python=$dir/bin/python
mark=installed-$(tr -c 'a-z0-9.\n' '-' <"$here/requirements.txt")

usable() { [ -e "$dir/$mark" ] && "$python" -B -c 'import thrift' 2>/dev/null; }

if ! usable; then
	if ! command -v python3 >/dev/null || ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
		echo "no Python 3 with the module venv" >&2
		exit 3
	fi
	# Made elsewhere and moved when complete, since several tests may be at it at the same time.
	new=$dir.$$
	trap 'rm -rf "$new"' EXIT
	python3 -m venv "$new" >&2
	if ! "$new/bin/python" -m pip --disable-pip-version-check --quiet install --retries 1 -r "$here/requirements.txt" >&2; then
		echo "pip could not install $(cat "$here/requirements.txt")" >&2
		exit 4
	fi
	: >"$new/$mark"
	if ! usable; then
		rm -rf "$dir"
		mv "$new" "$dir"
	fi
fi
echo "$python"
