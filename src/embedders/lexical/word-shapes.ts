/** Reduces a word to shapes that survive inflections and typing errors. */

/** The word without common endings: "changes", "changed" and "changing" become one. */
export function foldEndings(word: string): string {
  const bare = word.endsWith("'s") ? word.slice(0, -2) : word
  if (bare.length < 4) return bare
  if (bare.endsWith('ies')) return `${bare.slice(0, -3)}y`
  if (bare.endsWith('ing') && bare.length > 5) return undouble(bare.slice(0, -3))
  if (bare.endsWith('ed') && bare.length > 4) return undouble(bare.slice(0, -2))
  if (bare.endsWith('s') && !bare.endsWith('ss')) return undouble(bare.slice(0, -1))
  return undouble(bare)
}

/** Without a final "e", and with a double final consonant reduced: "planne", "plann" and "plan" become one. */
function undouble(stem: string): string {
  const bare = stem.endsWith('e') ? stem.slice(0, -1) : stem
  return bare.length > 3 && bare.at(-1) === bare.at(-2) ? bare.slice(0, -1) : bare
}

/** The consonants in order, doubled ones once: errors in vowels and doublings do not change it. */
export function skeletonOf(word: string): string {
  let skeleton = word[0] ?? ''
  for (let at = 1; at < word.length; at += 1) {
    const letter = word[at] ?? ''
    if (letter !== word[at - 1] && !'aeiou'.includes(letter)) skeleton += letter
  }
  return skeleton
}

const FIRST_LETTER = 'a'.charCodeAt(0)
const LETTERS = 26

/** The letters that occur, in alphabetical order: errors in order and doublings do not change it. */
export function lettersOf(word: string): string {
  let occurring = 0
  for (let at = 0; at < word.length; at += 1) {
    const letter = word.charCodeAt(at) - FIRST_LETTER
    if (letter < 0 || letter >= LETTERS) return [...new Set(word)].sort().join('')
    occurring |= 1 << letter
  }
  // The usual case: one bit per letter takes a tenth of the time.
  let letters = ''
  for (let letter = 0; letter < LETTERS; letter += 1)
    if (occurring & (1 << letter)) letters += String.fromCharCode(FIRST_LETTER + letter)
  return letters
}
