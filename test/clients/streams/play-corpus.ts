/** The stand-in upstream, playing one recorded answer: its stream to who asks for one, its plain body to who does not. */
import { isUpstreamFailure } from '../../../src/formats/chat/completeness.ts'
import { CORPUS, type CorpusEntry, plainText } from '../../standin/corpus.ts'
import type { JsonObject, Scenario } from '../../standin/scenario.ts'
import type { Script } from '../../standin/server.ts'

/** About as much as one read brings: events arrive in parts, and several in one. */
const PART_CHARS = 100

/** Chat responses that may be stored, those that may not, and those that are failures of their provider. */
export const WHOLE_CHATS = CORPUS.filter(entry => isChat(entry) && entry.completeness === 'whole')
export const INCOMPLETE_CHATS = CORPUS.filter(
  entry => isChat(entry) && entry.completeness !== 'whole' && !isUpstreamFailure(entry.completeness),
)
export const FAILED_CHATS = CORPUS.filter(entry => isChat(entry) && isUpstreamFailure(entry.completeness))

/** What upstream does when this entry is its answer to everything. */
export function playEntry(entry: CorpusEntry): Script {
  return ({ body }) => (isStreamed(body) ? playStream(entry.stream ?? '') : playPlain(plainText(entry) ?? ''))
}

/** The plain body that the stream must come to, without the decoration it was recorded with. */
export function playBody(entry: CorpusEntry): Scenario {
  return playPlain(JSON.stringify(entry.body))
}

/** The functions an entry's answer calls: some clients want to know them beforehand. */
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
