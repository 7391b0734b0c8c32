"""Reads what nocopy has recorded and called for storm.sh:

    storm.py show                     prints the inputs of the topology on standard input as
                                      storm/Referee.java does
    storm.py again FILE NAME JAR      prints the arguments of the recorded submitTopology, with
                                      another name and jar
    storm.py text [KEY]               prints the text, or the one at a key, on standard input
"""
import json
import sys


def show():
    topology = json.load(sys.stdin)
    for name, bolt in sorted(topology["bolts"].items()):
        inputs = bolt["common"]["inputs"]  # its keys are structs: a list of pairs
        for stream, grouping in sorted(inputs, key=lambda pair: (pair[0]["componentId"], pair[0]["streamId"])):
            (kind, v), = grouping.items()
            print(name, stream["componentId"], stream["streamId"], (kind + " " + ",".join(v)) if kind == "fields" else kind, sep=" / ")


def again(path, name, jar):
    with open(path) as lines:
        args = next(call["args"] for call in map(json.loads, lines) if call["method"].endswith("submitTopology"))
    print(json.dumps(args | {"name": name, "uploadedJarLocation": jar}))


def text(*keys):
    value = json.load(sys.stdin)
    for key in keys:
        value = value[key]
    print(value)


{"show": show, "again": again, "text": text}[sys.argv[1]](*sys.argv[2:])
