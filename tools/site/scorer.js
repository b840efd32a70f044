// How Sphinx orders what a search has found: titles and headings first, and those before the others that hold the words
// as they were asked for.

const asked = new URLSearchParams(location.search).get("q")?.toLowerCase().trim() ?? "";

var Scorer = {
  score: ([, title, , , score, , kind]) =>
    score + (kind === "title" ? 200 : 0) + (asked && title.toLowerCase().includes(asked) ? 100 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
