/** Classifies the context of the user's message: none, instructions, or instructions about the message's wording ("translate what the user writes"). */

import { readInstructions } from './read-instructions.ts'
import { asksForWording } from './wording-instructions.ts'

/** `work` means that the message's wording matters. `instructions` means that it is a question to an assistant with instructions. */
export type ContextKind = 'none' | 'instructions' | 'work'

/** Classifies a context, which is the request's body without the message's text. */
export function classifyContext(context: unknown): ContextKind {
  const texts = readInstructions(context)
  if (texts.some(asksForWording)) return 'work'
  return texts.length > 0 ? 'instructions' : 'none'
}
