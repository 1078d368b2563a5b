/** Bodies that are not responses. Each is an error at every endpoint, and only reported usage is charged. */
import type { Expected, ProviderCase } from '../case.ts'
import {
  chatBody,
  chunk,
  DONE,
  frame,
  inBothModes,
  JSON_TYPE,
  MESSAGE_STOP,
  messageDelta,
  messageStart,
  plain,
  ROLE,
  STREAM,
  siblingCase,
  streamed,
  typedEvents,
  USAGE,
} from '../write-bytes.ts'

/** No response began, so nothing is charged. */
const NOTHING: Expected = { end: 'error', store: false, maxCost: 0 }
const FAILED: Expected = { end: 'error', store: false }
const HTML = '<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>'
const ERROR = JSON.stringify({ error: { message: 'Provider returned error', code: 502 } })

const ANYWHERE: [id: string, what: string, body: string, type: string | null][] = [
  ['html', 'HTML', HTML, 'text/html'],
  ['html-json', 'HTML labelled as JSON', HTML, JSON_TYPE],
  ['html-stream', 'HTML labelled as a stream', HTML, STREAM],
  ['text', 'a line of text labelled as JSON', 'upstream connect error', JSON_TYPE],
  ['cut-json', 'JSON that is cut before its choices', '{"id":"chatcmpl-1","object":"chat.comp', JSON_TYPE],
  ['null', 'null', 'null', JSON_TYPE],
  ['list', 'a list', '[]', JSON_TYPE],
  ['empty-object', 'an empty object', '{}', JSON_TYPE],
  ['detail', 'FastAPI’s detail', '{"detail":"Not Found"}', JSON_TYPE],
  ['error-text', 'an error that is a text', '{"error":"model runner has stopped"}', JSON_TYPE],
  ['error-stream', 'an error labelled as a stream', ERROR, STREAM],
  ['error-list', 'Google’s list of errors', `[${ERROR}]`, JSON_TYPE],
  ['message', 'success false and a message', '{"success":false,"message":"Insufficient balance"}', JSON_TYPE],
  ['done-alone', '[DONE] alone', DONE, STREAM],
  ['comments', 'comments alone', ': OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n', STREAM],
  ['no-choices', 'choices: []', '{"id":"chatcmpl-1","object":"chat.completion","choices":[]}', JSON_TYPE],
  ['null-choices', 'choices: null', '{"id":"chatcmpl-1","object":"chat.completion","choices":null}', JSON_TYPE],
]

const FIRST_EVENTS: Record<string, string> = {
  'error under its own name': `event: error\n${frame({ message: 'overloaded' })}`,
  'error without [DONE]': frame({ error: { message: 'overloaded' } }),
  'error of the type error': frame({ object: 'error', message: 'no memory', code: 500 }),
  'choices: []': frame({ id: 'chatcmpl-1', object: 'chat.completion.chunk', choices: [] }),
}

const OWN = (['oai', 'ant', 'groq'] as const).flatMap(project => [
  siblingCase(
    `none-error-${project}`,
    'a 200 with an error',
    { ...streamed(ERROR, JSON_TYPE), ...plain(ERROR) },
    NOTHING,
    {
      project,
    },
  ),
  siblingCase(`none-empty-${project}`, 'a 200 with nothing', { ...streamed(''), ...plain('') }, NOTHING, { project }),
])

export const FAILURES: readonly ProviderCase[] = [
  ...ANYWHERE.map(([id, what, body, type]) =>
    siblingCase(`none-${id}`, what, { ...streamed(body, type), ...plain(body, type) }, NOTHING),
  ),
  ...Object.entries(FIRST_EVENTS).map(([what, event]) =>
    siblingCase(`first-event: ${what}`, 'and nothing else', streamed(event), NOTHING),
  ),
  ...OWN,
  siblingCase(
    'none-no-choices-usage',
    'choices: [] beside a usage',
    {
      ...plain(JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion', choices: [], usage: USAGE })),
    },
    FAILED,
  ),
  siblingCase('role-cut', 'the role, and the end of the body', streamed(ROLE), FAILED),
  siblingCase('role-done', 'the role, and [DONE]', streamed(ROLE + DONE), FAILED),
  siblingCase(
    'role-error',
    'the role, and an error',
    streamed(ROLE + frame({ error: { message: 'overloaded' } }) + DONE),
    FAILED,
  ),
  siblingCase(
    'nothing-shown',
    'output tokens with nothing to show',
    inBothModes({ deltas: [], message: { content: '' } }),
    FAILED,
  ),
  siblingCase(
    'nothing-shown-null',
    'the same with content null',
    inBothModes({ deltas: [{ content: null }], message: { content: null } }),
    FAILED,
  ),
  siblingCase(
    'nothing-shown-parts',
    'the same with no parts',
    inBothModes({ deltas: [{ content: [] }], message: { content: [] } }),
    FAILED,
  ),
  siblingCase('cut-json-late', 'JSON that is cut within its text', plain(chatBody({}).slice(0, -60)), FAILED),
  siblingCase(
    'no-message',
    'a choice without a message',
    plain(JSON.stringify({ choices: [{ index: 0, finish_reason: 'stop' }], usage: USAGE })),
    FAILED,
  ),
  siblingCase(
    'claude-error-first',
    'overloaded_error first, own Anthropic key',
    {
      ...streamed(typedEvents({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })),
      ...plain(JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })),
    },
    NOTHING,
    { project: 'ant' },
  ),
  siblingCase(
    'claude-start-cut',
    'cut after message_start, own Anthropic key',
    streamed(messageStart({ input_tokens: 1000, output_tokens: 1 })),
    {
      ...FAILED,
      minCost: 0.001,
    },
    { project: 'ant' },
  ),
  siblingCase(
    'claude-nothing-shown',
    'output tokens with nothing to show, own Anthropic key',
    {
      ...streamed(
        messageStart({ input_tokens: 1000, output_tokens: 1 }) +
          messageDelta('end_turn', { output_tokens: 100 }) +
          MESSAGE_STOP,
      ),
    },
    { ...FAILED, cost: 0.0015 },
    { project: 'ant' },
  ),
  siblingCase(
    'responses-cut',
    'cut after response.created, own OpenAI key',
    streamed(
      typedEvents({
        type: 'response.created',
        sequence_number: 0,
        response: {
          id: 'resp_1',
          object: 'response',
          created_at: 1,
          status: 'in_progress',
          model: 'gpt-4o-mini',
          output: [],
          usage: null,
        },
      }),
    ),
    FAILED,
    { project: 'oai' },
  ),
  siblingCase(
    'late-empty',
    'text, then nothing but blanks',
    streamed(`${ROLE}${chunk({ content: 'Half' })}\n\n\n\n`),
    FAILED,
  ),
]
