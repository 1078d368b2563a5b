/** What a route says of itself: what it does, what it takes, and what it answers. */
import type { TSchema } from '@sinclair/typebox'

/** What every route may answer besides. */
const REFUSALS = {
  '4XX': { $ref: '#/components/responses/Refused' },
  '5XX': { $ref: '#/components/responses/Refused' },
}

interface Taken {
  query?: TSchema
  body?: TSchema
}

/**
 * The handler must return what `answer` says, by its type alone: nothing is checked or removed when it answers. Tests hold each answer
 * against the description.
 */
export function describeRoute<const Answer extends TSchema, const Asked extends Taken = object>(
  summary: string,
  answer: Answer,
  asked?: Asked,
  others: Record<string, object> = {},
) {
  const response = { description: 'Done.', content: { 'application/json': { schema: answer }, ...others } }
  return { ...asked, detail: { summary, responses: { 200: response, ...REFUSALS } } } as unknown as Asked & {
    response: Answer
  }
}

/** A route that answers browsers alone, with another address. */
export function describeRedirect(summary: string) {
  return { detail: { summary, responses: { 302: { description: 'Found.' }, ...REFUSALS } } }
}
