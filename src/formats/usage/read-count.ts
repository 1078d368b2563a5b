/** Reads the counts in a response's `usage`, and amounts of money, which providers write as a number or as text. */
import { isJsonObject, type JsonObject } from '../json/canonical.ts'

type Paths = readonly string[]

/** Combines each object name with each field name. */
const within = (objects: Paths, fields: Paths): Paths =>
  objects.flatMap(object => fields.map(field => `${object}.${field}`))

const PROMPT_DETAILS = ['prompt_tokens_details', 'input_tokens_details', 'input_token_details']
const COMPLETION_DETAILS = ['completion_tokens_details', 'output_tokens_details', 'output_token_details']

/** The paths at which vendors report each count. A new vendor's name is a new path here. The largest of several counts is used. */
const USAGE_FIELD_PATHS = {
  /** Prompt tokens, including cached tokens. */
  prompt: ['prompt_tokens', 'promptTokens', 'promptTokenCount'],
  /** Prompt tokens, including cached tokens in OpenAI's Responses API, and without them in Anthropic's Messages API and Bedrock. */
  input: ['input_tokens', 'inputTokens'],
  completion: ['completion_tokens', 'output_tokens', 'completionTokens', 'outputTokens', 'candidatesTokenCount'],
  total: ['total_tokens', 'totalTokens', 'totalTokenCount'],
  reasoning: [
    ...within(COMPLETION_DETAILS, ['reasoning_tokens', 'thinking_tokens']),
    'reasoning_tokens',
    'thoughtsTokenCount',
  ],
  /** Cached prompt tokens. Moonshot and DeepSeek report them at the top level. */
  cached: [
    ...within(PROMPT_DETAILS, ['cached_tokens']),
    'cached_tokens',
    'prompt_cache_hit_tokens',
    'cachedContentTokenCount',
  ],
  written: within(PROMPT_DETAILS, ['cache_write_tokens', 'cache_creation_tokens']),
  /** Cached tokens that `input` does not include. */
  inputCached: ['cache_read_input_tokens', 'cacheReadInputTokens'],
  inputWritten: ['cache_creation_input_tokens', 'cacheWriteInputTokens'],
  /** Tokens written to the cache, by how long they are cached. */
  writtenForMinutes: ['cache_creation.ephemeral_5m_input_tokens'],
  writtenForAnHour: ['cache_creation.ephemeral_1h_input_tokens', ...within(PROMPT_DETAILS, ['cache_write_1h_tokens'])],
  audioPrompt: within(PROMPT_DETAILS, ['audio_tokens']),
  cachedAudioPrompt: within(PROMPT_DETAILS, ['cached_tokens_details.audio_tokens']),
  imagePrompt: within(PROMPT_DETAILS, ['image_tokens']),
  audioCompletion: within(COMPLETION_DETAILS, ['audio_tokens']),
  searches: ['web_searches', 'server_tool_use.web_search_requests'],
} satisfies Record<string, Paths>

type UsageField = keyof typeof USAGE_FIELD_PATHS

/** Top-level fields that contain counts. Other fields, such as a cost, are copied into another format unchanged. */
export const USAGE_COUNT_FIELDS: ReadonlySet<string> = new Set(
  Object.values(USAGE_FIELD_PATHS)
    .flat()
    .map(path => path.split('.', 1)[0] ?? ''),
)

/** The maximum of a count column in a usage record. */
const MAX_COUNT = 2_000_000_000

/** Returns null for a value that is not a count: missing, negative, too large, or of another type. */
export function readCount(value: unknown): number | null {
  const count = readNonNegativeNumber(value)
  return count === null || count > MAX_COUNT ? null : Math.round(count)
}

/** Returns null for a value that is not an amount or is above `max`. */
export function readAmount(value: unknown, max: number): number | null {
  const amount = readNonNegativeNumber(value)
  return amount === null || amount > max ? null : amount
}

const DECIMAL = /^\d{1,20}(?:\.\d{1,20})?$/

/** Returns null for a value that is neither a non-negative number nor the text of one. */
export function readNonNegativeNumber(value: unknown): number | null {
  const number = typeof value === 'string' && DECIMAL.test(value) ? Number(value) : value
  return typeof number === 'number' && number >= 0 && Number.isFinite(number) ? number : null
}

export type ReportedCounts = Partial<Record<UsageField, number>>

/** A name in a usage object, with the counts that it stands for and the names within it. */
interface PathNode {
  fields: UsageField[]
  within: Map<string, PathNode>
}

const ROOT: PathNode = { fields: [], within: new Map() }
for (const [field, paths] of Object.entries(USAGE_FIELD_PATHS))
  for (const path of paths) addPath(path, field as UsageField)

function addPath(path: string, field: UsageField): void {
  let node = ROOT
  for (const name of path.split('.')) {
    const next = node.within.get(name) ?? { fields: [], within: new Map() }
    node.within.set(name, next)
    node = next
  }
  node.fields.push(field)
}

/** Returns each count that the usage contains under any of its names, and the largest if there are several. Walks the usage once. */
export function readUsageCounts(usage: JsonObject): ReportedCounts {
  const counts: ReportedCounts = {}
  collect(usage, ROOT, counts)
  return counts
}

function collect(object: JsonObject, { within }: PathNode, counts: ReportedCounts): void {
  for (const name in object) {
    const node = Object.hasOwn(object, name) ? within.get(name) : undefined
    if (node === undefined) continue
    const value = object[name]
    const count = node.fields.length > 0 ? readCount(value) : null
    if (count !== null) for (const field of node.fields) counts[field] = Math.max(counts[field] ?? 0, count)
    if (node.within.size > 0 && isJsonObject(value)) collect(value, node, counts)
  }
}
