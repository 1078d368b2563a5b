/** Reads British spellings as American ones. */
import { canBeProperNoun, findWordRelation, lemmasOf } from '../text/lexicon.ts'
import { wordMap } from '../text/words.ts'

/** Letter groups that differ between British and American spelling. */
const british =
  /ae|oe|our(?=s?$|ed$|ing$|ite|able|ful)|[iy]s(?=e|ing$|ation)|(?<=[bt])re(?=s?$)|ogue(?=s?$)|ll(?=ed$|ing$|er)|(?<=[fc])ence(?=s?$)|mme(?=s?$)|grey|eable/
const american = wordMap('our or|is iz|ys yz|re er|ogue og|ll l|ence ense|mme m|grey gray|eable able')

/** Returns the American spelling of a lower-case word, "favorite" for "favourite", if the lexicon has both as synonyms. */
export function toAmerican(word: string): string {
  const other = word.replace(british, found => american.get(found) ?? 'e')
  if (other === word || canBeProperNoun(word) || canBeProperNoun(other)) return word
  const [one, two] = [word, other].map(each => lemmasOf(each)[0]?.word ?? each) as [string, string]
  return one === two || findWordRelation(one, two) === 'synonym' ? other : word
}
