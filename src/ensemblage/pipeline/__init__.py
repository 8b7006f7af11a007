"""An analysis, step by step: plan, candidates, choose, make, combine, certify, describe, save.

`ConsensusClustering.fit`, every command that clusters features, resamples and refits without a column call these:

1. plan: `plan_of` in `_decisions` decides all that can be decided before work begins.
2. candidates, choose, make, combine, certify: `run` in `_run`. Features lie in memory or, of `_blocks`, elsewhere.
   What certifies is there, too: a second sample.
3. describe: `rank`, `merge`, `describe` or `describe_of_labels`, and `summary_of` in `_describe`, with refits.
   Of what is not in memory it is `OfAll.describe` in `_blocks`.
   Markers of counts are tested on parts that were not clustered: `split_counts` makes them before 1.
4. save: `model_of` in `_consensus_clustering`, and `save_model` in `consensus._saved`.

It stands above profiles and report, which it calls; records that these show are in `choices`.
"""
