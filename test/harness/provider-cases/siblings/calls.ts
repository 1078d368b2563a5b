/** Tool calls in pieces: in any order, with and without their ids and names. */
import type { Call } from '../../outcomes/outcome.ts'
import type { Expected, ProviderCase } from '../case.ts'
import {
  chatBody,
  chatStream,
  inBothModes,
  MESSAGE_STOP,
  messageDelta,
  messageStart,
  plain,
  siblingCase,
  streamed,
  typedEvents,
} from '../write-bytes.ts'

type Fields = Record<string, unknown>

const TOOLS = { tools: true }
const A: Call = ['run', '{"command":"a"}']
const B: Call = ['run', '{"command":"b"}']
const called = (...calls: Call[]): Expected => ({ calls, end: 'tools', store: true, p: 1000, c: 100 })

const call = (id: string | null | undefined, name: string | null | undefined, args: unknown, more: Fields = {}) => {
  return {
    ...(id !== undefined && { id }),
    type: 'function',
    function: { ...(name !== undefined && { name }), arguments: args },
    ...more,
  }
}
const pieces = (...fragments: Fields[]) =>
  streamed(chatStream({ deltas: fragments.map(fragment => ({ tool_calls: [fragment] })), finish: 'tool_calls' }))
const stream = (id: string, what: string, expected: Expected, ...fragments: Fields[]) =>
  siblingCase(`call-${id}`, what, pieces(...fragments), expected, TOOLS)
const message = (...tool_calls: Fields[]) =>
  plain(chatBody({ message: { content: null, tool_calls }, finish: 'tool_calls' }))

export const CALLS: readonly ProviderCase[] = [
  stream(
    'name-after-id',
    'the name comes after the id',
    called(A),
    { index: 0, id: 'call_a', type: 'function', function: { arguments: '' } },
    { index: 0, function: { name: 'run' } },
    { index: 0, function: { arguments: '{"command":"a"}' } },
  ),
  stream(
    'name-after-arguments',
    'the name comes after the first arguments',
    called(A),
    { index: 0, id: 'call_a', type: 'function', function: { arguments: '{"command":' } },
    { index: 0, function: { name: 'run', arguments: '"a"}' } },
  ),
  stream(
    'id-in-each',
    'id and name in every fragment',
    called(A),
    { index: 0, ...call('call_a', 'run', '{"command":') },
    { index: 0, ...call('call_a', 'run', '"a"}') },
  ),
  stream(
    'empty-id',
    'an empty id and name in later fragments',
    called(A, B),
    { index: 0, ...call('call_a', 'run', '') },
    { index: 0, ...call('', '', '{"command":"a"}') },
    { index: 1, ...call('call_b', 'run', '') },
    { index: 1, ...call(null, null, '{"command":"b"}') },
  ),
  stream(
    'no-index',
    'whole calls without an index',
    called(A, B),
    call('call_a', 'run', A[1]),
    call('call_b', 'run', B[1]),
  ),
  siblingCase(
    'call-no-index-one-chunk',
    'two whole calls without an index in one chunk',
    streamed(
      chatStream({
        deltas: [{ tool_calls: [call('call_a', 'run', A[1]), call('call_b', 'run', B[1])] }],
        finish: 'tool_calls',
      }),
    ),
    called(A, B),
    TOOLS,
  ),
  stream('no-index-pieces', 'one call in pieces without an index', called(A), call('call_a', 'run', '{"comm'), {
    function: { arguments: 'and":"a"}' },
  }),
  stream(
    'index-0-ids',
    'two whole calls at index 0 with ids of their own',
    called(A, B),
    {
      index: 0,
      ...call('call_a', 'run', A[1]),
    },
    { index: 0, ...call('call_b', 'run', B[1]) },
  ),
  stream(
    'index-text',
    'the index is a text',
    called(A),
    { index: '0', ...call('call_a', 'run', '{"command":') },
    {
      index: '0',
      function: { arguments: '"a"}' },
    },
  ),
  stream('index-from-1', 'the index begins at 1', called(A), { index: 1, ...call('call_a', 'run', A[1]) }),
  siblingCase(
    'call-no-arguments',
    'a call with empty arguments',
    {
      ...pieces({ index: 0, ...call('call_a', 'run', '') }),
      ...message(call('call_a', 'run', '')),
    },
    { calls: [['run', '{}']], end: 'tools' },
    TOOLS,
  ),
  siblingCase(
    'call-no-id',
    'whole calls without ids',
    {
      ...pieces({ index: 0, ...call(undefined, 'run', A[1]) }, { index: 1, ...call(undefined, 'run', B[1]) }),
      ...message(call(undefined, 'run', A[1]), call(undefined, 'run', B[1])),
    },
    called(A, B),
    TOOLS,
  ),
  siblingCase(
    'call-object-list',
    'arguments that are an object within an object',
    {
      ...pieces({ index: 0, ...call('call_a', 'run', { command: ['a', { b: 1 }] }) }),
      ...message(call('call_a', 'run', { command: ['a', { b: 1 }] })),
    },
    { calls: [['run', '{"command":["a",{"b":1}]}']], end: 'tools' },
    TOOLS,
  ),
  siblingCase(
    'call-stop',
    'finish_reason stop beside a call',
    {
      ...streamed(
        chatStream({ deltas: [{ tool_calls: [{ index: 0, ...call('call_a', 'run', A[1]) }] }], finish: 'stop' }),
      ),
      ...plain(chatBody({ message: { content: null, tool_calls: [call('call_a', 'run', A[1])] }, finish: 'stop' })),
    },
    {
      'chat/streamed': { calls: [A], end: 'any', store: true },
      'chat/plain': { calls: [A], end: 'any', store: true },
      all: called(A),
    },
    TOOLS,
  ),
  siblingCase(
    'call-cut',
    'arguments that are cut',
    {
      ...pieces({ index: 0, ...call('call_a', 'run', '{"command":"a') }),
      ...message(call('call_a', 'run', '{"command":"a')),
    },
    // Messages streams are excluded: a strict reader rejects these arguments, because they are not JSON.
    Object.fromEntries(
      ['chat/streamed', 'chat/plain', 'responses/streamed', 'responses/plain', 'messages/plain'].map(at => [
        at,
        { end: 'any', store: false, noFail: true },
      ]),
    ),
    TOOLS,
  ),
  siblingCase(
    'call-text',
    'text, then a call',
    {
      ...streamed(
        chatStream({
          deltas: [{ content: 'Hi' }, { tool_calls: [{ index: 0, ...call('call_a', 'run', A[1]) }] }],
          finish: 'tool_calls',
        }),
      ),
      ...plain(
        chatBody({ message: { content: 'Hi', tool_calls: [call('call_a', 'run', A[1])] }, finish: 'tool_calls' }),
      ),
    },
    { ...called(A), text: 'Hi' },
    TOOLS,
  ),
  siblingCase(
    'call-none',
    'tool_calls that are empty or null',
    {
      ...streamed(
        chatStream({
          deltas: [
            { content: 'H', tool_calls: [] },
            { content: 'i', tool_calls: null, function_call: null },
          ],
        }),
      ),
      ...plain(chatBody({ message: { content: 'Hi', tool_calls: [], function_call: null } })),
    },
    { text: 'Hi', calls: [], end: 'stop', store: true },
    TOOLS,
  ),
  siblingCase(
    'call-legacy-pieces',
    'function_call in pieces',
    {
      ...streamed(
        chatStream({
          deltas: [
            { function_call: { name: 'run', arguments: '' } },
            { function_call: { arguments: '{"command":' } },
            { function_call: { arguments: '"a"}' } },
          ],
          finish: 'function_call',
        }),
      ),
    },
    called(A),
    TOOLS,
  ),
  stream(
    'three',
    'three calls, fragments in turns',
    called(A, B, ['run', '{"command":"c"}']),
    ...['a', 'b', 'c'].map((name, index) => ({ index, ...call(`call_${name}`, 'run', '{"comm') })),
    ...['c', 'a', 'b'].map(name => ({ index: 'abc'.indexOf(name), function: { arguments: `and":"${name}"}` } })),
  ),
  siblingCase(
    'call-one-id-three',
    'three calls with one id',
    {
      ...inBothModes({
        deltas: ['a', 'b', 'c'].map((name, index) => ({
          tool_calls: [{ index, ...call('call_0', 'run', `{"command":"${name}"}`) }],
        })),
        message: {
          content: null,
          tool_calls: ['a', 'b', 'c'].map(name => call('call_0', 'run', `{"command":"${name}"}`)),
        },
        finish: 'tool_calls',
      }),
    },
    called(A, B, ['run', '{"command":"c"}']),
    TOOLS,
  ),
  siblingCase(
    'call-claude-whole',
    'input within content_block_start, own Anthropic key',
    streamed(
      messageStart({ input_tokens: 1000, output_tokens: 1 }) +
        typedEvents(
          {
            type: 'content_block_start',
            index: 0,
            content_block: { type: 'tool_use', id: 'toolu_1', name: 'run', input: { command: 'a' } },
          },
          { type: 'content_block_stop', index: 0 },
        ) +
        messageDelta('tool_use', { output_tokens: 100 }) +
        MESSAGE_STOP,
    ),
    called(A),
    { ...TOOLS, project: 'ant' },
  ),
]
