/** Stores complete responses under their request and, optionally, their prompt, and applies the hook's later decisions on them. */
import { callFunction } from './call.ts'
import type { Database } from './database.ts'
import { toByteaList, toIntegerArray } from './wire-format.ts'

export interface CacheEntryInput {
  projectId: number
  /** The response is stored only if the project's cache still has this generation; null skips this check. */
  cacheGeneration?: number | null
  /** True if a test key sent the request. */
  test?: boolean
  /** The key that sent the request; null if it is unknown. */
  keyId?: number | null
  /** The value of the setting log_content for that key. It decides who may read the entry. */
  logContent?: 'off' | 'sealed'
  /** The end user, as usage records name them; null if the request named none. */
  endUser?: string | null
  requestHash: string
  namespace: string
  /** The name@version under which the response is stored only if it is the newest; null for none. */
  version?: string | null
  endpoint: string
  model: string
  provider: string
  /** The plain JSON body. */
  response: string | Uint8Array
  /** The id of a sealed response that may be deleted by this id. */
  responseId?: string | null
  promptTokens: number
  completionTokens: number
  ttlSeconds: number
  /** The version of the hook's rules that accepted the response; null for none. */
  policy?: string | null
  /** Null if only the exact request finds the entry. */
  semantic: {
    contextHash: string
    normalizedHash: string
    prompt: string
    /** Null if the embedder returned none. If its text is null, `addPromptVectors` adds it later. */
    vector: { spaceId: number; text: string | null } | null
    /** The topic words of `CacheSearch`. The first three are stored. */
    topicWords?: readonly number[]
  } | null
}

/**
 * Stores responses. Returns their entry ids, in order; null for a response that was not stored because its project was deleted, purged
 * since, or locked by another transaction, or because its version is not the newest.
 */
export async function storeCachedResponses(
  database: Database,
  entries: readonly CacheEntryInput[],
): Promise<(number | null)[]> {
  // Bodies are sent as one byte string instead of a list of texts, so that they need no escaping.
  const responses = entries.map(({ response }) => (typeof response === 'string' ? Buffer.from(response) : response))
  const rows = await callFunction(database, 'store_cached_responses', {
    project_ids: entries.map(entry => entry.projectId),
    generations: entries.map(entry => entry.cacheGeneration ?? null),
    tests: entries.map(entry => entry.test ?? false),
    request_hashes: toByteaList(entries.map(entry => entry.requestHash)),
    namespaces: entries.map(entry => entry.namespace),
    endpoints: entries.map(entry => entry.endpoint),
    models: entries.map(entry => entry.model),
    providers: entries.map(entry => entry.provider),
    responses: Buffer.concat(responses),
    response_lengths: responses.map(response => response.length),
    prompt_tokens: entries.map(entry => entry.promptTokens),
    completion_tokens: entries.map(entry => entry.completionTokens),
    ttls_seconds: entries.map(entry => entry.ttlSeconds),
    context_hashes: toByteaList(entries.map(entry => entry.semantic?.contextHash)),
    normalized_hashes: toByteaList(entries.map(entry => entry.semantic?.normalizedHash)),
    prompts: entries.map(entry => entry.semantic?.prompt ?? null),
    space_ids: entries.map(entry => entry.semantic?.vector?.spaceId ?? null),
    vectors: entries.map(entry => entry.semantic?.vector?.text ?? null),
    topic_words: entries.map(entry => toIntegerArray(entry.semantic?.topicWords)),
    key_ids: entries.map(entry => entry.keyId ?? null),
    response_ids: entries.map(entry => entry.responseId ?? null),
    log_contents: entries.map(entry => entry.logContent ?? 'off'),
    policies: entries.map(entry => entry.policy ?? null),
    end_users: entries.map(entry => entry.endUser ?? null),
    versions: entries.map(entry => entry.version ?? null),
  })
  const ids: (number | null)[] = entries.map(() => null)
  for (const row of rows) ids[row.place] = Number(row.entry_id)
  return ids
}

/** A vector for a prompt that was stored without one. */
export interface PromptVectorInput extends Pick<CacheEntryInput, 'projectId'> {
  entryId: number
  contextHash: string
  normalizedHash: string
  vector: { spaceId: number; text: string }
}

/** Adds vectors to prompts that were stored without them. Prompts that are no longer stored are skipped. */
export async function addPromptVectors(database: Database, added: readonly PromptVectorInput[]): Promise<void> {
  await callFunction(database, 'add_prompt_vectors', {
    entry_ids: added.map(({ entryId }) => entryId),
    project_ids: added.map(({ projectId }) => projectId),
    context_hashes: toByteaList(added.map(({ contextHash }) => contextHash)),
    normalized_hashes: toByteaList(added.map(({ normalizedHash }) => normalizedHash)),
    space_ids: added.map(({ vector }) => vector.spaceId),
    vectors: added.map(({ vector }) => vector.text),
  })
}

export interface CacheEntryKey {
  projectId: number
  /** Hex SHA-256. */
  requestHash: string
}

/** Records the version of the hook's rules that accepted exactly this body. */
export async function recordEntryPolicy(
  database: Database,
  { projectId, requestHash, body, policy }: CacheEntryKey & { body: Uint8Array; policy: string | null },
): Promise<void> {
  const passed = { with_policy: policy, response_hash: Bun.SHA256.hash(body, 'hex') }
  await callFunction(database, 'set_entry_policy', { of_project: projectId, of_request: requestHash, ...passed })
}

export async function deleteEntry(database: Database, { projectId, requestHash }: CacheEntryKey): Promise<void> {
  await callFunction(database, 'delete_entry', { of_project: projectId, of_request: requestHash })
}
