/** Classifies the context of the user's message: none, instructions, or instructions about the message's wording ("translate what the user writes"). */

import { sha256 } from '../../formats/json/canonical.ts'
import { readInstructions } from './read-instructions.ts'
import { asksForWording } from './wording-instructions.ts'

/** `work` means that the message's wording matters. `instructions` means that it is a question to an assistant with instructions. */
export type ContextKind = 'none' | 'instructions' | 'work'

export interface ClassifiedContext {
  readonly kind: ContextKind
  /** Hash of the instructions that decided, or else of the first ones. Null without instructions. People correct the kind by it. */
  readonly hash: string | null
}

const HASH_LENGTH = 16

/** Classifies a context, which is the request's body without the message's text. A correction `hash=question` or `hash=wording` decides about instructions with that hash. */
export function classifyContext(context: unknown, corrections: readonly string[] = []): ClassifiedContext {
  const texts = readInstructions(context)
  const deciding = texts.find(text => mattersWording(text, corrections))
  if (deciding !== undefined) return { kind: 'work', hash: hashInstructions(deciding) }
  const [first] = texts
  return first === undefined ? { kind: 'none', hash: null } : { kind: 'instructions', hash: hashInstructions(first) }
}

function mattersWording(text: string, corrections: readonly string[]): boolean {
  if (corrections.length === 0) return asksForWording(text)
  const hash = hashInstructions(text)
  return corrections.includes(`${hash}=wording`) || (!corrections.includes(`${hash}=question`) && asksForWording(text))
}

function hashInstructions(text: string): string {
  return sha256(`instructions ${text}`).slice(0, HASH_LENGTH)
}
