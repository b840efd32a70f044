// What the scripts say, in the language of the page. English sentences are the keys; `facts` fill their {name} fields.

const language = document.documentElement.lang;
const address = document.documentElement.dataset.words;
const known = address ? await fetch(address).then((answer) => answer.json(), () => ({})) : {};
const plural = new Intl.PluralRules(language);
const FORMS = { 2: ["one", "other"], 3: ["one", "few", "other"] };

const fill = (sentence, facts) => sentence.replace(/{(\w+)}/g, (field, name) => facts[name] ?? field);

/** Say a sentence. */
export const _ = (sentence, facts = {}) => fill(known[sentence] || sentence, facts);

/** Say the form of a sentence that goes with a number, which fills its {n}. */
export function ngettext(one, many, number, facts = {}) {
  const forms = known[one] || [one, many];
  const form = forms[FORMS[forms.length].indexOf(plural.select(number))] ?? forms.at(-1);
  return fill(form, { n: number, ...facts });
}
