/** Describes a route: its validation, and for OpenAPI its summary, parameters and responses. */
import type { TSchema } from '@sinclair/typebox'
import { type InputSchemas, validateInput } from './validate-input.ts'

/** The error responses of every route. */
const ERROR_RESPONSES = {
  '4XX': { $ref: '#/components/responses/Refused' },
  '5XX': { $ref: '#/components/responses/Refused' },
}

/** The keyword under which `completeOpenApiDocument` finds the schemas of the query and the body. */
export const INPUT_KEYWORD = 'x-input'

/**
 * Describes a route, and validates its requests. The compiler checks that the handler returns `responseSchema`; responses are not validated at
 * run time. Tests compare responses with the description.
 */
export function describeRoute<const ResponseSchema extends TSchema, const Input extends InputSchemas = object>(
  summary: string,
  responseSchema: ResponseSchema,
  input?: Input,
  otherContent: Record<string, object> = {},
) {
  const response = {
    description: 'Done.',
    content: { 'application/json': { schema: responseSchema }, ...otherContent },
  }
  const schemas: InputSchemas = input ?? {}
  return {
    // Elysia does not get the schemas, because its messages repeat values, which may be secrets.
    beforeHandle: ({ query, body }: { query: unknown; body: unknown }) => validateInput(schemas, { query, body }),
    detail: { summary, responses: { 200: response, ...ERROR_RESPONSES }, [INPUT_KEYWORD]: schemas },
  } as unknown as Input & { response: ResponseSchema }
}

/** Describes a route that redirects browsers. */
export function describeRedirect(summary: string) {
  return { detail: { summary, responses: { 302: { description: 'Found.' }, ...ERROR_RESPONSES } } }
}
