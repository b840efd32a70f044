// Lists and capitals in the language of the page.

const language = document.documentElement.lang;
const place = language === "en" ? "en-GB" : language; // "A, B and C"
const all = new Intl.ListFormat(place, { type: "conjunction" });
const any = new Intl.ListFormat(place, { type: "disjunction" });

/** Return "A, B and C". */
export const listed = (names) => all.format(names);

/** Return "A, B or C". */
export const either = (names) => any.format(names);

export const capital = (text) => text.charAt(0).toLocaleUpperCase(language) + text.slice(1);
