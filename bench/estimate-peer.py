# SPDX-License-Identifier: GPL-3.0-or-later
"""estimate-peer.py FILE DRAWS ROUNDS: the model of src/forecast/{spread,condition,simulate}.c in numpy, vectorised as far as
it goes, on the times that estimate-speed wrote: the peer of bench/estimate. One JSON line like estimate-speed's.

All conditions have more than four runs and stand in the history themselves. The draws are numpy's own, so that totals agree
within what so many draws can say, not to the digit. Constants are read from the C files: one place for each."""
import json
import math
import os
import re
import statistics
import sys
import time

import numpy as np

FORECAST = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src", "forecast")
C = {}
for name in "spread.h", "spread.c", "condition.c", "simulate.c":
    with open(os.path.join(FORECAST, name)) as source:
        for word, value in re.findall(r"^#define\s+(\w+)\s+\(?(-?[\d.e-]+)\)?", source.read(), re.M):
            C[word] = float(value)
GRID = C["SPREAD_LEAST_LOG"] + C["SPREAD_STEP_LOG"] * np.arange(int(C["SPREAD_GRID"]))
REPEATS, FIRST = 10.0, 3


def normalised(logs):
    weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def likelihood(logs):
    """Logarithms, by deviation (rows: conditions); logs: of the runs."""
    count = logs.shape[1]
    if count < 2:
        return np.zeros((len(logs), len(GRID)))
    variance = (logs.var(axis=1, ddof=1) + C["LEAST_SPREAD"] ** 2)[:, None]
    freedom = min(count - 1, C["MOST_FREEDOM"])
    return -freedom * (GRID + 0.5 * variance * np.exp(-2 * GRID))


class Spread:
    def __init__(self, logs, family):
        self.family, families = family, family.max() + 1
        seen = normalised(likelihood(logs))
        middle = (seen @ GRID).mean()
        between, within = C["BETWEEN_FAMILIES"], C["BETWEEN_CONDITIONS"]
        squared = (GRID[None, :] - GRID[:, None]) ** 2
        for last in [False] * int(C["ROUNDS"]) + [True]:
            self.kernel = normalised(-0.5 * squared / within**2)
            sums = np.maximum(seen @ self.kernel.T, C["LEAST_WEIGHT"])
            self.by_family = np.log(sums)
            deviation = between * (math.sqrt(1 + 1 / families) if last else 1)
            self.of_family = np.tile(-0.5 * ((GRID - middle) / deviation) ** 2, (families, 1))
            np.add.at(self.of_family, family, self.by_family)
            if last:
                return
            squares = (seen @ (self.kernel * squared).T) / sums
            weights = normalised(self.of_family)
            middle = (weights @ GRID).mean()
            between = math.sqrt((C["FITTED_AS"] * C["BETWEEN_FAMILIES"] ** 2 + (weights * (GRID - middle) ** 2).sum())
                                / (C["FITTED_AS"] + families))
            within = math.sqrt((C["FITTED_AS"] * C["BETWEEN_CONDITIONS"] ** 2 + (weights[family] * squares).sum())
                               / (C["FITTED_AS"] + len(seen)))

    def posterior(self, logs):
        """Of all conditions after these runs, each from the others."""
        typical = normalised(self.of_family[self.family] - self.by_family)
        return normalised(np.log(np.maximum(typical @ self.kernel, C["LEAST_WEIGHT"])) + likelihood(logs))


def weighted_median(values, weights):
    order = np.argsort(values)
    below = np.cumsum(weights[order])
    return values[order][np.searchsorted(below, 0.5 * below[-1])]


def weigh(distances):
    nearest, width = distances.min(), 1.0
    wanted = min(C["LEAST_LIKES"], C["LEAST_SHARE"] * len(distances))
    for _ in range(int(C["WIDER_MOST"])):
        weights = np.exp(-0.5 * (distances - nearest) / width)
        worth = weights.sum() ** 2 / (weights**2).sum()
        if worth >= wanted:
            break
        width *= C["WIDER"]
    return weights * (worth / weights.sum()), worth


def student4(p):
    a = 4 * p * (1 - p)
    return np.sign(p - 0.5) * 2 * np.sqrt(np.cos(np.arccos(np.sqrt(a)) / 3) / np.sqrt(a) - 1)


class Model:
    def __init__(self, seconds, family):
        self.seconds, self.logs, self.family = seconds, np.log(seconds), family
        self.spread = Spread(self.logs, family)
        self.after = {}
        for k in 1, FIRST:
            later = np.log(seconds[:, k:].mean(axis=1))
            self.after[k] = (self.logs[:, :k].mean(axis=1), later, self.spread.posterior(self.logs[:, :k]) @ GRID)
        self.weights = self.spread.posterior(self.logs)
        self.points = student4((np.arange(int(C["BASE_POINTS"])) + 0.5) / C["BASE_POINTS"])

    def likes(self, i, k, typical, centre):
        centres, later, typicals = self.after[k]
        distances = (((typicals - typical) / C["UNIT_SPREAD"]) ** 2 + ((centres - centre) / C["UNIT_SECONDS"]) ** 2
                     + np.where(self.family == self.family[i], 0.0, C["OTHER_FAMILY"]))
        weights, worth = weigh(np.delete(distances, i))
        keep = weights >= C["NEGLIGIBLE"] * weights.max()
        return np.delete(later - centres, i)[keep], np.delete(typicals, i)[keep], weights[keep], worth

    def forecast(self, i):
        """Ratios, the middle of each one's weight, centre, share of the unknown mean."""
        own, spreads = self.logs[i], self.weights[i]
        typical = spreads @ GRID
        ratios, _, weights, _ = self.likes(i, 1, typical, own.mean())
        if -weighted_median(ratios, weights) > C["SLOW_AT_ALL"] and (own[1:] < own[0]).all():
            own = own[1:]
            family = normalised(self.spread.of_family[self.family[i]] - self.spread.by_family[i])
            spreads = normalised(np.log(np.maximum(family @ self.spread.kernel, C["LEAST_WEIGHT"]))
                                 + likelihood(own[None, :])[0])
            typical = spreads @ GRID
        runs = len(own)
        ratios, typicals, weights, worth = self.likes(i, FIRST, typical, own.mean())
        middle = weighted_median(ratios, weights)
        there = np.exp(typicals) * math.sqrt(1 / FIRST + 1 / (self.seconds.shape[1] - FIRST))
        here = math.exp(typical) * math.sqrt(1 / runs + 1 / REPEATS)
        distance = ratios - middle
        ratios = middle + distance * (1 + (here / there - 1) * np.exp(-((distance / there / C["FAR_OUT"]) ** 2)))
        base = C["BASE_WEIGHT"] * (1 + max(0, runs - FIRST))
        shift = weighted_median(ratios, weights) * worth / (worth + base)
        some = spreads >= C["BASE_NEGLIGIBLE"]
        shares = spreads[some] / spreads[some].sum()
        above = 0.5 * np.minimum(np.exp(2 * GRID[some]), 1) * (1 - 1 / REPEATS)
        units = np.exp(GRID[some]) * math.sqrt(1 / runs + 1 / REPEATS)
        curve = shift + above[:, None] + units[:, None] * self.points
        all_ratios = np.concatenate([ratios, curve.ravel()])
        all_weights = np.concatenate([weights, np.repeat(base * shares / len(self.points), len(self.points))])
        order = np.argsort(all_ratios)
        all_weights = all_weights[order] / all_weights.sum()
        return all_ratios[order], np.cumsum(all_weights) - 0.5 * all_weights, own.mean(), REPEATS / (runs + REPEATS)


def normal_below(z):
    """Abramowitz and Stegun 7.1.26 for the error function (1.5e-7): numpy alone has none."""
    x = np.abs(z) / math.sqrt(2)
    t = 1 / (1 + 0.3275911 * x)
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    half = 0.5 * poly * np.exp(-x * x)
    return np.where(z < 0, half, 1 - half)


def estimate(seconds, family, draws, random):
    took = [time.process_time()]
    model = Model(seconds, family)
    took.append(time.process_time())
    forecasts = [model.forecast(i) for i in range(len(seconds))]
    took.append(time.process_time())
    study = random.standard_normal(draws)
    families = random.standard_normal((family.max() + 1, draws))
    alone = 1 - C["COMMON_STUDY"] - C["COMMON_FAMILY"]
    total = np.zeros(draws)
    for i, (ratios, below, centre, shared) in enumerate(forecasts):
        z = math.sqrt(C["COMMON_STUDY"]) * study + math.sqrt(C["COMMON_FAMILY"]) * families[family[i]]
        z += math.sqrt(alone * shared) * random.standard_normal(draws)
        z += math.sqrt(alone * (1 - shared)) * random.standard_normal(draws)
        part = np.exp(centre + math.log(REPEATS) + np.interp(normal_below(z), below, ratios))
        np.quantile(part, [0.05, 0.5, 0.95])  # every condition states its own interval
        total += part
    result = np.quantile(total, [0.05, 0.5, 0.95])
    took.append(time.process_time())
    return [1e9 * (b - a) for a, b in zip(took, took[1:])] + [1e9 * (took[-1] - took[0])], result


def main():
    path, draws, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with open(path) as file:
        rows = [line.split(",") for line in file]
    names = {name: number for number, name in enumerate(dict.fromkeys(row[0] for row in rows))}
    family = np.array([names[row[0]] for row in rows])
    seconds = np.array([[float(word) for word in row[1:]] for row in rows])
    all_took = []
    for _ in range(rounds):
        took, result = estimate(seconds, family, draws, np.random.default_rng(20261201))
        all_took.append(took)
    line = {"name": "numpy", "conditions": len(rows), "runs": seconds.shape[1], "draws": draws, "rounds": rounds}
    for stage, values in zip(("model", "forecasts", "futures", "all"), zip(*all_took)):
        line[stage + "_ns"] = round(statistics.median(values))
    line["all_least_ns"] = round(min(took[-1] for took in all_took))
    line.update(zip(("p05", "p50", "p95"), map(float, result)))
    print(json.dumps(line))


main()
