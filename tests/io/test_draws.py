"""Draws from a posterior as users have them: files, chains, ArviZ; split R-hat; `summarize_draws` and the command."""

import csv
import json

import naive
import numpy as np
import pandas as pd
import pytest
from former import FORMER
from numpy.testing import assert_allclose, assert_array_equal
from pages import sections_of
from shell import fail, succeed

from ensemblage import Ensemble, load, metrics
from ensemblage.consensus import SalsoConsensus
from ensemblage.metrics import coassociation
from ensemblage.plotting import partition_strips
from ensemblage.posterior import chain_agreement, credible_ball, read_draws, summarize_draws

pytestmark = FORMER

RNG = np.random.default_rng(3)
TRUTH = np.repeat([1, 2, 3], [12, 8, 4])


def noisy(n_draws, share=0.15, rng=RNG):
    """(n_draws, 24) labels from 1, of which a share is drawn anew."""
    draws = np.tile(TRUTH, (n_draws, 1))
    moved = rng.random(draws.shape) < share
    draws[moved] = rng.integers(1, 4, size=int(moved.sum()))
    return draws


DRAWS = noisy(40)


def write_r(path, draws, names=None, **options):
    """What `write.csv(draws)` of R writes: quoted names, and those of the rows in the first column."""
    frame = pd.DataFrame(draws, index=range(1, len(draws) + 1))
    frame.columns = names or [f"V{j}" for j in range(1, draws.shape[1] + 1)]
    frame.to_csv(path, quoting=csv.QUOTE_NONNUMERIC, index_label="", **options)
    return path


def labels_of(draws):
    """(n_draws, n_objects) labels, where none is missing."""
    ensemble = draws.ensemble
    return np.stack([labels[codes] for labels, codes in zip(ensemble.categories, ensemble.codes.T, strict=True)])


@pytest.fixture
def r_file(tmp_path):
    return write_r(tmp_path / "draws.csv", DRAWS)


# ---- Reading ----


def test_csv_of_r(r_file):
    assert r_file.read_text().startswith('"","V1","V2"')
    draws = read_draws(r_file, draws_axis="rows")
    assert_array_equal(labels_of(draws), DRAWS)
    assert draws.ids[:2] == ["V1", "V2"]
    assert draws.ensemble.names[:2] == ["1.1", "1.2"]
    assert draws.n_chains == 1


def test_the_axis_is_not_guessed(r_file, tmp_path):
    np.save(tmp_path / "draws.npy", DRAWS)
    for source in (r_file, tmp_path / "draws.npy", DRAWS, pd.DataFrame(DRAWS), [DRAWS, DRAWS]):
        with pytest.raises(ValueError, match="draws_axis must say which axis"):
            read_draws(source)
    square = DRAWS[:24]
    rows, columns = (labels_of(read_draws(square, draws_axis=axis)) for axis in ("rows", "columns"))
    assert_array_equal(rows, columns.T)
    assert not np.array_equal(rows, columns)


def test_a_draw_in_each_column(tmp_path):
    write_r(tmp_path / "t.csv", DRAWS.T)
    draws = read_draws(tmp_path / "t.csv", draws_axis="columns")
    assert_array_equal(labels_of(draws), DRAWS)
    assert draws.ids[:2] == ["1", "2"]
    frame = pd.DataFrame(DRAWS.T).assign(gene=[f"g{i}" for i in range(24)])
    draws = read_draws(frame, draws_axis="columns", id_column="gene")
    assert_array_equal(labels_of(draws), DRAWS)
    assert draws.ids[:2] == ["g0", "g1"]


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet", "npy", "array", "frame", "lists"])
def test_sources_give_the_same(tmp_path, kind):
    frame = pd.DataFrame(DRAWS, columns=[f"x{j}" for j in range(24)])
    path = tmp_path / f"draws.{kind}"
    if kind.startswith("csv"):
        frame.to_csv(path, index=False)
    elif kind == "parquet":
        frame.to_parquet(path)
    elif kind == "npy":
        np.save(path, DRAWS)
    source = {"array": DRAWS, "frame": frame, "lists": DRAWS.tolist()}.get(kind, path)
    assert_array_equal(labels_of(read_draws(source, draws_axis="rows")), DRAWS)


def test_a_file_of_labels_without_a_header(tmp_path):
    np.savetxt(tmp_path / "plain.csv", DRAWS, fmt="%d", delimiter=",")
    draws = read_draws(tmp_path / "plain.csv", draws_axis="rows")
    assert_array_equal(labels_of(draws), DRAWS)
    assert draws.ids[:2] == ["1", "2"]


def test_a_first_row_that_may_be_both_is_refused(tmp_path):
    single = np.arange(1, 25)
    np.savetxt(tmp_path / "plain.csv", np.vstack([single, DRAWS]), fmt="%d", delimiter=",")
    with pytest.raises(ValueError, match="must be names or a draw"):
        read_draws(tmp_path / "plain.csv", draws_axis="rows")
    for has_header, n in ((True, 40), (False, 41)):
        draws = read_draws(tmp_path / "plain.csv", draws_axis="rows", has_header=has_header)
        assert draws.ensemble.shape == (24, n)


def test_ensembles_say_themselves(tmp_path):
    ensemble = Ensemble(np.where(DRAWS.T == 3, -1, DRAWS.T))
    ensemble.save(tmp_path / "draws.npz")
    for source in (ensemble, tmp_path / "draws.npz"):
        draws = read_draws(source)
        assert_array_equal(draws.ensemble.codes, ensemble.codes)
        with pytest.raises(ValueError, match="draws_axis is for tables and arrays"):
            read_draws(source, draws_axis="columns")


def test_burn_in_and_thinning_are_of_each_chain():
    chains = np.stack([noisy(10), noisy(10)])
    draws = read_draws(chains, draws_axis="rows", burn_in=3, thin=2)
    assert_array_equal(labels_of(draws), np.concatenate([chains[0, 3::2], chains[1, 3::2]]))
    assert draws.ensemble.names == ["1.4", "1.6", "1.8", "1.10", "2.4", "2.6", "2.8", "2.10"]
    assert_array_equal(draws.chains, [0] * 4 + [1] * 4)
    assert "8 of 20 draws are kept" in draws.notes[-1]


def test_chains_of_several_lengths_and_files(tmp_path):
    chains = [noisy(8), noisy(6)]
    files = [write_r(tmp_path / f"{c}.csv", chain) for c, chain in enumerate(chains)]
    for source in (files, chains):
        draws = read_draws(source, draws_axis="rows", burn_in=1)
        assert_array_equal(np.bincount(draws.chains), [7, 5])
        assert_array_equal(labels_of(draws), np.concatenate([chain[1:] for chain in chains]))


def test_files_of_other_objects_are_refused(tmp_path):
    one = write_r(tmp_path / "one.csv", DRAWS)
    other = write_r(tmp_path / "other.csv", DRAWS, [f"V{j}" for j in range(24, 0, -1)])
    with pytest.raises(ValueError, match=r"the same objects in the same order\. Got other names"):
        read_draws([one, other], draws_axis="rows")
    frame = pd.DataFrame(DRAWS).assign(chain=[1.0, *[np.nan] * 39])
    with pytest.raises(ValueError, match=r"Every draw must have a chain\. Got 39"):
        read_draws(frame, draws_axis="rows", chain_column="chain")


def test_chains_in_a_column(tmp_path):
    frame = pd.DataFrame(DRAWS, columns=[f"z[{j}]" for j in range(24)])
    mixed = frame.assign(**{".chain": [2, 1] * 20, ".iteration": range(40), ".draw": range(40)})
    mixed.to_csv(tmp_path / "draws.csv", index=False)
    draws = read_draws(tmp_path / "draws.csv", draws_axis="rows", burn_in=1)
    assert_array_equal(labels_of(draws), np.concatenate([DRAWS[::2][1:], DRAWS[1::2][1:]]))
    assert draws.ids[0] == "z[0]"
    named = frame.assign(run=["b", "a"] * 20)
    again = read_draws(named, draws_axis="rows", chain_column="run", burn_in=1)
    assert_array_equal(again.ensemble.codes, draws.ensemble.codes)


def test_missing_labels(tmp_path):
    frame = pd.DataFrame(DRAWS).astype("Int64")
    frame.iloc[0, 0] = pd.NA
    frame.to_csv(tmp_path / "draws.csv", index=False, na_rep="NA", header=[f"V{j}" for j in range(24)])
    draws = read_draws(tmp_path / "draws.csv", draws_axis="rows")
    assert draws.ensemble.codes[0, 0] == draws.ensemble.n_clusters[0]
    zeros = read_draws(DRAWS - 1, draws_axis="rows", missing=0)
    assert (zeros.ensemble.n_clusters == 2).all()
    with pytest.raises(ValueError, match="Every object must have a label"):
        read_draws(tmp_path / "draws.csv", draws_axis="rows", missing=None)


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (DRAWS, {"draws_axis": "cols"}, "one of 'rows', 'columns', or None. Got 'cols'"),
        (DRAWS, {"draws_axis": "rows", "burn_in": 40}, "burn_in must leave draws of every chain. Got a chain of 40"),
        (DRAWS, {"draws_axis": "rows", "burn_in": -1}, "a whole number ≥ 0"),
        (DRAWS, {"draws_axis": "rows", "thin": 0}, "a whole number ≥ 1"),
        (DRAWS + 0.5, {"draws_axis": "rows"}, "Labels must be whole numbers. Got [0-9]"),
        (DRAWS.astype(np.int64) * 2**40, {"draws_axis": "rows"}, "Labels must be at most"),
        (DRAWS.astype(str), {"draws_axis": "rows"}, "Labels must be whole numbers"),
        (DRAWS[0], {"draws_axis": "rows"}, "Draws must be a matrix"),
        (DRAWS, {"draws_axis": "rows", "chain_column": "c"}, "chain_column is for tables"),
        (DRAWS, {"draws_axis": "rows", "id_column": "c"}, "id_column is for tables"),
        (pd.DataFrame(DRAWS), {"draws_axis": "rows", "id_column": "c"}, 'id_column must go with draws_axis="columns"'),
        (pd.DataFrame(DRAWS), {"draws_axis": "rows", "chain_column": "c"}, "chain_column must name a column"),
        (DRAWS, {"draws_axis": "rows", "variable": "z"}, "variable is for ArviZ"),
        ([DRAWS, DRAWS[:, :5]], {"draws_axis": "rows"}, "All chains must be of the same objects. Got 24, 5"),
        (pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}), {"draws_axis": "rows"}, "Got the column 'a' of text"),
    ],
)
def test_what_is_refused(source, options, message):
    with pytest.raises(ValueError, match=message):
        read_draws(source, **options)


def test_files_that_are_refused(tmp_path):
    for name in ("a.xlsx", "a.h5ad"):
        (tmp_path / name).write_bytes(b"x")
        with pytest.raises(ValueError, match="Draws must be CSV, Parquet"):
            read_draws(tmp_path / name, draws_axis="rows")
    np.save(tmp_path / "a.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match=r"A \.npy file of draws must be"):
        read_draws(tmp_path / "a.npy", draws_axis="rows")
    with pytest.raises(ValueError, match="does not exist"):
        read_draws(tmp_path / "none.csv", draws_axis="rows")


# ---- ArviZ and xarray ----


@pytest.fixture
def posterior():
    xarray = pytest.importorskip("xarray")
    chains = np.stack([noisy(10), noisy(10)])
    names = ("chain", "draw", "object")
    data = xarray.Dataset(
        {"z": (names, chains), "mu": (("chain", "draw", "k"), np.zeros((2, 10, 3)))},
        {"object": [f"o{i}" for i in range(24)], "chain": [0, 1], "draw": range(10)},
    )
    return xarray, data, chains


def test_dimensions_are_known_by_name(posterior):
    xarray, data, chains = posterior
    expected = np.concatenate(list(chains[:, 2:]))
    turned = data.transpose("object", "draw", "chain", "k")
    stacked = data.stack(sample=("chain", "draw"))
    tree = xarray.DataTree.from_dict({"posterior": data})
    for source in (data, turned, data["z"], turned["z"], tree):
        draws = read_draws(source, burn_in=2)
        assert_array_equal(labels_of(draws), expected)
        assert_array_equal(draws.chains, [0] * 8 + [1] * 8)
        assert draws.ids[:2] == ["o0", "o1"]
    assert_array_equal(labels_of(read_draws(stacked["z"], burn_in=2)), expected)
    one = read_draws(data["z"].isel(chain=0, drop=True), burn_in=2)
    assert_array_equal(labels_of(one), expected[:8])


def test_netcdf(posterior, tmp_path):
    _xarray, data, _ = posterior
    pytest.importorskip("h5netcdf")
    data.to_netcdf(tmp_path / "groups.nc", group="posterior", engine="h5netcdf")
    data.to_netcdf(tmp_path / "flat.nc", engine="h5netcdf")
    for name in ("groups.nc", "flat.nc"):
        assert_array_equal(read_draws(tmp_path / name).ensemble.codes, read_draws(data).ensemble.codes)
    (tmp_path / "text.nc").write_text("no file of NetCDF")
    with pytest.raises(ValueError, match="must be a NetCDF file"):
        read_draws(tmp_path / "text.nc")
    with pytest.raises(FileNotFoundError):
        read_draws(tmp_path / "none.nc")


def test_inference_data(posterior):
    arviz = pytest.importorskip("arviz")
    _, data, chains = posterior
    given = arviz.from_dict({"posterior": {"z": chains}}) if not hasattr(arviz, "InferenceData") else None
    given = given if given is not None else arviz.from_dict(posterior={"z": chains})
    assert_array_equal(read_draws(given).ensemble.codes, read_draws(data).ensemble.codes)


def test_variables(posterior):
    _, data, _ = posterior
    twice = data.assign(y=data["z"])
    with pytest.raises(ValueError, match=r"one variable of whole numbers with draws and objects\. Got z, y"):
        read_draws(twice)
    assert read_draws(twice, variable="y").ensemble.shape == (24, 20)
    with pytest.raises(ValueError, match=r"variable must name a variable of Dataset\. Got 'q'"):
        read_draws(twice, variable="q")
    with pytest.raises(ValueError, match="Labels must have the dimensions chain, draw"):
        read_draws(data["z"].isel(draw=0, drop=True))
    with pytest.raises(ValueError, match="Labels must have the dimensions chain, draw"):
        read_draws(data["z"].expand_dims("more"))
    with pytest.raises(ValueError, match="draws_axis is for tables"):
        read_draws(data, draws_axis="rows")


# ---- Agreement of chains ----


def test_split_rhat_as_the_naive_twin():
    for sizes in ([20], [20, 20], [21, 30, 17]):
        values = RNG.normal(size=sum(sizes))
        chains = np.repeat(np.arange(len(sizes)), sizes)
        assert_allclose(metrics.split_rhat(values, chains), naive.split_rhat(values, chains), rtol=1e-12)
    assert metrics.split_rhat([0, 1, 2, 3] * 3) == metrics.split_rhat([0, 1, 2, 3] * 3, [7] * 12)


@pytest.mark.parametrize("kind", ["means", "spreads", "ties", "indicator"])
@pytest.mark.parametrize("n_draws", [50, 51])
def test_split_rhat_as_arviz(kind, n_draws):
    arviz = pytest.importorskip("arviz")
    values = RNG.normal(size=(3, n_draws)) + np.array([[0], [0], [0.3]])
    values = {
        "means": values,
        "spreads": values * [[1], [1], [3]],
        "ties": np.round(values),
        "indicator": (values > 0.5).astype(float),
    }[kind]
    expected = arviz.rhat(values, method="rank")
    assert_allclose(metrics.split_rhat(values.ravel(), np.repeat([0, 1, 2], n_draws)), expected, atol=1e-10)


RHAT_OF_ARVIZ = {
    "sin": (np.sin, 0.9687876734230672),
    "ties": (lambda i: i * i % 7, 0.9636899230119993),
    "growing": (lambda i: np.sin(3 * i) * i, 2.1377359888450718),
    "trend": (lambda i: np.cos(i) + i / 30, 1.305239209759384),
}
"""A function of the numbers 0 to 20 and 40 to 60, a chain each; `arviz.rhat(chains, method="rank")` of 0.22.0."""


@pytest.mark.parametrize("name", RHAT_OF_ARVIZ)
def test_split_rhat_without_arviz(name):
    function, expected = RHAT_OF_ARVIZ[name]
    i = np.arange(21)
    values = np.concatenate([function(i), function(i + 40)])
    assert_allclose(metrics.split_rhat(values, np.repeat([0, 1], 21)), expected, atol=1e-10)


def test_chains_with_other_spreads_do_not_agree():
    values = RNG.normal(size=(2, 200)) * [[1], [4]]
    chains = np.repeat([0, 1], 200)
    assert metrics.split_rhat(values.ravel(), chains) > 1.1
    assert naive.rhat_of_parts(values.reshape(4, 100).tolist()) < 1.02


def test_split_rhat_of_chains_apart_goes_by_ranks():
    chains = np.repeat([0, 1], 30)
    values = RNG.normal(size=60) + 3 * chains
    assert metrics.split_rhat(np.exp(values), chains) == metrics.split_rhat(values, chains) > 1.5


def test_split_rhat_of_what_never_changes():
    assert np.isnan(metrics.split_rhat([1] * 8))
    assert metrics.split_rhat([1] * 4 + [2] * 4, [0] * 4 + [1] * 4) == np.inf
    assert np.isnan(metrics.split_rhat([1, 2, np.nan, 3]))
    with pytest.raises(ValueError, match=r"must have 4 draws or more\. Got one of 3"):
        metrics.split_rhat([1, 2, 3, 4, 5, 6, 7], [0, 0, 0, 0, 1, 1, 1])
    with pytest.raises(ValueError, match="one entry for each of the 4 draws"):
        metrics.split_rhat([1, 2, 3, 4], [0, 1])


def test_chain_agreement_is_of_loss_number_and_pairs():
    chains = np.repeat([0, 1], 20)
    found = chain_agreement(DRAWS.T, TRUTH, chains, random_state=0)
    assert len(found.pairs) == 24 * 23 // 2
    assert (found.n_chains, found.n_draws) == (2, 10)
    distances = credible_ball(DRAWS.T, TRUTH).distances
    assert_allclose(found.loss, metrics.split_rhat(distances, chains))
    assert_allclose(found.n_clusters, naive.split_rhat(Ensemble(DRAWS.T).n_clusters, chains))
    for (i, j), value in list(zip(found.pairs, found.of_pairs, strict=True))[::20]:
        assert_allclose(value, naive.split_rhat(DRAWS[:, i] == DRAWS[:, j], chains), rtol=1e-12)
    binder = chain_agreement(DRAWS.T, TRUTH, chains, "binder", random_state=0)
    assert_allclose(binder.loss, metrics.split_rhat(credible_ball(DRAWS.T, TRUTH, loss="binder").distances, chains))
    assert binder.loss != found.loss


def test_pairs_are_different_and_seeded():
    one, same, other = (chain_agreement(DRAWS.T, TRUTH, n_pairs=100, random_state=seed) for seed in (0, 0, 1))
    assert_array_equal(one.pairs, same.pairs)
    assert not np.array_equal(one.pairs, other.pairs)
    assert len(np.unique(one.pairs, axis=0)) == 100
    assert (one.pairs[:, 0] < one.pairs[:, 1]).all()
    assert one.n_chains == 1


def test_chains_in_two_modes_do_not_agree():
    other = np.where(np.arange(24) < 6, 9, TRUTH)
    moded = np.concatenate([noisy(25, 0.02), np.where(RNG.random((25, 24)) < 0.02, 1, other)])
    apart = chain_agreement(moded.T, TRUTH, np.repeat([0, 1], 25), random_state=0)
    assert apart.loss > 1.2
    assert apart.n_clusters == np.inf
    assert (apart.of_pairs > 1.2).mean() > 0.1
    mixed = chain_agreement(noisy(400).T, TRUTH, np.repeat([0, 1], 200), random_state=0)
    assert mixed.loss < 1.02
    share = (mixed.of_pairs >= 1.01).mean()
    assert abs(share - mixed.by_chance) < 0.05


# ---- The summary ----


def test_the_summary_has_the_parts():
    draws = read_draws([DRAWS[:20], DRAWS[20:]], draws_axis="rows")
    found = summarize_draws(draws, loss="binder", level=0.5, n_init=4, random_state=0)
    model = SalsoConsensus(loss="binder", n_init=4, random_state=0).fit(draws.ensemble)
    assert_array_equal(found.estimate.labels_, model.labels_)
    ball = credible_ball(draws.ensemble, model.labels_, 0.5, "binder")
    assert (found.ball.radius, found.ball.share) == (ball.radius, ball.share)
    agreement = chain_agreement(draws.ensemble, model.labels_, draws.chains, "binder", random_state=0)
    assert_array_equal(found.agreement.of_pairs, agreement.of_pairs)
    similarity = coassociation(draws.ensemble)
    np.fill_diagonal(similarity, np.nan)
    for i in range(24):
        means = [np.nanmean(similarity[i, model.labels_ == c]) for c in range(model.labels_.max() + 1)]
        assert_allclose(found.probabilities[i], means[model.labels_[i]])
        means[model.labels_[i]] = -1
        assert_allclose(means[found.next_clusters[i]], max(means))
        assert_allclose(found.next_probabilities[i], max(means))
    assert (np.diff(found.probabilities[found.doubt]) >= 0).all()
    assert summarize_draws(draws, 2, random_state=0).estimate.labels_.max() == 1


def test_of_an_object_that_is_alone_the_share_of_draws_in_which_it_is():
    lone = np.array([[1, 1, 1, 1, 2]] * 7 + [[1, 1, 1, 1, 1]] * 3)
    found = summarize_draws(read_draws(lone, draws_axis="rows"), random_state=0)
    assert_array_equal(found.estimate.labels_, [0, 0, 0, 0, 1])
    assert_allclose(found.probabilities, [1, 1, 1, 1, 0.7])
    assert_allclose(found.next_probabilities[-1], 0.3)


def test_few_draws_have_no_agreement_and_one_cluster_no_next():
    few = summarize_draws(read_draws(DRAWS[:3], draws_axis="rows"), random_state=0)
    assert few.agreement is None
    one = summarize_draws(read_draws(np.ones((5, 4), dtype=int), draws_axis="rows"), random_state=0)
    assert (one.next_clusters == -1).all()
    assert np.isnan(one.next_probabilities).all()
    with pytest.raises(TypeError, match="must be what read_draws returned"):
        summarize_draws(DRAWS)


def test_any_number_of_threads_gives_the_same_summary():
    draws = read_draws(DRAWS, draws_axis="rows")
    one, two = (summarize_draws(draws, n_init=4, n_jobs=n, random_state=0) for n in (1, 2))
    assert_array_equal(one.estimate.labels_, two.estimate.labels_)
    assert_array_equal(one.ball.distances, two.ball.distances)
    assert_array_equal(one.agreement.of_pairs, two.agreement.of_pairs)


def test_strips():
    labels = np.column_stack([[0, 0, 0, 1, 1, -1], [5, 5, 7, 7, 8, 8]])
    ax = partition_strips(labels, names=["one", "other"])
    image = np.asarray(ax.images[0].get_array())
    assert image.shape == (2, 6, 3)
    assert_array_equal(image[0, 0], image[1, 0])  # 5 is matched with 0
    assert np.asarray(partition_strips(labels, most=3).images[0].get_array()).shape == (2, 3, 3)


# ---- The shell ----


def test_summarize(r_file, tmp_path):
    out = tmp_path / "out"
    shown = succeed("summarize", r_file, "--draws-axis", "rows", "--burn-in", 4, "-o", out)
    found = summarize_draws(read_draws(r_file, draws_axis="rows", burn_in=4), random_state=0)
    assert "36 of 40 draws are kept" in shown.stderr
    assert shown.stdout.startswith("draws       36 in 1 chain, of 24 objects")
    labels = pd.read_csv(out / "labels.csv")
    assert_array_equal(labels["cluster"], found.estimate.labels_)
    probabilities = pd.read_csv(out / "probabilities.csv")
    assert list(probabilities["id"]) == [found.draws.ids[i] for i in found.doubt]
    assert_allclose(probabilities["probability"], found.probabilities[found.doubt], atol=1e-6)
    ball = pd.read_csv(out / "ball.csv")
    assert_array_equal(ball["estimate"], found.estimate.labels_)
    assert ball.shape[1] >= 5
    summary = json.loads((out / "summary.json").read_text())["draws"]
    assert summary["objective"] == found.estimate.objective_
    assert summary["ball"]["radius"] == found.ball.radius
    assert_allclose(summary["agreement"]["loss"], found.agreement.loss)
    assert load(out / "model.npz").objective_ == found.estimate.objective_
    sections = sections_of((out / "report.html").read_text())
    assert [section.title for section in sections][:4] == [
        *("What is the estimate?", "How certain is the estimate?"),
        *("Which objects are in doubt?", "Do the chains agree?"),
    ]
    assert "halves of the one chain" in (out / "report.html").read_text()


def test_summarize_again_and_over(r_file, tmp_path):
    out = tmp_path / "out"
    command = ("summarize", r_file, "--draws-axis", "rows", "--starts", 2, "-o", out)
    succeed(*command)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert "finished by an earlier run" in succeed(*command).stderr
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert "holds one with loss vi instead of binder" in fail(*command, "--loss", "binder")
    (out / "ball.csv").write_text("mine")
    assert "ball.csv is not (or no longer) what an earlier run wrote" in fail(*command)
    assert (out / "ball.csv").read_text() == "mine"
    succeed(*command, "--overwrite")
    assert (out / "ball.csv").read_bytes() == before["ball.csv"]


def test_options_of_summarize_count(tmp_path):
    chains = np.stack([noisy(12), noisy(12)])
    np.save(tmp_path / "draws.npy", chains)

    def summary(*options):
        succeed(
            "summarize", tmp_path / "draws.npy", "--draws-axis", "rows", *options, "-o", tmp_path / "o", "--overwrite"
        )
        return json.loads((tmp_path / "o" / "summary.json").read_text())["draws"]

    plain = summary()
    assert plain["n_chains"] == 2
    assert summary("--thin", 3)["n_draws"] == 8
    assert summary("--loss", "gvi", "--a", 2)["objective"] != plain["objective"]
    assert summary("--level", 0.3)["ball"]["radius"] < plain["ball"]["radius"]
    assert len(summary("-k", 2)["clusters"]) == 2
    assert summary("--starts", 3)["starts"]["n"] == 3
    assert summary("--pairs", 7)["agreement"]["pairs"]["n"] == 7
    assert summary("--seed", 1)["settings"]["seed"] == 1
    assert len(summary("--missing", 3)["clusters"]) == 2
    hidden = summary("--no-objects")
    assert hidden["doubt"] is None
    assert "Which objects are in doubt?" not in (tmp_path / "o" / "report.html").read_text()


def test_names_cannot_be_code(tmp_path):
    names = ["<script>alert(1)</script>", *(f"o{j}" for j in range(23))]
    write_r(tmp_path / "draws.csv", DRAWS, names)
    succeed("summarize", tmp_path / "draws.csv", "--draws-axis", "rows", "--starts", 2, "-o", tmp_path / "o")
    page = (tmp_path / "o" / "report.html").read_text()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_what_the_shell_refuses(r_file, tmp_path):
    out = ("-o", tmp_path / "out")
    assert "--draws-axis must say which axis of draws.csv holds the draws" in fail("summarize", r_file, *out)
    assert "--burn-in must leave draws" in fail("summarize", r_file, "--draws-axis", "rows", "--burn-in", 99, *out)
    message = fail("summarize", r_file, "--draws-axis", "rows", "--loss", "nvi", "--a", 1.5, *out)
    assert "--a must go with --loss gvi or binder. Got 1.5 with --loss nvi" in message
    (tmp_path / "text.csv").write_text("a,b\nx,1\ny,2\n")
    message = fail("summarize", tmp_path / "text.csv", "--draws-axis", "rows", *out)
    assert "Got the column 'a' of text. Leave it out, or name it with --chain-column" in message
    assert "none.csv" in fail("summarize", tmp_path / "none.csv", "--draws-axis", "rows", *out)
    assert "--memory" in fail("summarize", r_file, "--draws-axis", "rows", "--memory", "much", *out)
    assert "must fit into" in fail("summarize", r_file, "--draws-axis", "rows", "--memory", "1MB", *out)
    assert not (tmp_path / "out").exists()
