/**
 * The embedder without dependencies. It hashes words, word pairs and character n-grams in-process. It is lexical: similar wordings of a
 * question get similar vectors, synonyms do not.
 */
import type { FreeEmbedder } from './embedder.ts'
import {
  addFeature,
  consonantSkeletonOf,
  distinctLettersOf,
  hashCodeUnit,
  hashText,
  normalizeVector,
  stripWordEnding,
  wordWeightOf,
} from './lexical-features.ts'

/** The name of the embedding space. A change of any weight below needs a new name. */
const model = 'builtin-lexical-4'
const dimensions = 512

/** The shares of a word's squared weight that its features get. They add up to 1. */
const shares = { fold: 0.15, skeleton: 0.27, letters: 0.23, grams: 0.35 }
const pairWeight = 0.2
const characterPairWeight = 0.6
const minGramLength = 3
const maxGramLength = 5
const maxWordLength = 64

const seeds = {
  fold: hashText('fold'),
  skeleton: hashText('skeleton'),
  letters: hashText('letters'),
  exact: hashText('exact'),
}
const gramSeed = hashText('gram')
const pairSeed = hashText('pair')

const word = /[\p{L}\p{M}\p{N}_'+#]+|[^\p{L}\p{M}\p{N}\s.,;:!?"()]/gu
const unspaced = /[\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u2E80-\u9FFF\uF900-\uFAFF\u{20000}-\u{3FFFF}]/u
const onlyLetters = /^[\p{L}\p{M}']+$/u

/** Creates the embedder. It ignores case. Every text, also the empty one, gets a unit vector. */
export function createBuiltinEmbedder(): FreeEmbedder {
  return { space: { model, dimensions }, isFree: true, embed, close: async () => {} }
}

function embed(text: string): Float32Array {
  const vector = new Float32Array(dimensions)
  let before: { hash: number; weight: number } | undefined
  for (const [found] of text.toLowerCase().matchAll(word)) {
    if (unspaced.test(found)) {
      addCharacters(vector, found)
      before = undefined
      continue
    }
    const weight = wordWeightOf(found)
    const fold = stripWordEnding(found)
    addWord(vector, found, fold, weight)
    if (weight < 0.3) continue
    const hash = hashText(fold, pairSeed)
    if (before !== undefined) addPair(vector, before, hash, weight)
    before = { hash, weight }
  }
  return normalizeVector(vector)
}

/** Adds a word. A name or a number matches only as a whole. An ordinary word shares most of its features with its misspellings. */
function addWord(vector: Float32Array, found: string, fold: string, weight: number): void {
  if (found.length < minGramLength || found.length > maxWordLength || !onlyLetters.test(found)) {
    addFeature(vector, hashText(found, seeds.exact), weight)
    return
  }
  addFeature(vector, hashText(fold, seeds.fold), weight * Math.sqrt(shares.fold))
  addFeature(vector, hashText(consonantSkeletonOf(fold), seeds.skeleton), weight * Math.sqrt(shares.skeleton))
  addFeature(vector, hashText(distinctLettersOf(fold), seeds.letters), weight * Math.sqrt(shares.letters))
  addGrams(vector, `^${fold}$`, weight * Math.sqrt(shares.grams))
}

function addGrams(vector: Float32Array, marked: string, weight: number): void {
  const count = countGrams(marked.length)
  const each = weight / Math.sqrt(count)
  for (let from = 0; from + minGramLength <= marked.length; from += 1) {
    let hash = gramSeed
    for (let at = from; at < marked.length && at < from + maxGramLength; at += 1) {
      hash = hashCodeUnit(hash, marked.charCodeAt(at))
      if (at - from + 1 >= minGramLength) addFeature(vector, hash, each)
    }
  }
}

function countGrams(length: number): number {
  let count = 0
  for (let size = minGramLength; size <= maxGramLength; size += 1) count += Math.max(0, length - size + 1)
  return Math.max(1, count)
}

function addPair(vector: Float32Array, before: { hash: number; weight: number }, hash: number, weight: number): void {
  addFeature(vector, Math.imul(before.hash, 31) ^ hash, pairWeight * Math.sqrt(before.weight * weight))
}

/** Adds text of a script without spaces. Its characters are treated as words, and pairs of them carry most of the meaning. */
function addCharacters(vector: Float32Array, run: string): void {
  let before = 0
  for (const character of run) {
    const hash = hashText(character, seeds.exact)
    addFeature(vector, hash, 1)
    if (before !== 0) addFeature(vector, Math.imul(before, 31) ^ hash, characterPairWeight)
    before = hash
  }
}
