/** The fake provider replays one recorded response: its stream to streamed requests, its plain body to others. */
import { isUpstreamFailure } from '../../../src/formats/chat/completeness.ts'
import { CORPUS, type CorpusEntry, plainText } from '../../fake-provider/corpus.ts'
import type { JsonObject, Scenario } from '../../fake-provider/scenario.ts'
import type { Script } from '../../fake-provider/server.ts'

/** About the size of one read: an event can arrive in several parts, and a part can contain several events. */
const PART_CHARS = 100

/** Chat responses that can be cached, incomplete ones that cannot, and failures of the provider. */
export const WHOLE_CHATS = CORPUS.filter(entry => isChat(entry) && entry.completeness === 'whole')
export const INCOMPLETE_CHATS = CORPUS.filter(
  entry => isChat(entry) && entry.completeness !== 'whole' && !isUpstreamFailure(entry.completeness),
)
export const FAILED_CHATS = CORPUS.filter(entry => isChat(entry) && isUpstreamFailure(entry.completeness))

/** Returns a script that responds to every request with this entry. */
export function scriptOfEntry(entry: CorpusEntry): Script {
  return ({ body }) => (isStreamed(body) ? playStream(entry.stream ?? '') : playPlain(plainText(entry) ?? ''))
}

/** Returns the plain body that the stream must equal, without its recorded formatting. */
export function plainBodyScenario(entry: CorpusEntry): Scenario {
  return playPlain(JSON.stringify(entry.body))
}

/** Returns the functions that the entry's response calls. Some clients must know them in advance. */
export function namesOfTools({ body }: CorpusEntry): string[] {
  const choices = body.choices as { message?: { tool_calls?: { function?: { name: string } }[] } }[]
  const calls = choices.flatMap(choice => choice.message?.tool_calls ?? [])
  return calls.flatMap(call => (call.function ? [call.function.name] : []))
}

function isChat({ body }: CorpusEntry): boolean {
  return body.object === 'chat.completion'
}

function playStream(text: string): Scenario {
  const characters = [...text]
  const parts: string[] = []
  for (let at = 0; at < characters.length; at += PART_CHARS) parts.push(characters.slice(at, at + PART_CHARS).join(''))
  return { kind: 'raw', parts }
}

function playPlain(text: string): Scenario {
  return { kind: 'raw', headers: { 'content-type': 'application/json' }, parts: [text] }
}

function isStreamed(body: unknown): boolean {
  return (body as JsonObject | undefined)?.stream === true
}
