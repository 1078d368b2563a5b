/** The error for a schema that the sandbox cannot serve: the worker says what is wrong, and the field's name is added here. */
import { invalidRequest, type ProxyError } from '../../../errors.ts'

/** What is wrong with a schema, as the end of a sentence that begins with it. Never quotes the schema. */
export class SchemaRefusal extends Error {}

/** A 400 that names the schema's field. */
export function toInvalidRequest({ message }: SchemaRefusal, param: string): ProxyError {
  return invalidRequest(`The schema in '${param}' ${message}.`, param)
}
