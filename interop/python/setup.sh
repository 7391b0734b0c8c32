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
# The library's version is part of the mark that an earlier run leaves, which is made last.
mark=$dir/installed-$(tr -c 'a-z0-9.\n' '-' <"$here/requirements.txt")

if [ ! -e "$mark" ]; then
	if ! command -v python3 >/dev/null || ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
		echo "no Python 3 with the module venv" >&2
		exit 3
	fi
	python3 -m venv --clear "$dir" >&2
	if ! "$python" -m pip --disable-pip-version-check --quiet install --retries 1 -r "$here/requirements.txt" >&2; then
		echo "pip could not install $(cat "$here/requirements.txt")" >&2
		exit 4
	fi
	: >"$mark"
fi
echo "$python"
