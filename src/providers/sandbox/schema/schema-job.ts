/** The messages between the server and the schema worker: texts of bounded length, both ways. */

export interface SchemaJob {
  /** JSON. */
  schemaText: string
  seed: number
  mustBeObject: boolean
}

export type WorkerMessage =
  /** Warmed up: the first schema takes no longer than later ones. `thread` is what the system calls the worker's. */
  | { kind: 'ready'; thread: number | null }
  /** JSON that satisfies the schema. */
  | { kind: 'instance'; text: string }
  /** Why there is no instance, in a SchemaRefusal's words. */
  | { kind: 'refused'; message: string }
