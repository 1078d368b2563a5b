/** Types and versions of Anthropic's Messages API. */
import type { MessageCreateParamsBase, TextBlockParam } from '@anthropic-ai/sdk/resources/messages'

/** The API version of these types, which has no sampling parameters. */
export const CURRENT_API_VERSION = '2026-10-21'
/** The previous API version, which still has sampling parameters. */
export const SAMPLING_API_VERSION = '2023-06-01'

type Params = Omit<MessageCreateParamsBase, 'system' | 'user_profile_id' | 'workspace_id'>

/** The body of `POST /v1/messages`. */
export interface MessagesRequest extends Params {
  system?: TextBlockParam[]
  temperature?: number
  top_p?: number
  top_k?: number
}

/** Returns the `anthropic-version` header: the current version, or the previous one when the request has sampling parameters. */
export function chooseApiVersion({
  temperature,
  top_p,
  top_k,
}: {
  temperature?: unknown
  top_p?: unknown
  top_k?: unknown
}): string {
  const hasSampling = [temperature, top_p, top_k].some(value => value !== undefined)
  return hasSampling ? SAMPLING_API_VERSION : CURRENT_API_VERSION
}
