/** The same response with other framing and other content types. */
import type { Expected, ProviderCase } from '../case.ts'
import {
  COST,
  chatBody,
  chatStream,
  chunk,
  DONE,
  frame,
  JSON_TYPE,
  MESSAGE_STOP,
  MESSAGE_TEXT,
  messageBody,
  messageDelta,
  messageStart,
  plain,
  ROLE,
  STREAM,
  siblingCase,
  streamed,
  typedEvents,
  USAGE,
  usageChunk,
} from '../write-bytes.ts'

const WHOLE: Expected = { text: 'Hi', end: 'stop', p: 1000, c: 100, cost: COST, store: true }
const CLAUDE: Expected = { text: 'Hi', end: 'stop', p: 1000, c: 100, cost: 0.0015, store: true }
const STORY = chatStream({})
const MESSAGE =
  messageStart({ input_tokens: 1000, output_tokens: 1 }) +
  MESSAGE_TEXT +
  messageDelta('end_turn', { output_tokens: 100 }) +
  MESSAGE_STOP

const frames = (id: string, what: string, body: string) => siblingCase(`frames-${id}`, what, streamed(body), WHOLE)
const after = (event: string) => STORY.replaceAll('\n\n', `\n\n${event}`)

export const FRAMES: readonly ProviderCase[] = [
  frames('crlf', 'CRLF', STORY.replaceAll('\n', '\r\n')),
  frames('cr', 'CR', STORY.replaceAll('\n', '\r')),
  frames('ping-text', 'event: ping with a text', after('event: ping\ndata: ping\n\n')),
  frames('ping-json', 'event: ping with JSON', after('event: ping\ndata: {"type":"ping"}\n\n')),
  frames('ping-empty', 'event: ping without data', after('event: ping\n\n')),
  frames('fields', 'id and retry fields', STORY.replaceAll('data: ', 'id: 7\nretry: 100\ndata: ')),
  frames('no-space', 'no space after data:', STORY.replaceAll('data: ', 'data:')),
  frames('lines', 'JSON over several lines', STORY.replaceAll('"choices"', '\ndata: "choices"')),
  frames('mark', 'a byte order mark', `\uFEFF${STORY}`),
  frames('unclosed', 'no blank line at the end', STORY.trimEnd()),
  frames('named', 'event: message', STORY.replaceAll('data: ', 'event: message\ndata: ')),
  frames('blank', 'data frames of blanks', after('data:   \n\n')),
  siblingCase('frames-no-done-comment', 'a comment in place of [DONE]', streamed(STORY.replace(DONE, ': bye\n\n')), {
    text: 'Hi',
    end: 'stop',
    p: 1000,
    c: 100,
    cost: COST,
  }),
  siblingCase(
    'frames-no-usage-no-done',
    'finish reason, no usage, no [DONE]',
    streamed(ROLE + chunk({ content: 'Hi' }) + chunk({}, 'stop')),
    { text: 'Hi', end: 'stop', minCost: 1e-9 },
  ),
  siblingCase(
    'frames-one-chunk',
    'all in one chunk',
    streamed(chunk({ role: 'assistant', content: 'Hi' }, 'stop', { usage: USAGE }) + DONE),
    WHOLE,
  ),
  ...[JSON_TYPE, null, 'text/plain', 'application/octet-stream'].flatMap(type => [
    siblingCase(`label-${type}`, 'a stream with this label', streamed(STORY, type), WHOLE),
    siblingCase(`label-plain-${type}`, 'a stream that answers stream: false', plain(STORY, type), WHOLE),
    siblingCase(
      `label-claude-${type}`,
      'a stream with this label, own Anthropic key',
      streamed(MESSAGE, type),
      CLAUDE,
      {
        project: 'ant',
      },
    ),
    siblingCase(`label-claude-plain-${type}`, 'a stream that answers stream: false', plain(MESSAGE, type), CLAUDE, {
      project: 'ant',
    }),
  ]),
  ...[null, 'text/plain', STREAM].map(type =>
    siblingCase(`body-${type}`, 'a plain body with this label', plain(chatBody({}), type), WHOLE),
  ),
  ...[JSON_TYPE, STREAM, null].map(type =>
    siblingCase(
      `body-for-stream-${type}`,
      'a plain body that answers stream: true',
      streamed(chatBody({}), type),
      WHOLE,
    ),
  ),
  siblingCase(
    'body-for-stream-claude',
    'a plain body that answers stream: true, own Anthropic key',
    streamed(
      messageBody([{ type: 'text', text: 'Hi' }], 'end_turn', { input_tokens: 1000, output_tokens: 100 }),
      JSON_TYPE,
    ),
    CLAUDE,
    { project: 'ant' },
  ),
  siblingCase(
    'stream-for-plain-cut',
    'a stream that answers stream: false, and is cut',
    plain(ROLE + chunk({ content: 'Half' }), STREAM),
    {
      end: 'error',
      store: false,
    },
  ),
  siblingCase(
    'stream-for-plain-error',
    'a stream that answers stream: false with an error',
    plain(ROLE + frame({ error: { message: 'overloaded' } }) + DONE, STREAM),
    { end: 'error', store: false },
  ),
  siblingCase(
    'index-missing',
    'choices without an index',
    {
      ...streamed(
        frame({ choices: [{ delta: { role: 'assistant', content: 'Hi' } }] }) +
          frame({ choices: [{ delta: {}, finish_reason: 'stop' }] }) +
          usageChunk(USAGE) +
          DONE,
      ),
      ...plain(
        JSON.stringify({
          choices: [{ message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
          usage: USAGE,
        }),
      ),
    },
    { text: 'Hi', end: 'stop', cost: COST },
  ),
  siblingCase(
    'claude-pings',
    'pings between the events, own Anthropic key',
    streamed(MESSAGE.replaceAll('\n\n', '\n\nevent: ping\ndata: {"type":"ping"}\n\n')),
    CLAUDE,
    { project: 'ant' },
  ),
  siblingCase('claude-crlf', 'CRLF, own Anthropic key', streamed(MESSAGE.replaceAll('\n', '\r\n')), CLAUDE, {
    project: 'ant',
  }),
  siblingCase(
    'claude-unknown-event',
    'an unknown event, own Anthropic key',
    streamed(MESSAGE.replace(MESSAGE_STOP, typedEvents({ type: 'weather_report', sky: 'blue' }) + MESSAGE_STOP)),
    { text: 'Hi', end: 'stop' },
    { project: 'ant' },
  ),
]
