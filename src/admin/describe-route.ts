/** Describes a route for OpenAPI: its summary, parameters and responses. */
import type { TSchema } from '@sinclair/typebox'

/** The error responses of every route. */
const ERROR_RESPONSES = {
  '4XX': { $ref: '#/components/responses/Refused' },
  '5XX': { $ref: '#/components/responses/Refused' },
}

interface RouteInput {
  query?: TSchema
  body?: TSchema
}

/**
 * Describes a route. The compiler checks that the handler returns `responseSchema`; responses are not validated at run time. Tests compare
 * responses with the description.
 */
export function describeRoute<const ResponseSchema extends TSchema, const Input extends RouteInput = object>(
  summary: string,
  responseSchema: ResponseSchema,
  input?: Input,
  otherContent: Record<string, object> = {},
) {
  const response = {
    description: 'Done.',
    content: { 'application/json': { schema: responseSchema }, ...otherContent },
  }
  return { ...input, detail: { summary, responses: { 200: response, ...ERROR_RESPONSES } } } as unknown as Input & {
    response: ResponseSchema
  }
}

/** Describes a route that redirects browsers. */
export function describeRedirect(summary: string) {
  return { detail: { summary, responses: { 302: { description: 'Found.' }, ...ERROR_RESPONSES } } }
}
