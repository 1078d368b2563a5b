/** The types of Anthropic's Messages API that this translation uses. */
import type { MessageCreateParamsBase, TextBlockParam } from '@anthropic-ai/sdk/resources/messages'

/** The API version of these types, which has no sampling parameters. */
export const CURRENT_API_VERSION = '2026-10-21'
/** The previous version, which still has them. */
export const SAMPLING_API_VERSION = '2023-06-01'

type Params = Omit<MessageCreateParamsBase, 'system' | 'user_profile_id' | 'workspace_id'>

/** The body of `POST /v1/messages`. */
export interface MessagesRequest extends Params {
  system?: TextBlockParam[]
  temperature?: number
  top_p?: number
  top_k?: number
}

/** The `anthropic-version` header: the current version, unless the request has sampling parameters. */
export function chooseApiVersion({
  temperature,
  top_p,
  top_k,
}: {
  temperature?: unknown
  top_p?: unknown
  top_k?: unknown
}): string {
  const isSampled = [temperature, top_p, top_k].some(value => value !== undefined)
  return isSampled ? SAMPLING_API_VERSION : CURRENT_API_VERSION
}
