/** The tools that a provider runs itself: how often a request lets it, and by what each call is priced. */
import type { BetaToolUnion } from '@anthropic-ai/sdk/resources/beta/messages/messages'
import type { BetaTool } from 'openai/resources/beta/responses/responses'
import type { ChatCompletionTool } from 'openai/resources/chat/completions'
import type { Tool } from 'openai/resources/responses/responses'
import { isJsonObject, type JsonObject } from '../json/canonical.ts'
import { isOwnMessageTool } from '../messages/plan-messages.ts'
import { containerGigabytes, isOwnTool } from '../responses/plan-responses.ts'

/** `tokens`: by what the model reads and writes alone. `pictures`, `advice`: by the tokens of a model of its own. */
export type ToolPrice = 'tokens' | 'search' | 'file_search' | 'container' | 'pictures' | 'advice'

type ToolType = NonNullable<(Tool | BetaTool | BetaToolUnion | ChatCompletionTool)['type']>

function are<const Type extends string>(price: ToolPrice, ...types: Type[]): Record<Type, ToolPrice> {
  return Object.fromEntries(types.map(type => [type, price])) as Record<Type, ToolPrice>
}

/** One that is not listed has no price that is known. */
const TOOL_PRICES: Record<ToolType, ToolPrice> = {
  ...are('search', 'web_search', 'web_search_2025_08_26', 'web_search_preview', 'web_search_preview_2025_03_11'),
  ...are('search', 'web_search_20250305', 'web_search_20260209', 'web_search_20260318'),
  ...are('file_search', 'file_search'),
  ...are('container', 'code_interpreter', 'shell'),
  ...are('pictures', 'image_generation'),
  ...are('advice', 'advisor_20260301'),
  ...are(
    'tokens',
    'function',
    'custom',
    'namespace',
    'apply_patch',
    'local_shell',
    'mcp',
    'mcp_toolset',
    'tool_search',
  ),
  ...are('tokens', 'computer', 'computer_use_preview', 'programmatic_tool_calling', 'bash_20241022', 'bash_20250124'),
  ...are('tokens', 'computer_20241022', 'computer_20250124', 'computer_20251124', 'computer_toolset_20260801'),
  ...are('tokens', 'text_editor_20241022', 'text_editor_20250124', 'text_editor_20250429', 'text_editor_20250728'),
  ...are('tokens', 'browser_toolset_20260801', 'memory_20250818', 'web_fetch_20250910', 'web_fetch_20260209'),
  ...are('tokens', 'web_fetch_20260309', 'web_fetch_20260318', 'tool_search_tool_bm25', 'tool_search_tool_regex'),
  ...are('tokens', 'tool_search_tool_bm25_20251119', 'tool_search_tool_regex_20251119'),
  // 1,550 hours a month are free at Anthropic, and no answer tells of them.
  ...are('tokens', 'code_execution_20250522', 'code_execution_20250825', 'code_execution_20260120'),
  ...are('tokens', 'code_execution_20260521'),
}

export interface HostedTool {
  /** As the request names it, as far as it may be repeated. */
  type: string
  /** Null: it has none that is known. */
  price: ToolPrice | null
  /** How often the request lets it be called; null where it does not say. */
  uses: number | null
  /** Memory of its container in GB; 0 without one. */
  gigabytes: number
  /** The model of its own that the request names. */
  model: string | null
  /** The longest answer of that model; null where the request does not say. */
  mostTokens: number | null
}

/** What others read, and what the provider adds to a prompt for them, may be more than the request says. */
const CLIENT_TOOLS: ReadonlySet<unknown> = new Set([undefined, 'function', 'custom'])
const TYPE = /^[\w.:-]{1,64}$/

/** Whether the client runs it, and the provider adds nothing to the prompt for it. */
export function isPlainTool(tool: unknown): boolean {
  return isJsonObject(tool) && CLIENT_TOOLS.has(tool.type)
}

/** Null for one that the client runs. `readWhole` reads a number that the request bounds itself by. */
export function readHostedTool(
  endpoint: string,
  tool: unknown,
  readWhole: (value: unknown, field: string) => number | null,
): HostedTool | null {
  if (!isJsonObject(tool)) return null
  const isOwn = endpoint === 'responses' ? isOwnTool : endpoint === 'messages' ? isOwnMessageTool : isPlainTool
  if (isOwn(tool)) return null
  const { model } = tool
  return {
    ...hostedTool(tool.type),
    // At another endpoint the field is not known, and limits nothing.
    uses: endpoint === 'messages' ? readWhole(tool.max_uses, 'tools[].max_uses') : null,
    gigabytes: endpoint === 'responses' ? containerGigabytes(tool as JsonObject) : 0,
    model: typeof model === 'string' ? model : null,
    mostTokens: readWhole(tool.max_tokens, 'tools[].max_tokens'),
  }
}

export function hostedTool(given: unknown): HostedTool {
  const type = typeof given === 'string' && TYPE.test(given) ? given : 'unknown'
  const price = Object.hasOwn(TOOL_PRICES, type) ? TOOL_PRICES[type as ToolType] : null
  return { type, price, uses: null, gigabytes: 0, model: null, mostTokens: null }
}

/** Without a limit of its own, a request has each tool that its provider runs called no more often than this. */
export const USUAL_TOOL_CALLS = 10

/** How often these tools may be called. `most`: of all tools together; null where the request does not say. */
export function mostCalls(tools: readonly HostedTool[], most: number | null): number {
  const sum = tools.reduce((calls, { uses }) => calls + (uses ?? USUAL_TOOL_CALLS), 0)
  return Math.min(most ?? sum, sum)
}
