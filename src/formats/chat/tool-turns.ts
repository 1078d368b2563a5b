/**
 * Names assistant messages with tool calls (turns), so that the provider extras of a turn are found again when a client sends the turn back
 * without them.
 */
import { asObjects, isJsonObject, type JsonObject, sha256 } from '../json/canonical.ts'
import {
  type DescribedCall,
  describeCall,
  digestOf,
  extrasOfTurn,
  hasTurnExtras,
  isToolTurn,
  type TurnExtras,
  writeCanonical,
} from './turn-extras.ts'

/** A turn of a request. */
export interface ToolTurn {
  /** Its position in `messages`. */
  index: number
  /** The names under which it may be stored. */
  names: string[]
  /** The digest of the extras that the client sent. */
  digest: string
}

/** A turn of a response, as it is stored. */
export interface NewTurn {
  name: string
  digest: string
  extras: TurnExtras
}

/** Maximum size of a turn's extras. Larger ones are not stored. */
const MAX_EXTRAS_CHARS = 1024 * 1024
/** The number of turns of a request, from the last, whose extras are restored. */
const MAX_TURNS = 256

/** Returns the turns of a conversation. */
export function listToolTurns(messages: unknown): ToolTurn[] {
  if (!Array.isArray(messages) || !messages.some(isToolTurn)) return []
  const conversation = new ConversationHash()
  const turns = messages.flatMap((message: unknown, index): ToolTurn[] => {
    const turn = isToolTurn(message) && nameTurn(message, conversation, index)
    conversation.add(message)
    return turn ? [turn] : []
  })
  return turns.slice(-MAX_TURNS)
}

function nameTurn(message: JsonObject, conversation: ConversationHash, index: number): ToolTurn {
  const calls = describeCalls(message)
  const byIds = nameByIds(calls)
  const names = [...(byIds === null ? [] : [byIds]), nameByConversation(calls, conversation)]
  return { index, names, digest: digestOf(extrasOfTurn(message)) }
}

/** Returns the messages of a chat response that have both tool calls and provider extras. */
export function listTurnsWithExtras({ choices }: JsonObject): JsonObject[] {
  return asObjects(choices).flatMap(({ message }) =>
    isToolTurn(message) && hasTurnExtras(extrasOfTurn(message)) ? [message] : [],
  )
}

/** Describes a turn that responds to `messages`. Returns null if its extras are too long to be stored. */
export function describeTurn(messages: unknown, message: JsonObject): NewTurn | null {
  const extras = extrasOfTurn(message)
  if (JSON.stringify(extras).length > MAX_EXTRAS_CHARS) return null
  const calls = describeCalls(message)
  const conversation = new ConversationHash()
  for (const earlier of Array.isArray(messages) ? messages : []) conversation.add(earlier)
  return { name: nameByIds(calls) ?? nameByConversation(calls, conversation), digest: digestOf(extras), extras }
}

function describeCalls(message: JsonObject): DescribedCall[] {
  return asObjects(message.tool_calls).map(describeCall)
}

/** Names a turn by the ids of its calls, their functions and arguments; null if an id may occur in another conversation. */
function nameByIds(calls: readonly DescribedCall[]): string | null {
  const isUnique = calls.every(isUniqueId) && new Set(calls.map(({ id }) => id)).size === calls.length
  return isUnique
    ? nameOf(
        'ids',
        calls.map(({ id, called }) => `${called} ${id}`),
      )
    : null
}

/** Names a turn by the conversation before it, and its calls' functions and arguments. */
function nameByConversation(calls: readonly DescribedCall[], { hash }: ConversationHash): string {
  return nameOf(
    `conversation ${hash}`,
    calls.map(({ called }) => called),
  )
}

/** Clients may change the order of the calls. */
function nameOf(kind: string, calls: string[]): string {
  return sha256(JSON.stringify([kind, ...calls.sort()]))
}

const LONG_RUN = /[a-z0-9]{8,}/gi
const LONG_NUMBER = /[1-9]\d{11}/
const CHANGE_OF_CLASS = /(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z])(?=[0-9])|(?<=[0-9])(?=[a-zA-Z])/g
const MIN_CHANGES = 3

/** Whether an id looks random. Some vendors number the calls of each conversation, such as `functions.look:0`, or send no id. */
function isUniqueId({ id, name }: DescribedCall): boolean {
  const runs = (name === '' ? id : id.replaceAll(name, ' ')).match(LONG_RUN) ?? []
  return runs.some(
    run => LONG_NUMBER.test(run) || (/\d/.test(run) && (run.match(CHANGE_OF_CLASS)?.length ?? 0) >= MIN_CHANGES),
  )
}

/** The hash of a conversation, without what clients write differently: ids, system messages, extras, the order of results. */
class ConversationHash {
  #hash = ''
  #results: string[] = []

  add(message: unknown): void {
    if (!isJsonObject(message)) return
    const { role, content } = message
    if (role === 'tool') this.#results.push(readContent(content))
    else if (role !== 'system' && role !== 'developer') {
      this.#endResults()
      // Clients may omit the text beside calls.
      const calls = describeCalls(message).map(({ called }) => called)
      this.#addPart([role, ...(isToolTurn(message) ? calls.sort() : [readContent(content)])])
    }
  }

  get hash(): string {
    this.#endResults()
    return this.#hash
  }

  #endResults(): void {
    if (this.#results.length > 0) this.#addPart(['tool', ...this.#results.sort()])
    this.#results = []
  }

  #addPart(part: unknown[]): void {
    this.#hash = sha256(JSON.stringify([this.#hash, ...part]))
  }
}

/** Returns the text, and a hash of all other parts. Clients may write a text as parts, and mark parts for caching. */
function readContent(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === 'string' ? content.trim() : ''
  const parts = asObjects(content)
  const text = parts.map(part => (typeof part.text === 'string' ? part.text : '')).join('')
  const others = parts.filter(part => typeof part.text !== 'string')
  const written = others.map(({ cache_control: _mark, ...part }) => writeCanonical(part))
  return text.trim() + (written.length > 0 ? sha256(JSON.stringify(written)) : '')
}
