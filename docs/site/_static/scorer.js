/* What the search of the site puts first: pages that explain, then the reference, then records of measurements. */
var Scorer = {
  score: (result) => {
    const [docname, , , , score] = result;
    if (docname.startsWith("api/")) return score - 10;
    if (docname.startsWith("evidence/") || docname.startsWith("gallery/") || docname === "changelog") return score - 6;
    if (docname.startsWith("howto/") || docname === "faq" || docname === "start") return score + 3;
    return score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
