#!/bin/sh
# Makes the virtual environment that TestPyarrow runs in: pyarrow in the user's cache directory.
set -eu
dir=${XDG_CACHE_HOME:-$HOME/.cache}/nocopythrift/pyarrow
python3 -m venv "$dir"
"$dir/bin/python" -m pip --disable-pip-version-check --quiet install pyarrow==26.0.1
"$dir/bin/python" -c 'import pyarrow; print("pyarrow", pyarrow.__version__)'
