/** Reads the session of a request: the agent's task or the conversation to which it belongs. */
import { shortenEndUser } from './end-user.ts'
import { asObjects, asString, isJsonObject, type JsonObject, parseJsonObject } from './json/canonical.ts'

/**
 * Headers that name a session, in order of precedence. Claude Code, Codex (with an underscore before version 0.50), OpenCode and agents that
 * follow OpenRouter or OpenCode send them.
 */
const SESSION_HEADERS = [
  'x-claude-code-session-id',
  'session-id',
  'session_id',
  'x-session-id',
  'x-session-affinity',
  'x-opencode-session',
] as const
/** The end of the user id that Claude Code sent before it sent a JSON object. */
const CLAUDE_CODE_SESSION = /_session_([\w-]{1,64})$/
/** Longer user ids are not Claude Code's. */
const MAX_USER_ID_CHARS = 1_024
/** Longer texts are the same if their beginnings are. The session is read on the event loop, whatever the length of the body. */
const MAX_OPENING_CHARS = 32_000
/** The number of messages, and of parts of a message, among which the opening is looked for. */
const MAX_OPENING_PARTS = 100
const OPENING_HASH_CHARS = 24

/**
 * Returns the session's name in the form of an end user's: from an agent's header, `metadata.session_id`, Claude Code's `metadata.user_id`, or
 * `prompt_cache_key`. Otherwise `opening-` and a hash of the conversation's instructions and first question, if the request offers tools or
 * has an earlier turn of the model. Null for any other request, which is a task of its own. `caller` keeps the openings of callers apart.
 */
export function sessionOf(headers: Headers, body: JsonObject, caller: string): string | null {
  const named = headerOf(headers) ?? nameInBody(body)
  return named === null ? hashOpening(body, caller) : shortenEndUser(named)
}

function headerOf(headers: Headers): string | null {
  for (const name of SESSION_HEADERS) {
    const value = headers.get(name)
    if (value) return value
  }
  return null
}

function nameInBody({ metadata, prompt_cache_key: cacheKey }: JsonObject): string | null {
  if (isJsonObject(metadata)) {
    const named = asString(metadata.session_id) || claudeCodeSession(asString(metadata.user_id))
    if (named) return named
  }
  return asString(cacheKey) || null
}

function claudeCodeSession(userId: string): string {
  if (userId.length > MAX_USER_ID_CHARS) return ''
  if (userId.startsWith('{')) return asString(parseJsonObject(userId)?.session_id)
  // raw text: a plain name, where it is no JSON; it only groups requests in lists.
  return CLAUDE_CODE_SESSION.exec(userId)?.[1] ?? ''
}

function hashOpening(body: JsonObject, caller: string): string | null {
  const turns = firstObjects(body.messages ?? body.input)
  const hasTools = Array.isArray(body.tools) && body.tools.length > 0
  if (!hasTools && !turns.some(({ role }) => role === 'assistant')) return null
  const first = turns.findIndex(({ role }) => role === 'user')
  const question = first < 0 ? asString(body.input) : textOf(turns[first]?.content)
  if (question === '') return null
  const instructions = [body.system, body.instructions, ...turns.slice(0, first).map(({ content }) => content)]
  const opening = [caller, joinTexts(instructions.map(textOf)), question.slice(0, MAX_OPENING_CHARS)]
  return `opening-${Bun.SHA256.hash(JSON.stringify(opening), 'hex').slice(0, OPENING_HASH_CHARS)}`
}

/** Returns the text of a message's content, without its files. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return joinTexts(firstObjects(content).map(({ text }) => asString(text)))
}

function joinTexts(texts: readonly string[]): string {
  return texts
    .map(text => text.slice(0, MAX_OPENING_CHARS))
    .join('\n')
    .slice(0, MAX_OPENING_CHARS)
}

function firstObjects(list: unknown): JsonObject[] {
  return asObjects(Array.isArray(list) ? list.slice(0, MAX_OPENING_PARTS) : list)
}
