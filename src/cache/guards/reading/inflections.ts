/** Reduces a word to the forms under which its inflections meet: "making", "makes" and "made" all have "make". */
import { baseForms, ownWords } from '../lexicon/irregular-forms.ts'

const doubled = /([bdfgklmnprtvz])\1$/
const keepsDouble = /(?:ll|ss|zz|ff)$/
/** A stem like "mak" or "hop": had its verb no final "e", the consonant would be double ("hopping"). */
const dropsFinalE = /^[^aeiou]*[aeiou][^aeiouwxy]$/

/**
 * The forms of a lower-case word, its own first. Two words are inflections of one another when they share a form. Plurals,
 * possessives, "-ed" and "-ing" are undone; comparatives and derivations ("teacher") are other words and stay.
 */
export function inflectionForms(word: string): readonly string[] {
  const bare = word.endsWith("'s") ? word.slice(0, -2) : word.endsWith("'") ? word.slice(0, -1) : word
  const base = baseForms.get(bare)
  if (base !== undefined) return base === word ? [word] : [word, bare, base]
  if (bare.length < 4 || ownWords.has(bare)) return bare === word ? [word] : [word, bare]
  return [word, bare, ...regularBases(bare)]
}

function regularBases(word: string): string[] {
  if (word.endsWith('ing') && word.length > 5) return verbBases(word.slice(0, -3))
  if (word.endsWith('ied') && word.length > 4) return [`${word.slice(0, -3)}y`]
  if (word.endsWith('ed') && word.length > 4) return verbBases(word.slice(0, -2))
  if (word.endsWith('s')) return singulars(word)
  return []
}

function verbBases(stem: string): string[] {
  if (dropsFinalE.test(stem)) return [`${stem}e`]
  const bases = [stem, `${stem}e`]
  if (doubled.test(stem) && !keepsDouble.test(stem)) bases.push(stem.slice(0, -1))
  return bases
}

function singulars(word: string): string[] {
  if (word.endsWith('ies') && word.length > 4) return [`${word.slice(0, -3)}y`]
  if (/(?:ss|us|is)$/.test(word)) return []
  if (/(?:[sxz]|ch|sh)es$/.test(word)) return [word.slice(0, -2), word.slice(0, -1)]
  return [word.slice(0, -1)]
}
