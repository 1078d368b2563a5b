/** Calls store_cached_responses(): stores complete responses, to be found by request and, if wanted, by prompt. */
import { callFunction } from './call.ts'
import type { Database } from './database.ts'
import { toByteaList } from './wire-format.ts'

export interface CacheEntryInput {
  projectId: number
  /** Stored only if the project's cache has not been purged since; null skips this check. */
  cacheGeneration?: number | null
  /** Whether a test key sent the request. */
  test?: boolean
  /** The key that sent it; null: not known. */
  keyId?: number | null
  /** As the setting is for that key, which decides who may ever read the entry. */
  logContent?: 'off' | 'sealed'
  /** Whom it was for, as records name them; null: nobody was named. */
  endUser?: string | null
  requestHash: string
  namespace: string
  endpoint: string
  model: string
  provider: string
  /** The plain JSON body. */
  response: string | Uint8Array
  /** Of a sealed response that may be deleted by its id. */
  responseId?: string | null
  promptTokens: number
  completionTokens: number
  ttlSeconds: number
  /** The version of the hook's rules under which it passed; null for none. */
  policy?: string | null
  /** Null: to be found by the exact request only. */
  semantic: {
    contextHash: string
    normalizedHash: string
    prompt: string
    /** Null when the embedder returned none. Without its text, it is late: see `addPromptVectors`. */
    vector: { spaceId: number; text: string | null } | null
    /** See `CacheSearch`; without it, the prompt is looked at for every question. */
    anchorHash?: string | null
  } | null
}

/**
 * Returns each response's entry id, in order; null for one that was not stored: its project is gone, was purged since, or is locked by
 * another transaction.
 */
export async function storeCachedResponses(
  database: Database,
  answers: readonly CacheEntryInput[],
): Promise<(number | null)[]> {
  // One byte string instead of a list of texts: bodies need no escaping.
  const responses = answers.map(({ response }) => (typeof response === 'string' ? Buffer.from(response) : response))
  const rows = await callFunction(database, 'store_cached_responses', {
    project_ids: answers.map(answer => answer.projectId),
    generations: answers.map(answer => answer.cacheGeneration ?? null),
    tests: answers.map(answer => answer.test ?? false),
    request_hashes: toByteaList(answers.map(answer => answer.requestHash)),
    namespaces: answers.map(answer => answer.namespace),
    endpoints: answers.map(answer => answer.endpoint),
    models: answers.map(answer => answer.model),
    providers: answers.map(answer => answer.provider),
    responses: Buffer.concat(responses),
    response_lengths: responses.map(response => response.length),
    prompt_tokens: answers.map(answer => answer.promptTokens),
    completion_tokens: answers.map(answer => answer.completionTokens),
    ttls_seconds: answers.map(answer => answer.ttlSeconds),
    context_hashes: toByteaList(answers.map(answer => answer.semantic?.contextHash)),
    normalized_hashes: toByteaList(answers.map(answer => answer.semantic?.normalizedHash)),
    prompts: answers.map(answer => answer.semantic?.prompt ?? null),
    space_ids: answers.map(answer => answer.semantic?.vector?.spaceId ?? null),
    vectors: answers.map(answer => answer.semantic?.vector?.text ?? null),
    anchor_hashes: toByteaList(answers.map(answer => answer.semantic?.anchorHash)),
    key_ids: answers.map(answer => answer.keyId ?? null),
    response_ids: answers.map(answer => answer.responseId ?? null),
    log_contents: answers.map(answer => answer.logContent ?? 'off'),
    policies: answers.map(answer => answer.policy ?? null),
    end_users: answers.map(answer => answer.endUser ?? null),
  })
  const ids: (number | null)[] = answers.map(() => null)
  for (const row of rows) ids[row.place] = Number(row.entry_id)
  return ids
}

/** For a prompt that was stored without. */
export interface PromptVectorInput extends Pick<CacheEntryInput, 'projectId'> {
  entryId: number
  contextHash: string
  normalizedHash: string
  anchorHash?: string | null
  vector: { spaceId: number; text: string }
}

/** Adds vectors that were late, where their prompts are still stored. */
export async function addPromptVectors(database: Database, added: readonly PromptVectorInput[]): Promise<void> {
  await callFunction(database, 'add_prompt_vectors', {
    entry_ids: added.map(({ entryId }) => entryId),
    project_ids: added.map(({ projectId }) => projectId),
    context_hashes: toByteaList(added.map(({ contextHash }) => contextHash)),
    normalized_hashes: toByteaList(added.map(({ normalizedHash }) => normalizedHash)),
    space_ids: added.map(({ vector }) => vector.spaceId),
    vectors: added.map(({ vector }) => vector.text),
    anchor_hashes: toByteaList(added.map(({ anchorHash }) => anchorHash)),
  })
}

/** Returns its entry id; null when it was not stored. */
export async function storeCachedResponse(database: Database, answer: CacheEntryInput): Promise<number | null> {
  const [id] = await storeCachedResponses(database, [answer])
  return id ?? null
}
