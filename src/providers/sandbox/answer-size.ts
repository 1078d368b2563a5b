/** Limits a response's size: each choice multiplies it. */
import { invalidRequest } from '../../errors.ts'

const MOST_ANSWER_CHARS = 4_194_304

/** Throws a 400 naming `param` when this many choices of this many characters are too much. */
export function checkAnswerSize(chars: number, choices: number, param: string): void {
  if (chars * choices <= MOST_ANSWER_CHARS) return
  throw invalidRequest(`Invalid '${param}': the answer would be too large for the sandbox.`, param)
}
