/** The forms of Anthropic's Messages API, as far as this translation writes and reads them. */
import type { MessageCreateParamsBase, TextBlockParam } from '@anthropic-ai/sdk/resources/messages'

/** The API version of the types; it has no sampling parameters any more. */
const CURRENT_VERSION = '2026-10-21'
/** The version before, which still has them. */
const SAMPLING_VERSION = '2023-06-01'

type Params = Omit<MessageCreateParamsBase, 'system' | 'user_profile_id' | 'workspace_id'>

/** The body of `POST /v1/messages`. */
export interface MessagesRequest extends Params {
  system?: TextBlockParam[]
  temperature?: number
  top_p?: number
  top_k?: number
}

/** For the `anthropic-version` header: the current one, but for a request that sets how its answer is sampled. */
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
  return isSampled ? SAMPLING_VERSION : CURRENT_VERSION
}
