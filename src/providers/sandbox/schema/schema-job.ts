/** What passes between the server and the worker that satisfies schemas: texts of bounded length, both ways. */

export interface SchemaJob {
  /** JSON. */
  schemaText: string
  seed: number
  mustBeObject: boolean
}

export type WorkerMessage =
  /** It can be given a schema, and will take no longer over the first than over others. */
  | { kind: 'ready' }
  /** JSON that satisfies the schema. */
  | { kind: 'instance'; text: string }
  /** Why there is none, as SchemaRefusal says it. */
  | { kind: 'refused'; message: string }
