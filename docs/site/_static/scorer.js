/* How the search of the site orders its results.

   Sphinx wants every word of a question on a page and counts the page by its best word. Questions in whole sentences then
   find nothing, and long pages win. Here a page counts by the sum of its words: a rare word counts more than a frequent
   one, a word of a heading more than one of the text, and a word of a short page more than one of a long page. */
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

const INDEXED = 4, TITLE = 4, HEADING = 2.5, TEXT = 1; /* what a word counts by its place */
const BEST = 60; /* the score of a page with all words in its entries of the index; an entry that is the question has 100 */
const IGNORED = new Set(["use", "get", "make", "want", "need", "tell", "work", "way", "thing", "take", "ensemblag"]);
const KINDS = { api: 0.5, evidence: 0.7, gallery: 0.8, changelog: 0.5, index: 0.7, about: 0.5, glossary: 0.8 };

const files = (found) => (found === undefined ? [] : Array.isArray(found) ? found : [found]);

/* Pages that have a word in a list of words of the index; without such pages, those with a longer or shorter word. */
function pagesWith(list, word) {
  if (Object.hasOwn(list, word)) return new Set(files(list[word]));
  const near = word.length > 3 ? Object.keys(list).filter((term) => term.startsWith(word)) : [];
  return new Set(near.flatMap((term) => files(list[term])));
}

/* Words of the entries of the index (terms.py): stem → pages. */
function indexedWords(index) {
  const stemmer = new Stemmer(), found = {};
  for (const [entry, places] of Object.entries(index.indexentries))
    for (const word of splitQuery(entry.toLowerCase()))
      (found[stemmer.stemWord(word)] ??= []).push(...places.filter((place) => place[2]).map((place) => place[0]));
  return found;
}

/* Words of the titles of pages: stem → pages. */
function titleWords(index) {
  const stemmer = new Stemmer(), found = {};
  index.titles.forEach((title, file) => {
    for (const word of splitQuery(title.toLowerCase())) (found[stemmer.stemWord(word)] ??= []).push(file);
  });
  return found;
}

/* The number of different words of each page, divided by the mean. */
function lengths(index) {
  const count = new Array(index.docnames.length).fill(0);
  for (const found of Object.values(index.terms)) for (const file of files(found)) count[file] += 1;
  const mean = count.reduce((sum, n) => sum + n, 0) / count.length;
  return count.map((n) => n / mean);
}

function searchPages(words) {
  const index = Search._index, n = index.docnames.length;
  const kept = [...words].filter((word) => !IGNORED.has(word));
  const asked = kept.length ? kept : [...words];
  const indexed = indexedWords(index), titled = titleWords(index), length = lengths(index);
  const scores = new Map(), covered = new Map();
  let all = 0;
  for (const word of asked) {
    const places = [
      [pagesWith(indexed, word), INDEXED],
      [pagesWith(titled, word), TITLE],
      [pagesWith(index.titleterms, word), HEADING],
      [pagesWith(index.terms, word), TEXT],
    ];
    const pages = new Set(places.flatMap(([found]) => [...found]));
    const rarity = Math.log(1 + n / Math.max(pages.size, 1));
    all += rarity;
    for (const file of pages) {
      const place = places.find(([found]) => found.has(file))[1];
      const part = place === TEXT ? TEXT / (0.4 + 0.6 * length[file]) : place;
      scores.set(file, (scores.get(file) || 0) + rarity * part);
      covered.set(file, (covered.get(file) || 0) + rarity);
    }
  }
  return [...scores].map(([file, sum]) => {
    const kind = KINDS[index.docnames[file].split("/")[0]] ?? 1;
    const score = (BEST * kind * sum * (1 + covered.get(file) / all)) / (2 * INDEXED * all);
    return [index.docnames[file], index.titles[file], "", null, score, index.filenames[file], SearchResultKind.text];
  });
}

/* Sphinx loads this file after its own, and searches when the page is complete. */
if (typeof Search !== "undefined") Search.performTermsSearch = searchPages;
