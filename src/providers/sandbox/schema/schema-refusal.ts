/** Owns how a schema that the sandbox cannot serve is told: the worker says what is wrong, the request's field is added here. */
import { invalidRequest, type ProxyError } from '../../../errors.ts'

/** What is wrong with a schema, as the end of a sentence that begins with it. Never quotes the schema. */
export class SchemaRefusal extends Error {}

/** A 400 that names the field the schema stands in. */
export function toInvalidRequest({ message }: SchemaRefusal, param: string): ProxyError {
  return invalidRequest(`The schema in '${param}' ${message}.`, param)
}
