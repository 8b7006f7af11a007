"""Bugs that the tests once let pass, each planted again: ``python lab/guards/planted.py`` says which are noticed.

One that lives shows what the tests do not guard. `lab/tests/test_mutants.py` holds that each can still be planted;
whoever rewrites the code that it stands in moves it.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import NamedTuple

from mutations import ROOT, path_of
from workshop import Workshop, file_of_tests, nearest_tests

RECORD = ROOT / "lab" / "records" / "guards" / "planted.json"


class Bug(NamedTuple):
    """Text of a module and what is put in its place."""

    name: str
    module: str
    old: str
    new: str
    tests: str = ""
    """Files of tests, if not those nearest to the module."""

    def planted(self) -> str:
        """The module with the bug."""
        source = (ROOT / path_of(self.module)).read_text(encoding="utf-8")
        if source.count(self.old) != 1:
            raise ValueError(f"{self.module} must hold {self.old!r} once. Got it {source.count(self.old)} times.")
        return source.replace(self.old, self.new)


# fmt: off
BUGS = [
    Bug("bVote matches without weights", "consensus/voting/_bvote.py", "rows.weights[j] * tables.table(i, j)",
        "tables.table(i, j)"),
    Bug("bVote votes without weights", "consensus/voting/_bvote.py",
        "column[i]] = rows.weights[i]", "column[i]] = 1.0"),
    Bug("bVote's objective without weights", "consensus/voting/_bvote.py",
        "np.average(losses.mse[order.partitions], weights=rows.weights[order.partitions])",
        "np.average(losses.mse[order.partitions])"),
    Bug("BipartiteVoting ignores random_state", "consensus/voting/_bvote.py",
        "task_seeds(self.random_state, self.n_init)",
        "task_seeds(0, self.n_init)", "parameters_count"),
    Bug("k-means ignores random_state", "consensus/kmeans/_label_kmeans.py", "task_seeds(model.random_state, n_init)",
        "task_seeds(0, n_init)", "parameters_count"),
    Bug("H-KM ignores random_state", "consensus/kmeans/_bisecting.py",
        "task_seeds(self.random_state, 1)", "task_seeds(0, 1)",
        "parameters_count"),
    Bug("HGPA ignores random_state", "consensus/graphs/_hgpa.py",
        "task_seeds(self.random_state, 1)", "task_seeds(0, 1)",
        "parameters_count"),
    Bug("CSPA ignores random_state", "consensus/graphs/_cspa.py",
        "task_seeds(self.random_state, 1).tolist()\n        threshold",
        "task_seeds(0, 1).tolist()\n        threshold", "parameters_count"),
    Bug("MCLA ignores random_state", "consensus/graphs/_mcla.py", "task_seeds(self.random_state, 1)",
        "task_seeds(0, 1)", "parameters_count"),
    Bug("HBGF ignores random_state", "consensus/graphs/_hbgf.py", "task_seeds(self.random_state, 1)",
        "task_seeds(0, 1)", "parameters_count"),
    Bug("random_state is the same for every task", "base/random.py", "random_source(random_state).randint(",
        "random_source(0).randint(", "seeds parameters_count generation"),
    Bug("RandomKPartitions ignores random_state", "generation/_random_k.py", "random_source(self.random_state)",
        "random_source(0)"),
    Bug("MCLA's ties ignore random_state", "consensus/graphs/_mcla.py",
        "np.random.RandomState(seed).uniform(size=len(rows))",
        "np.random.RandomState(0).uniform(size=len(rows))", "graph golden parameters_count"),
    Bug("confidence_ without weights", "consensus/_base.py",
        "rows.counts, clusters, n_clusters, rows.offsets, rows.weights, self.n_jobs",
        "rows.counts, clusters, n_clusters, rows.offsets, np.ones_like(rows.weights), self.n_jobs"),
    Bug("MCLA's sum for its mean", "kernels/_votes.py", "share[g] /= capacity[g]", "share[g] /= 1.0", "graph golden"),
    Bug("MCLA without weights", "consensus/graphs/_mcla.py", "np.repeat(weights, np.diff(offsets))",
        "np.ones(offsets[-1])"),
    Bug("CSPA counts twins once in edges", "consensus/graphs/_cspa.py",
        "graph.data[part] *= objects * counts[graph.indices[part]]", "pass"),
    Bug("CSPA counts twins once in sizes", "consensus/graphs/_cspa.py", "cut_graph(self, rows, S, counts, k, itself, ",
        "cut_graph(self, rows, S, np.ones_like(counts), k, itself, "),
    Bug("HGPA ignores edge_weights", "consensus/graphs/_hgpa.py", 'if self.edge_weights == "size":', "if False:"),
    Bug("HGPA's edges without weights", "consensus/graphs/_hgpa.py",
        "edge_weights = np.repeat(rows.weights, rows.n_clusters)",
        "edge_weights = np.ones(int(rows.n_clusters.sum()))"),
    Bug("HGPA counts twins once", "consensus/graphs/_hgpa.py", "edge_weights, rows.counts, k,",
        "edge_weights, np.ones_like(rows.counts), k,"),
    Bug("METIS without imbalance", "consensus/graphs/_partition_graph.py",
        '{"ufactor": max(1, round(1000 * min(float(imbalance), n_parts)))}', "{}"),
    Bug("METIS's tolerance without imbalance", "consensus/graphs/_partition_graph.py",
        "tolerance, options = float(imbalance), ", "tolerance, options = TOLERANCE, "),
    Bug("Candel's H-KM rule: gain without sizes", "consensus/kmeans/_bisecting.py",
        "after = sum(half.size * half.density for half in bisection.halves)",
        "after = sum(half.density for half in bisection.halves) * part.size / 2"),
    Bug("Candel's H-KM rule: the largest gain last", "consensus/kmeans/_bisecting.py",
        "key=lambda i: -gain_of(", "key=lambda i: gain_of("),
    Bug("Candel's H-KM rule: gain is loss", "consensus/kmeans/_bisecting.py",
        'if rule == "gain":\n            '
        "splittable.sort", 'if False:\n            splittable.sort'),
    Bug("H-KM without n: ⌈√n⌉", "consensus/kmeans/_bisecting.py", "isqrt(int(rows.counts.sum()))",
        "isqrt(int(rows.counts.sum()) - 1) + 1"),
    Bug("Li's NMI with an arithmetic mean", "lab/src/ensemblage_lab/reproduce/papers/li/protocol.py",
        'average_method="geometric"', 'average_method="arithmetic"', "reproduce"),
    Bug("Sinorina's NMI with an arithmetic mean", "lab/src/ensemblage_lab/reproduce/papers/sinorina/protocol.py",
        'labels, average_method="geometric"', 'labels, average_method="arithmetic"', "reproduce"),
    Bug("Sinorina's mean NMI with an arithmetic mean", "lab/src/ensemblage_lab/reproduce/papers/sinorina/protocol.py",
        '"nmi", "geometric").mean()', '"nmi", "arithmetic").mean()', "reproduce"),
    Bug("KCC's random start ignores counts", "consensus/kmeans/_label_kmeans.py", "share = counts / counts.sum()",
        "share = np.full(len(codes), 1 / len(codes))"),
    Bug("k-means++'s first seed ignores counts", "consensus/kmeans/_label_kmeans.py",
        "np.searchsorted(np.cumsum(counts), random.uniform() * counts.sum(), side=\"right\")",
        "np.searchsorted(np.arange(1, len(codes) + 1), random.uniform() * len(codes), side=\"right\")"),
    Bug("k-means++'s next seeds ignore counts", "consensus/kmeans/_label_kmeans.py", "potential = near * counts[part]",
        "potential = near * 1"),
    Bug("median imputed as mean", "io/_scaling.py", 'SimpleImputer(strategy=rule.replace("-", "_"), **',
        'SimpleImputer(strategy=rule.replace("-", "_").replace("median", "mean"), **',
        "tables tables_corpus preprocessor"),
    Bug("mean imputed as median", "io/_scaling.py", 'SimpleImputer(strategy=rule.replace("-", "_"), **',
        'SimpleImputer(strategy=rule.replace("-", "_").replace("mean", "median"), **',
        "tables tables_corpus preprocessor"),
    Bug("1_000 is a number of a table", "tables/numbers.py",
        r'POINT_NUMBER = rf"^{SIGN}(?:\d+\.?\d*|\.\d+){EXPONENT}$"',
        r'POINT_NUMBER = rf"^{SIGN}(?:\d[\d_]*\.?\d*|\.\d+){EXPONENT}$"', "tables tables_corpus"),
    Bug("1_000 is a number of an option", "cli/_options.py", 'if re.fullmatch(r"-?[0-9]{1,19}", text) else 2**63',
        'if re.fullmatch(r"-?[0-9_]{1,19}", text) else 2**63', "cli_refused cli"),
    Bug("n_jobs=-1 is one thread", "base/threads.py", "max(1, available_cores() + 1 + int(n_jobs))", "1"),
    Bug("n_jobs=-1 is all but one", "base/threads.py", "available_cores() + 1 + int(n_jobs)",
        "available_cores() + int(n_jobs)"),
    Bug("n_jobs=-1 is too many", "base/threads.py", "max(1, available_cores() + 1 + int(n_jobs))", "abs(n_jobs)"),
    Bug("parallel_map does not stop the others", "base/threads.py",
        "        except BaseException:\n            flag.set()\n", "        except BaseException:\n"),
    Bug("a call that is left does not stop what it began", "base/threads.py",
        "        finally:\n            flag.set()\n", "        finally:\n"),
    Bug("a call does not stop those within", "base/threads.py",
        "        for flag in tuple(self._inner):\n            flag.set()\n", ""),
    Bug("a call within one that is stopped begins", "base/threads.py",
        "            flag.set()\n        try:", "            pass\n        try:"),
    Bug("the main thread runs long kernels itself", "base/threads.py",
        "if operations <= SHORT or", "if operations or"),
    Bug("a kernel reads its flag once", "kernels/_jit.py",
        "_load(stop_flag.ctypes.data) != 0", "stop_flag[0] != 0"),
    Bug("parallel_map does not look whether it is stopped", "base/threads.py",
        "                    check_stopped()\n", ""),
    Bug("parallel_map hides the error of a helper", "base/threads.py",
        "            helper.result()", "            pass"),
    Bug("the header rule: every first row is a header", "tables/layout.py",
        "has_header = short or not _is_data(first, body)", "has_header = True"),
    Bug("the header rule: text that comes again is a name", "tables/layout.py", "else cell in column",
        "else False"),
    Bug("the header rule: numbers above text", "tables/layout.py",
        "if all(map(is_number, column)) else cell in column",
        "if any(map(is_number, column)) else cell in column"),
    Bug("the header rule: a data frame's 0, 1, 2", "tables/layout.py",
        "        return False  # a data frame's default",
        "        return True  # a data frame's default"),
    Bug("the header rule: an empty first cell", "tables/layout.py", "    if not first[0]:\n        return False",
        "    if not first[0]:\n        return True"),
    Bug("Ada-cVote relabels without weights", "consensus/voting/_ada_cvote.py",
        "float(rows.weights[j]), NW, N1", "1.0, NW, N1"),
    Bug("Ada-cVote votes without weights", "consensus/voting/_ada_cvote.py",
        "W *= np.repeat(rows.weights, np.diff(rows.offsets))[:, None]", "W *= 1.0"),
]
# fmt: on


def tests_of(bug: Bug) -> list[str]:
    """Paths of the tests that are to notice it."""
    tests = [file_of_tests(name) for name in bug.tests.split()] or nearest_tests(bug.module)
    return list(dict.fromkeys(["tests/test_guards.py", *tests]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="only bugs whose name holds one of these words")
    parser.add_argument("--again", action="store_true", help="those too that were noticed by an earlier session")
    given = parser.parse_args()
    for bug in BUGS:
        bug.planted()  # raises where its place is lost, before hours are spent on the others
    known = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    chosen = [bug for bug in BUGS if not given.words or any(word in bug.name for word in given.words)]
    chosen = [bug for bug in chosen if given.again or known.get(bug.name) != "killed"]
    if not chosen:
        sys.exit("Every bug of these is noticed already. Give --again to plant them once more.")
    workshop = Workshop("planted")
    outcome, seconds, text = workshop.run(sorted({path for bug in chosen for path in tests_of(bug)}), 3600)
    if outcome != "passed":
        sys.exit(f"The tests must pass without a bug before one is planted. Got {outcome}: {text}")
    sys.stdout.write(f"passed    {seconds:5.1f}s without a bug\n")
    for bug in chosen:
        outcome, seconds, text = workshop.run_mutant(bug.module, bug.planted(), tests_of(bug), 600)
        known[bug.name] = "survived" if outcome in ("passed", "no tests") else "killed"
        told = next((line for line in text.splitlines() if line.startswith(("FAILED", "ERROR"))), "")
        sys.stdout.write(f"{known[bug.name]:9s} {seconds:5.1f}s {bug.name} {told[:110]}\n")
        sys.stdout.flush()
        RECORD.parent.mkdir(exist_ok=True)
        kept = {bug.name: known[bug.name] for bug in BUGS if bug.name in known}
        RECORD.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
