"""Fits the verifier's trees with LightGBM. Started by train.ts: `python3 fit-trees.py DIRECTORY COLUMNS`.

Reads `names.json`, the names of the numbers; `numbers.f32`, the rows, of whose numbers the first COLUMNS are used; `labels.u8`; `weights.f32`; and `trained.u8`, whose bit k is set if
model k is trained on a row. Writes `log-odds.f64`, those of every row by every model, and `trees.json`, the last model.
"""

import json
import sys
from pathlib import Path

VERSION = "4.7.0"
INSTALL = f"train-verifier needs Python 3 with numpy and LightGBM {VERSION}: pip install numpy lightgbm=={VERSION}"
try:
    import lightgbm
    import numpy
except ImportError as error:
    sys.exit(f"{error}. {INSTALL}")
if lightgbm.__version__ != VERSION:
    sys.exit(f"found LightGBM {lightgbm.__version__}. {INSTALL}")

TREES = 400
PARAMETERS = {
    "objective": "binary",
    "num_leaves": 127,
    "learning_rate": 0.1,
    "min_data_in_leaf": 30,
    "feature_fraction": 0.4,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 10,
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "seed": 7,
    "verbose": -1,
}


def main(directory, columns):
    names = json.loads((directory / "names.json").read_text())
    numbers = numpy.fromfile(directory / "numbers.f32", numpy.float32).reshape(-1, len(names))
    numbers = numbers[:, :columns].astype(numpy.float64)
    labels = numpy.fromfile(directory / "labels.u8", numpy.uint8)
    weights = numpy.fromfile(directory / "weights.f32", numpy.float32)
    trained = numpy.fromfile(directory / "trained.u8", numpy.uint8)
    models = int(trained.max()).bit_length()
    log_odds = numpy.empty((models, len(labels)))
    for model in range(models):
        rows = (trained >> model) & 1 == 1
        data = lightgbm.Dataset(numbers[rows], labels[rows], weight=weights[rows])
        booster = lightgbm.train(PARAMETERS, data, num_boost_round=TREES)
        log_odds[model] = booster.predict(numbers, raw_score=True)
        print(f"model {model + 1} of {models}: {rows.sum()} rows", file=sys.stderr, flush=True)
    log_odds.tofile(directory / "log-odds.f64")
    (directory / "trees.json").write_text(json.dumps(export(booster, names, numbers)))


def export(booster, names, numbers):
    """Returns the trees in the form that trees.ts reads, and the names of the numbers that they use."""
    values = [numpy.unique(column) for column in numbers.T]
    trees = [flatten(tree["tree_structure"], values) for tree in booster.dump_model()["tree_info"]]
    used = sorted({column for tree in trees for column in tree["feature"]})
    position = {column: at for at, column in enumerate(used)}
    for tree in trees:
        tree["feature"] = [position[column] for column in tree["feature"]]
    return {"features": [names[column] for column in used], "trees": trees}


def flatten(root, values):
    tree = {name: [] for name in ("feature", "threshold", "left", "right", "mean", "leaf")}

    def add(node):
        """Adds the node and those below it. Returns its number, its sum of leaf values, and its count."""
        if "leaf_value" in node:
            tree["leaf"].append(round(node["leaf_value"], 6))
            return -len(tree["leaf"]), node["leaf_value"] * node["leaf_count"], node["leaf_count"]
        at, column = len(tree["feature"]), node["split_feature"]
        tree["feature"].append(column)
        tree["threshold"].append(shorten(node["threshold"], values[column]))
        for name in ("left", "right", "mean"):
            tree[name].append(0)
        tree["left"][at], left, left_count = add(node["left_child"])
        tree["right"][at], right, right_count = add(node["right_child"])
        count = left_count + right_count
        tree["mean"][at] = round((left + right) / count, 6)
        return at, left + right, count

    add(root)
    return tree


def shorten(threshold, values):
    """Returns the shortest number that divides the values as the threshold does."""
    above = numpy.searchsorted(values, threshold, "right")
    for digits in range(17):
        short = round(threshold, digits)
        if numpy.searchsorted(values, short, "right") == above:
            return short if digits else int(short)
    return threshold


main(Path(sys.argv[1]), int(sys.argv[2]))
