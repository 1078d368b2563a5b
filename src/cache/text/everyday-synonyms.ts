/** Everyday synonyms, most of which WordNet does not have. */

/** Words with one meaning in nearly all contexts. */
export const closeSynonyms = wordGroups(`
  cancel terminate|recover retrieve|remove delete|reduce decrease|raise increase|fast quick rapid|find locate|price cost|start begin|buy purchase
  disadvantage downside drawback con|advantage benefit pro upside|child kid|fix repair|big large|sick ill|television tv
`)
/** Adds words with one meaning in many contexts: a contract is cancelled or ended, a meeting is not. */
const moreSynonyms = closeSynonyms.concat(
  wordGroups(`
  cancel terminate end|recover restore retrieve|remove delete eliminate|reduce lower decrease|raise increase boost|famous popular|tip advice|sign symptom
  secure protect|contact reach|salary pay
`),
)

/** Returns whether two lemmas are synonyms in most contexts. */
export function areEverydaySynonyms(one: string, other: string): boolean {
  return moreSynonyms.some(group => group.includes(one) && group.includes(other))
}

function wordGroups(text: string): readonly string[][] {
  return text.split(/[|\n]/).map(group => group.trim().split(' '))
}
