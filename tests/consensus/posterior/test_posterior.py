"""Draws from a posterior: expected losses, and the partition with the least; golden values of shared ensembles."""

from functools import cache

import naive
import numpy as np
import pytest
from limits import limit
from numpy.testing import assert_allclose, assert_array_equal
from representatives import first_of
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from strategies import random_labels

from ensemblage import Ensemble, make_consensus
from ensemblage.base.random import task_seeds
from ensemblage.consensus import Dune, SalsoConsensus, WasabiModes
from ensemblage.metrics import coassociation, confidence, element_consistency, element_similarity, partition_distance
from ensemblage.posterior import chain_agreement, chips, credible_ball, expected_loss


def columns(*texts):
    return np.array([list(map(int, text)) for text in texts]).T


E = columns("1111222332", "1112222333", "1122233444", "1111122221")
E_MISS = E.copy()
E_MISS[2, 2] = E_MISS[9, 0] = -1
F = columns(
    *("112233344", "112233344", "111222333", "112223334", "111222233", "123344455"),
    *("112222333", "111122333", "112233444", "111222333", "122233344", "111111222"),
)
FW = [3, 1, 2, 1, 1, 1, 2, 1, 1, 2, 1, 1]


def planted_draws():
    """120 objects, 200 draws, one in two of which joins the two smallest of six clusters."""
    rng, truth = np.random.default_rng(2022), np.repeat(np.arange(6), [35, 30, 20, 15, 12, 8])
    draws = np.empty((200, 120), dtype=int)
    for draw in draws:
        z, move = truth.copy(), rng.random(120) < 0.25
        z[move] = rng.integers(0, 8, size=int(move.sum()))
        if rng.random() < 0.5:
            z[z == 5] = 4
        draw[:] = z
    assert draws.sum() == 50540
    return draws.T, truth


PL, TRUTH = planted_draws()
MERGED = np.minimum(TRUTH, 4)
LOSSES = [("vi", 1), ("gvi", 0.5), ("gvi", 1.5), ("binder", 1), ("binder", 0.5), ("binder", 1.5)]
LOSSES += [("omari", 1), ("nvi", 1), ("id", 1), ("nid", 1)]
# By loss: the least on E, on F, on F with weights; the losses of six and of five planted clusters on PL.
GOLDEN = {
    ("vi", 1): (0.918226399, 0.787942130, 0.752528432, 2.0003642, 1.9900216),
    ("gvi", 0.5): (0.606616563, 0.542119213, 0.496378227, 2.0947606, 2.1653306),
    ("gvi", 1.5): (0.754347485, 0.713687037, 0.695179167, 1.9059678, 1.8147127),
    ("binder", 1): (0.18, 0.137860082, 0.129266521, 0.1272868, 0.1308604),
    ("binder", 0.5): (0.105, 0.085390947, 0.078431373, 0.1390899, 0.1493302),
    ("binder", 1.5): (0.185, 0.153292181, 0.137981118, 0.1154837, 0.1123906),
    ("omari", 1): (0.476488237, 0.464105576, 0.442258219, 0.4220645, 0.4221866),
    ("nvi", 1): (0.413959939, 0.338356948, 0.327584224, 0.5673741, 0.5785697),
    ("id", 1): (0.599354211, 0.542300232, 0.516978758, 1.0956017, 1.1703198),
    ("nid", 1): (0.354813405, 0.272336384, 0.260178127, 0.4202438, 0.4483958),
}
SURE = [loss for loss in LOSSES if loss not in {("gvi", 0.5), ("binder", 0.5), ("id", 1), ("nid", 1)}]
"""Losses whose least on PL every sensible search finds."""
LEAST_ON_PL = {("vi", 1): 1.990021648, ("gvi", 1.5): 1.302870472, ("binder", 1): 0.127286806}
LEAST_ON_PL |= {("omari", 1): 0.422064469, ("nvi", 1): 0.567374137, ("binder", 1.5): 0.112390625}
BOUND_ON_PL = {("id", 1): 1.081560060, ("nid", 1): 0.413163532, ("gvi", 0.5): 2.090659777, ("binder", 0.5): 0.118281597}


@pytest.mark.parametrize(("loss", "a"), LOSSES)
def test_losses_of_given_partitions(loss, a):
    six, five = (expected_loss(PL, z, loss, a=a) for z in (TRUTH, MERGED))
    assert_allclose([six, five], GOLDEN[loss, a][3:], atol=6e-8)


@pytest.mark.parametrize(("loss", "a"), LOSSES)
@pytest.mark.parametrize("missing", [0, 0.3])
def test_losses_as_the_naive_twin(loss, a, missing):
    rng = np.random.default_rng(0)
    for seed in range(4):
        labels = random_labels(n=14, p=6, k=3, missing=missing, seed=seed)
        c = rng.integers(-1 if missing else 0, 3, size=14)
        weights = rng.integers(1, 5, size=6)
        found = expected_loss(labels, c, loss, a=a, weights=weights)
        assert_allclose(found, naive.expected_loss(labels, c, loss, a, weights), rtol=1e-12)


@pytest.mark.parametrize(("loss", "a"), LOSSES)
def test_equal_partitions_lose_nothing(loss, a):
    for z in ([0, 0, 0, 0], [0, 1, 2, 3], [0, 0, 1, 1], [0]):
        assert expected_loss(np.array([z, z]).T, z, loss, a=a) == 0


def test_vi_is_in_bits():
    assert_allclose(expected_loss(F[:, :1], F[:, 2]), partition_distance(F[:, 0], F[:, 2]) / np.log(2))


def test_a_draw_that_shares_no_object_says_nothing():
    labels = np.array([[0, 0, 1, 1], [-1, -1, -1, 0]]).T
    for loss, a in LOSSES:
        alone = expected_loss(labels[:, :1], [0, 0, 1, -1], loss, a=a)
        assert expected_loss(labels, [0, 0, 1, -1], loss, a=a) == alone
        assert np.isnan(expected_loss(labels[:, 1:], [0, 0, 1, -1], loss, a=a))


@cache
def least_losses(weighted):
    """By name the least of all partitions of F."""
    found = naive.expected_losses(F, naive.all_partitions(9), weights=FW if weighted else None)
    return {name: losses.min() for name, losses in found.items()}


@pytest.mark.core(3)
@pytest.mark.parametrize(("loss", "a"), LOSSES)
@pytest.mark.parametrize("weights", [None, FW])
def test_the_least_loss_is_that_of_all_partitions(loss, a, weights):
    name = loss if a == 1 else f"{loss} {a:g}".replace("0.", ".")
    least = least_losses(weights is not None)[name]
    model = SalsoConsensus(9, loss=loss, a=a, weights=weights, random_state=0).fit(F)
    assert_allclose([model.objective_, least], GOLDEN[loss, a][1 if weights is None else 2], atol=6e-10)
    assert_allclose(expected_loss(F, model.labels_, loss, a=a, weights=weights), model.objective_, rtol=1e-12)


@pytest.mark.parametrize(("loss", "a"), LOSSES)
def test_equal_rows_are_one(loss, a):
    name = loss if a == 1 else f"{loss} {a:g}".replace("0.", ".")
    rows, counts = np.unique(E, axis=0, return_counts=True)
    least = naive.expected_losses(rows, naive.all_partitions(7), counts)[name].min()
    model = SalsoConsensus(7, loss=loss, a=a, random_state=0).fit(E)
    assert_allclose([model.objective_, least], GOLDEN[loss, a][0], atol=6e-10)


@pytest.mark.core(3)
@pytest.mark.parametrize(("loss", "a"), LOSSES)
@pytest.mark.parametrize("seed", range(3))
def test_random_draws_against_all_partitions(loss, a, seed):
    name = loss if a == 1 else f"{loss} {a:g}".replace("0.", ".")
    rng = np.random.default_rng(seed)
    labels, weights = rng.integers(3, size=(7, 6)), rng.random(6) + 0.1
    least = naive.expected_losses(labels, naive.all_partitions(7), weights=weights)[name].min()
    model = SalsoConsensus(7, loss=loss, a=a, weights=weights, n_init=40, random_state=seed).fit(labels)
    assert_allclose(model.objective_, least, rtol=1e-9)


@pytest.mark.core(3)
@pytest.mark.parametrize(("loss", "a"), SURE)
def test_the_least_loss_of_planted_draws(loss, a):
    model = SalsoConsensus(loss=loss, a=a, random_state=0).fit(PL)
    assert_allclose(model.objective_, LEAST_ON_PL[loss, a], atol=6e-10)


@pytest.mark.core(1)
@pytest.mark.parametrize(("loss", "a"), first_of(reversed(BOUND_ON_PL), 2))
def test_hard_losses_of_planted_draws_are_not_above_the_bound(loss, a):
    """Of ten seeds 38 of 40 fits are not (docs/BENCHMARKS.md)."""
    model = SalsoConsensus(loss=loss, a=a, random_state=0).fit(PL)
    assert model.objective_ < BOUND_ON_PL[loss, a] + 1e-9


@pytest.mark.parametrize(("loss", "least"), [("vi", 0.723941447), ("binder", 0.149171271), ("omari", 0.379348796)])
def test_missing_labels(loss, least):
    model = SalsoConsensus(7, loss=loss, random_state=0).fit(E_MISS)
    assert_allclose(model.objective_, least, atol=6e-10)
    assert model.n_clusters_ == 4
    assert expected_loss(E_MISS, columns("1112233444")[:, 0], loss) == model.objective_


def test_groups_move_as_a_whole():
    """All in one cluster is the best place of every single object; not of the rows."""
    draws = columns("1112222")
    assert SalsoConsensus(2, n_init=1, max_zealous=0, random_state=0).fit(draws).objective_ == 0


def test_few_clusters_are_kept_to():
    model = SalsoConsensus(3, random_state=0).fit(PL)
    assert model.n_clusters_ == 3
    assert model.objective_ > LEAST_ON_PL["vi", 1]


def test_weights_are_copies():
    model = SalsoConsensus(9, weights=FW, random_state=0).fit(F)
    copies = SalsoConsensus(9, random_state=0).fit(np.repeat(F, FW, axis=1))
    assert_allclose(model.objective_, copies.objective_)


@pytest.mark.parametrize(("loss", "a"), [("gvi", 0.5), ("nid", 1)])
def test_recombinations_lower_the_loss_where_no_two_starts_agree(loss, a):
    given = {"loss": loss, "a": a, "n_searches": 1, "random_state": 0}
    without, some = (SalsoConsensus(n_rounds=n, **given).fit(PL) for n in (0, 4))
    assert_array_equal(without.losses_, some.losses_)
    assert without.objective_ == pytest.approx(without.losses_.min(), rel=1e-12)
    assert some.objective_ < without.objective_ - 1e-6


def test_starts_that_agree_are_not_recombined():
    """Nor are there other searches."""
    found = SalsoConsensus(random_state=0).fit(PL)
    assert np.sum(found.losses_ <= found.objective_ + 1e-9) > 1
    assert len(found.losses_) == 16
    asked = SalsoConsensus(n_rounds=0, random_state=0).fit(PL)
    assert_array_equal(found.labels_, asked.labels_)
    assert found.n_iter_ == asked.n_iter_


def test_chains_move_rows_that_must_move_together():
    """One start is recombined with nothing. Where no move of a single row lowers the loss, a chain of moves does."""
    given = {"loss": "id", "n_init": 1, "n_searches": 1, "max_zealous": 0, "random_state": 1}
    without, few, many = (SalsoConsensus(8, n_rounds=n, **given).fit(PL) for n in (0, 1, 100))
    assert_array_equal(many.losses_, without.losses_)
    assert many.objective_ < without.objective_ - 1e-6
    assert many.objective_ <= few.objective_ <= without.objective_


@pytest.mark.slow
def test_the_default_searches_less_where_labels_are_many(monkeypatch):
    given = {"loss": "nid", "n_init": 4, "random_state": 0}
    few = SalsoConsensus(**given).fit(PL)
    limit(monkeypatch, "labels up to which searches are long", PL.size - 1)
    many, asked = (SalsoConsensus(**given, **more).fit(PL) for more in ({}, {"n_rounds": 3, "n_searches": 1}))
    assert len(few.losses_) == 16
    assert_array_equal(many.losses_, asked.losses_)
    assert_array_equal(many.labels_, asked.labels_)
    assert few.objective_ <= many.objective_


def test_searches_and_threads_of_them():
    one = SalsoConsensus(loss="nid", n_init=4, n_rounds=2, n_searches=3, n_jobs=1, random_state=0).fit(PL)
    two = SalsoConsensus(loss="nid", n_init=4, n_rounds=2, n_searches=3, n_jobs=2, random_state=0).fit(PL)
    assert_array_equal(one.labels_, two.labels_)
    assert_array_equal(one.losses_, two.losses_)
    assert one.objective_ == two.objective_
    first = SalsoConsensus(loss="nid", n_init=4, n_rounds=2, n_searches=1, random_state=0).fit(PL)
    assert len(one.losses_) == 12
    assert_array_equal(one.losses_[:4], first.losses_)
    assert one.objective_ <= first.objective_


@pytest.mark.slow
def test_any_number_of_threads_gives_the_same():
    one, two = (SalsoConsensus(loss="nid", n_jobs=n, random_state=3).fit(PL) for n in (1, 2))
    assert_array_equal(one.losses_, two.losses_)
    assert_array_equal(one.labels_, two.labels_)


@pytest.mark.parametrize("loss", ["vi", "binder", "omari", "nid"])
def test_more_objects_than_the_table_of_g_has(monkeypatch, loss):
    """Beyond it the values are computed; weights of objects make all of them large."""
    weights = np.arange(1, 10)
    expected = SalsoConsensus(9, loss=loss, random_state=0).fit(F, sample_weight=weights)
    limit(monkeypatch, "objects whose logarithms are tabulated", 5)
    found = SalsoConsensus(9, loss=loss, random_state=0).fit(F, sample_weight=weights)
    assert_array_equal(found.labels_, expected.labels_)
    assert_allclose(found.losses_, expected.losses_, rtol=1e-12)


def test_names_of_the_registry():
    assert make_consensus("salso-binder", random_state=0).fit(F).objective_ == pytest.approx(0.137860082)


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"a of SalsoConsensus must be 1 with loss='vi'.* Got 0.5"):
        SalsoConsensus(a=0.5).fit(F)
    with pytest.raises(ValueError, match=r"must fit into max_bytes .* thin the draws"):
        SalsoConsensus(max_bytes="1MB").fit(PL)
    with pytest.raises(ValueError, match="loss of SalsoConsensus must be one of"):
        SalsoConsensus(loss="pear").fit(F)
    with pytest.raises(ValueError, match="a of expected_loss must be a number ≥ 0 and ≤ 2"):
        expected_loss(F, F[:, 0], "gvi", a=3)


# ---- Credible balls, posterior similarity ----


@pytest.mark.parametrize(
    ("loss", "level", "weights", "radius", "share", "bounds"),
    [
        ("vi", 0.95, None, 1.501086112, 1, ([4], [11], [5])),
        ("vi", 0.75, None, 1.056641667, 0.75, ([11], [11], [5])),
        ("vi", 0.5, None, 0.834419445, 0.666667, ([2, 5], [2], [5])),
        ("vi", 0.95, FW, 1.501086112, 1, ([4], [11], [5])),
        ("vi", 0.5, FW, 0.834419445, 0.764706, ([2, 5], [2], [5])),
        ("vi", 0.75, FW, 0.834419445, 0.764706, ([2, 5], [2], [5])),
        ("binder", 0.95, None, 0.296296296, 1, ([11], [11], [5])),
        ("binder", 0.5, None, 0.123456790, 0.666667, ([2, 5], [2], [5])),
        ("binder", 0.5, FW, 0.123456790, 0.764706, ([2, 5], [2], [5])),
    ],
)
def test_credible_balls(loss, level, weights, radius, share, bounds):
    ball = credible_ball(F, columns("112233444")[:, 0], level, loss, weights=weights)
    assert_allclose([ball.radius, ball.share], [radius, share], atol=6e-7)
    assert (ball.horizontal.tolist(), ball.upper_vertical.tolist(), ball.lower_vertical.tolist()) == bounds
    assert_array_equal(ball.inside, ball.distances <= radius + 1e-6)


def test_a_draw_without_weight_is_not_in_the_ball():
    ball = credible_ball(F, F[:, 8], 1, weights=[1] * 4 + [0] + [1] * 7)
    assert not ball.inside[4]
    assert ball.inside.sum() == 11


def test_wrong_credible_balls():
    with pytest.raises(ValueError, match="level of credible_ball must be a number > 0 and ≤ 1"):
        credible_ball(F, F[:, 0], 0)
    with pytest.raises(ValueError, match="must share an object with some draw"):
        credible_ball([[0, -1], [-1, -1], [-1, 1]], [-1, 0, -1])


def test_posterior_similarity_and_the_probability_to_be_with_the_own_cluster():
    similarity = coassociation(F, weights=FW)
    assert_allclose(similarity[4, :5], [0.058824, 0.058824, 0.235294, 0.529412, 1], atol=5e-7)
    found = confidence(F, columns("112233444")[:, 0]).cohesion
    expected = [0.833333, 0.833333, 0.75, 0.75, 0.916667, 0.916667, 0.541667, 0.75, 0.708333]
    assert_allclose(found, expected, atol=5e-7)
    model = SalsoConsensus(weights=FW, random_state=0).fit(F)
    expected = [0.882353, 0.882353, 0.705882, 0.705882, 0.941176, 0.941176, 0.558824, 0.764706, 0.735294]
    assert_allclose(model.cohesion_, expected, atol=5e-7)


# ---- Element-centric similarity ----


@pytest.mark.parametrize(
    ("a", "b", "mean"),
    [(0, 1, 0.633333), (0, 2, 0.483333), (0, 3, 0.533333), (1, 2, 0.666667), (1, 3, 0.433333), (2, 3, 0.433333)],
)
def test_element_similarity(a, b, mean):
    found = element_similarity(E[:, a], E[:, b])
    assert_allclose(found.mean(), mean, atol=5e-7)
    assert_allclose(found, naive.element_similarity(E[:, a], E[:, b]))
    assert_array_equal(found, element_similarity(E[:, b], E[:, a]))


def test_element_consistency():
    of_E = [0.569444, 0.569444, 0.541667, 0.458333, 0.444444, 0.541667, 0.541667, 0.638889, 0.638889, 0.361111]
    assert_allclose(element_consistency(E), of_E, atol=5e-7)
    of_F = [0.672181, 0.675858, 0.567402, 0.572917, 0.666667, 0.661765, 0.634191, 0.789216, 0.775735]
    assert_allclose(element_consistency(F, weights=FW), of_F, atol=5e-7)
    assert_allclose(element_consistency(np.repeat(F, FW, axis=1)), of_F, atol=5e-7)
    found = element_consistency(PL)
    assert_allclose(found[[0, 40, 70, 100, 119]], [0.418648, 0.451617, 0.390957, 0.301112, 0.305875], atol=5e-7)
    assert_allclose([found.mean(), element_consistency(PL[:, :20]).mean()], [0.415784688, 0.396005793], atol=5e-9)


@pytest.mark.parametrize(("labels", "inconsistency"), [(E, 1.543408360), (F, 1.500868558), (PL[:, :20], 2.346285989)])
def test_inconsistency_follows_from_it(labels, inconsistency):
    p = labels.shape[1]
    assert_allclose(p / (1 + (p - 1) * element_consistency(labels).mean()), inconsistency, atol=5e-9)


def test_element_consistency_with_missing_labels():
    labels = random_labels(n=25, p=5, k=3, missing=0.4, seed=3)
    pairs = [naive.element_similarity(labels[:, a], labels[:, b]) for a in range(5) for b in range(a + 1, 5)]
    known = ~np.isnan(pairs)
    expected = np.where(known.any(axis=0), np.nansum(pairs, axis=0) / np.maximum(known.sum(axis=0), 1), np.nan)
    assert_allclose(element_consistency(labels), expected)
    assert_array_equal(element_consistency(PL, n_jobs=1), element_consistency(PL, n_jobs=2))


def test_wrong_weights_of_element_consistency():
    for labels, weights in ((F, [0.5] * 12), (F[:, :1], None)):
        with pytest.raises(
            ValueError, match="weights of element_consistency must be whole numbers ≥ 0 with a sum of at least 2"
        ):
            element_consistency(labels, weights=weights)


# ---- What is surely placed; several estimates ----


FRONTIERS = [
    (E, None, [1, 1, 1, 1, 0.75, 0.75, 0.5, 0.5, 0.25, 0.25]),
    (F, None, [1, 1, 0.916667, 0.916667, 0.833333, 0.666667, 0.416667, 0.333333, 0.166667]),
    (F, FW, [1, 1, 0.941176, 0.941176, 0.882353, 0.764706, 0.470588, 0.352941, 0.235294]),
]


@pytest.mark.parametrize(("labels", "weights", "shares"), FRONTIERS)
def test_chips_places_as_many_as_can_be(labels, weights, shares):
    """Against the largest share of the draws that agree on so many objects, of all subsets."""
    for share in set(shares):
        found = chips(labels, share - 1e-6, weights=weights, random_state=0)
        assert found.n_placed == max(n for n, other in enumerate(shares, 1) if other >= share - 1e-6)
        assert_allclose(found.probability, shares[found.n_placed - 1], atol=5e-7)
        placed = found.labels >= 0
        assert placed.sum() == found.n_placed
        pairs = found.labels[placed][:, None] == found.labels[placed]
        agree = [(z[placed][:, None] == z[placed]).tolist() == pairs.tolist() for z in labels.T]
        assert_allclose(np.average(agree, weights=weights), found.probability)


def test_the_partial_partitions_that_are_unique():
    same = lambda labels: [labels.tolist().index(x) if x >= 0 else -1 for x in labels.tolist()]  # noqa: E731
    assert same(chips(E, 0.75, random_state=0).labels) == [0, 0, -1, -1, -1, 5, 5, 7, 7, -1]
    assert same(chips(E, 0.5, random_state=0).labels) == [0, 0, 0, -1, 4, 4, 4, 7, 7, -1]
    assert same(chips(F, 0.5, random_state=0).labels) == [0, 0, -1, -1, 4, 4, -1, 7, 7]
    assert same(chips(F, 0.4, weights=FW, random_state=0).labels) == [0, 0, -1, -1, 4, 4, 6, 6, 6]


def test_chips_repeats_and_its_parameters_count():
    noise = random_labels(n=40, p=30, k=2, seed=0)
    found = [chips(noise, 0.1, n_init=n, random_state=seed, n_jobs=n_jobs).labels
             for n, seed, n_jobs in ((1, 0, 1), (1, 1, 1), (30, 0, 1), (30, 0, 2))]  # fmt: skip
    assert_array_equal(found[2], found[3])
    assert (found[0] != found[1]).any()
    assert (found[2] >= 0).sum() >= (found[0] >= 0).sum()
    with pytest.raises(ValueError, match="labels of chips must have a label for every object"):
        chips(E_MISS)
    with pytest.raises(ValueError, match="level of chips must be a number > 0 and ≤ 1"):
        chips(E, 1.5)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("level", [0.2, 0.6])
def test_chips_as_the_naive_twin(seed, level):
    labels, rng = np.unique(random_labels(n=9, p=7, k=3, seed=seed), axis=0), np.random.default_rng(seed)
    weights, counts = rng.integers(1, 4, size=7), rng.integers(1, 5, size=len(labels))
    found = chips(np.repeat(labels, counts, axis=0), level, n_init=1, weights=weights, random_state=seed)
    random = np.random.RandomState(task_seeds(seed, 1)[0])
    expected, probability = naive.chips(labels, counts, (level - 1e-9) * weights.sum(), random, weights)
    expected = np.repeat(expected, counts)
    assert_array_equal(found.labels >= 0, expected >= 0)
    assert_array_equal(found.labels[:, None] == found.labels, expected[:, None] == expected)
    assert_allclose(found.probability, probability)


def test_chips_draws_among_objects():
    """Of two rows that exclude each other, one of nine objects and one of one, the nine begin nine times in ten."""
    labels = np.repeat([[0, 0], [0, 1], [1, 0]], [1, 9, 1], axis=0)
    placed = [chips(labels, 0.5, n_init=1, random_state=seed).n_placed for seed in range(200)]
    found = np.mean(np.array(placed) >= 10)
    assert found > 0.8


def test_weights_of_chips_are_copies():
    copies = np.repeat(F, FW, axis=1)
    for level in (0.4, 0.5, 0.9):
        found, same = chips(F, level, weights=FW, random_state=0), chips(copies, level, random_state=0)
        assert (found.n_placed, round(found.probability, 12)) == (same.n_placed, round(same.probability, 12))


@pytest.mark.core(1)
@pytest.mark.parametrize("seed", first_of(range(3)))
@pytest.mark.parametrize("weighted", [False, True])
def test_wasabi_as_the_naive_twin(seed, weighted):
    labels = random_labels(n=5, p=6, k=3, seed=seed)
    weights = np.random.default_rng(seed).integers(1, 5, size=6) if weighted else None
    for n_modes in (1, 2, 3):
        model = WasabiModes(n_modes, n_clusters=len(np.unique(labels, axis=0)), n_init=30, weights=weights)
        found = model.set_params(random_state=0).fit(labels).objective_
        assert_allclose(found, naive.wasserstein_of_partitions(labels, n_modes, weights), rtol=1e-9, atol=1e-12)


def test_weights_of_wasabi_are_copies_and_those_without_have_no_say():
    model = WasabiModes(2, weights=FW, random_state=0).fit(F)
    same = WasabiModes(2, random_state=0).fit(np.repeat(F, FW, axis=1))
    assert_allclose([model.objective_, *model.weights_], [same.objective_, *same.weights_])
    without = WasabiModes(2, weights=[0, *[1] * 11], random_state=0).fit(F)
    assert without.modes_[0] == -1
    assert_allclose(without.objective_, WasabiModes(2, random_state=0).fit(F[:, 1:]).objective_)


def test_partitions_of_dune_count_alike():
    """It has no weights: a partition counts as often as it is there."""
    assert "weights" not in Dune().get_params()
    with pytest.raises(TypeError, match="weights"):
        Dune(weights=FW)
    assert Dune().fit(np.repeat(E, [1, 2, 1, 1], axis=1)).agreements_[0] != Dune().fit(E).agreements_[0]


@pytest.mark.parametrize(
    "answer",
    [
        lambda labels, n_jobs: [*chips(labels, 0.3, n_init=4, n_jobs=n_jobs, random_state=0)],
        lambda labels, n_jobs: [*credible_ball(labels, TRUTH[::2], n_jobs=n_jobs)],
        lambda labels, n_jobs: [*chain_agreement(labels, TRUTH[::2], n_jobs=n_jobs, random_state=0)],
        lambda labels, n_jobs: vars_of(WasabiModes(2, n_init=2, n_jobs=n_jobs, random_state=0).fit(labels)),
        lambda labels, n_jobs: vars_of(Dune(n_jobs=n_jobs).fit(labels)),
    ],
    ids=["chips", "ball", "chains", "wasabi", "dune"],
)
def test_threads_and_disk_change_nothing(answer, tmp_path):
    labels = PL[::2, :20].astype(np.int16)
    np.save(tmp_path / "draws.npy", labels)
    expected = answer(labels, 1)
    for given, n_jobs in ((labels, 2), (Ensemble.open(tmp_path / "draws.npy"), 1)):
        for one, other in zip(answer(given, n_jobs), expected, strict=True):
            assert_array_equal(one, other)


def vars_of(model):
    """What a fit has found."""
    return [value for name, value in vars(model).items() if name.endswith("_") and "names" not in name]


DISTANCES = [
    (E, None, [0.918226399, 0.55, 0.237744375, 0]),
    (F, None, [0.787942130, 0.430827083, 0.335783912]),
    (F, FW, [0.752528432, 0.343328922, 0.241957843]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("labels", "weights", "distances"), first_of(reversed(DISTANCES)))
def test_several_estimates_are_as_near_as_can_be(labels, weights, distances):
    for n_modes, distance in enumerate(distances, 1):
        k = len(np.unique(labels, axis=0))
        model = WasabiModes(n_modes, n_clusters=k, n_init=30, weights=weights, random_state=0).fit(labels)
        assert_allclose(model.objective_, distance, atol=6e-10)
        assert_allclose(model.weights_ @ model.expected_losses_, model.objective_)
        of_draws = [expected_loss(labels[:, [j]], model.labels_[:, q]) for j, q in enumerate(model.modes_)]
        assert_allclose(np.average(of_draws, weights=weights), model.objective_)


def test_two_stories_of_planted_draws():
    model = WasabiModes(2, n_init=4, random_state=0).fit(PL)
    assert model.objective_ <= 1.941050847 + 1e-6
    assert_allclose(WasabiModes(1, n_init=1, random_state=0).fit(PL).objective_, LEAST_ON_PL["vi", 1], atol=6e-10)


def test_two_estimates_of_the_example():
    model = WasabiModes(2, weights=FW, random_state=0).fit(F)
    assert_allclose(model.weights_, [0.529412, 0.470588], atol=5e-7)
    assert_allclose(model.expected_losses_, [0.370370, 0.312907], atol=5e-7)
    assert partition_distance(model.labels_[:, 0], columns("111222333")[:, 0]) == 0
    assert partition_distance(model.labels_[:, 1], columns("112233344")[:, 0]) == 0


# ---- Merging clusters until the partitions agree ----


MERGES = [
    (
        E,
        "ari",
        0.267404517,
        0.438034755,
        "2:0,1 1:0,1 0:0,1 2:0,2",
        [0.078158336, 0.002354553, 0.030227223, 0.059890127],
    ),
    (E, "nmi", 0.507827394, 0.525348885, "2:0,1", [0.017521491]),
    (F, "ari", 0.420401291, 0.462094241, "5:0,1 3:2,3 10:0,1", [0.015307175, 0.014356660, 0.012029115]),
    (F, "nmi", 0.688552543, 0.699312874, "5:0,1 10:0,1 3:2,3", [0.005390982, 0.003497869, 0.001871479]),
]


@pytest.mark.parametrize(("labels", "measure", "before", "after", "merges", "gains"), MERGES)
def test_dune(labels, measure, before, after, merges, gains):
    model = Dune(measure).fit(labels)
    assert " ".join(f"{m.partition}:{m.kept},{m.merged}" for m in model.merges_) == merges
    assert_allclose([m.gain for m in model.merges_], gains, atol=6e-10)
    assert_allclose(model.agreements_[[0, -1]], [before, after], atol=6e-10)
    pairs = [(a, b) for a in range(labels.shape[1]) for b in range(a)]
    score = adjusted_rand_score if measure == "ari" else normalized_mutual_info_score
    assert_allclose(np.mean([score(model.labels_[:, a], model.labels_[:, b]) for a, b in pairs]), after, atol=6e-10)


def test_dune_of_planted_draws():
    model = Dune().fit(PL[:, :8])
    expected = "5:1,6 1:0,6 2:0,6 7:0,7 0:0,7 3:4,6 2:1,7 4:1,6 6:0,7 7:3,6 3:0,7 4:0,7 0:0,6 5:1,7 2:4,5 5:4,5 6:4,5"
    first = [list(dict.fromkeys(z.tolist())) for z in PL[:, :8].T]
    found = [(m.partition, sorted(first[m.partition][k] for k in (m.kept, m.merged))) for m in model.merges_]
    assert " ".join(f"{j}:{a},{b}" for j, (a, b) in found) == expected
    assert_allclose(model.agreements_[[0, -1]], [0.358396521, 0.385920248], atol=6e-10)
    assert [len(np.unique(z)) for z in model.labels_.T] == [5, 6, 5, 5, 5, 5, 6, 5]
    assert_allclose(Dune("nmi").fit(PL[:, :8]).agreements_[-1], 0.414039480, atol=6e-10)


def test_dune_leaves_missing_labels_alone_and_may_merge_nothing():
    model = Dune().fit(E_MISS)
    assert_array_equal(model.labels_ < 0, E_MISS < 0)
    model = Dune().fit(np.column_stack([TRUTH, TRUTH]))
    assert model.merges_ == []
    assert model.agreements_.tolist() == [1]
    with pytest.raises(ValueError, match=r"X of Dune must have two partitions or more\. Got 1"):
        Dune().fit(TRUTH[:, None])
