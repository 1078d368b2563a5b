/** A choice while a response is assembled, in chat and in text completions. */

export interface Choice {
  /** The choice as in the response, without its index. */
  choice: Record<string, unknown>
  /** Its completion tokens. */
  tokens: number
}

export function numberChoices(choices: Choice[]): Record<string, unknown>[] {
  return choices.map(({ choice }, index) => ({ index, ...choice }))
}

export function sumTokens(choices: Choice[]): number {
  return choices.reduce((sum, { tokens }) => sum + tokens, 0)
}
