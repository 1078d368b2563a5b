/** Messages between the server and the worker that reads large bodies. */
import type { JsonObject } from '../json/json-object.ts'

export interface LargeBodyRequest {
  id: number
  bytes: Uint8Array
  /** Fields that do not count; undefined for the usual ones. */
  irrelevant: ReadonlySet<string> | undefined
}

export type LargeBodyReply =
  | { id: number; bytes: Uint8Array; hasInexactNumber: boolean; body: JsonObject; canonicalBody: string }
  /** What is wrong with it; never quotes it. */
  | { id: number; refusal: string }
