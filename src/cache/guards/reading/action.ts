/** Tells requests to do something in the world ("cancel my order") from requests for an answer. */
import { actionObjects, actionVerbs, alwaysActed } from '../lexicon/action-words.ts'
import type { Token } from './token.ts'

const openings = new Set(
  "please pls plz kindly hi hello hey ok okay now just go ahead and can could would will you i i'd want need like to immediately".split(
    ' ',
  ),
)
const possessives = new Set(['my', 'our', 'me', 'us', 'this', 'that', 'it', 'these', 'those', 'him', 'her', 'them'])

/**
 * Whether the text opens with a verb that acts on the user's own things. Only then: "delete a file in Linux" asks how, in the
 * manner of a search box.
 */
export function readAction(tokens: readonly Token[]): boolean {
  if (asksPermission(tokens)) return false
  let at = 0
  for (let token = tokens[at]; token !== undefined && openings.has(token.key); token = tokens[at]) at += 1
  const verb = tokens[at]
  if (verb === undefined || verb.kind !== 'word') return false
  const rest = tokens.slice(at + 1)
  if (alwaysActed.has(verb.key) && rest.some(token => token.forms.some(form => actionObjects.has(form)))) return true
  return actionVerbs.has(verb.key) && rest.some(isOwn)
}

/** "Can I …" is a question, "can you …" may be a request. */
function asksPermission(tokens: readonly Token[]): boolean {
  return (
    /^(?:can|could|may|might|should|would|will|must)$/.test(tokens[0]?.key ?? '') &&
    /^(?:i|we)$/.test(tokens[1]?.key ?? '')
  )
}

function isOwn(token: Token): boolean {
  return (
    possessives.has(token.key) || token.kind === 'identifier' || (token.kind === 'number' && token.unit !== undefined)
  )
}
