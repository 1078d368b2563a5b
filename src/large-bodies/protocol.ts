/** Messages between the server and the worker that reads large bodies. */
import type { LargeBody } from './read-large-body.ts'

export interface LargeBodyRequest {
  id: number
  bytes: Uint8Array
  /** Fields that do not count; undefined for the usual ones. */
  irrelevant: ReadonlySet<string> | undefined
}

export type LargeBodyReply =
  | ({ id: number } & LargeBody)
  /** What is wrong with it; never quotes it. */
  | { id: number; refusal: string }
