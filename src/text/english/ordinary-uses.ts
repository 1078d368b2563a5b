/** Uses in which a word that can be about wording is not: "fix a tap", "following me", "in order to". */
import { lowerKey } from '../phrases.ts'
import { type Token, wordSet } from '../token.ts'
import { auxiliaries } from './openers.ts'

const determiners = wordSet('a an my your our his her their')
const objects = wordSet('me him us them you')

/** By word: whether its use at this position is ordinary, because a thing follows and no sentence that could itself be meant. */
const uses: Readonly<Record<string, (tokens: readonly Token[], at: number) => boolean>> = {
  fix: hasThing,
  following: (tokens, at) => objects.has(lowerKey(tokens[at + 1])),
  order: (tokens, at) =>
    (lowerKey(tokens[at - 1]) === 'in' && lowerKey(tokens[at + 1]) === 'to') || hasThing(tokens, at),
}

export function isOrdinaryUse(tokens: readonly Token[], at: number): boolean {
  return uses[lowerKey(tokens[at])]?.(tokens, at) ?? false
}

function hasThing(tokens: readonly Token[], at: number): boolean {
  const rest = tokens.slice(at + 1)
  return determiners.has(lowerKey(rest[0])) && rest.every(token => !isClause(token))
}

function isClause(token: Token): boolean {
  return auxiliaries.has(lowerKey(token)) || token.key.includes("'") || token.kind === 'quotation'
}
