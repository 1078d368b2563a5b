import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ProxyError } from '../../../../src/errors/errors.ts'
import type { JsonObject } from '../../../../src/formats/json/canonical.ts'
import { translateResponsesRequest } from '../../../../src/formats/responses/response-request-to-chat.ts'
import { listOmittedItemTypes } from '../../../../src/formats/responses/unsupported-items.ts'
import { checkToolOrder } from '../../../fake-provider/check-tool-order.ts'

const ASKED = { role: 'user', content: 'Go on.' }

function messagesOf(...items: JsonObject[]): JsonObject[] {
  const { messages } = translateResponsesRequest({ model: 'm', input: [...items, ASKED] }, ['p m'])
  return (messages as JsonObject[]).slice(0, -1)
}

const called = (id: string, name: string, args: unknown) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
})
const returned = (id: string, content: unknown) => ({ role: 'tool', tool_call_id: id, content })

const ACTION = { type: 'exec', command: ['ls', '-l'], env: {} }
const PICTURE = 'data:image/png;base64,AAAA'
const LOADED = [{ type: 'function', name: 'look', parameters: {} }]

describe('an item of a conversation that started at another provider', () => {
  test.each<[name: string, items: JsonObject[], messages: unknown[]]>([
    [
      'a local shell call, whose result contains the item’s id',
      [
        { type: 'local_shell_call', id: 'ls_1', call_id: 'c1', status: 'completed', action: ACTION },
        { type: 'local_shell_call_output', id: 'ls_1', output: 'a.txt' },
      ],
      [called('c1', 'local_shell', ACTION), returned('c1', 'a.txt')],
    ],
    [
      'a local shell call with a function’s result, as Codex sends it',
      [
        { type: 'local_shell_call', call_id: 'c1', status: 'completed', action: ACTION },
        { type: 'function_call_output', call_id: 'c1', output: 'a.txt' },
      ],
      [called('c1', 'local_shell', ACTION), returned('c1', 'a.txt')],
    ],
    [
      'a shell call with several outputs',
      [
        { type: 'shell_call', id: 'sh_1', call_id: 'c1', action: { commands: ['ls'] }, environment: null },
        {
          type: 'shell_call_output',
          call_id: 'c1',
          output: [{ stdout: 'a', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
        },
      ],
      [
        called('c1', 'shell', { commands: ['ls'] }),
        returned('c1', '[{"stdout":"a","stderr":"","outcome":{"type":"exit","exit_code":0}}]'),
      ],
    ],
    [
      'a failed patch',
      [
        { type: 'apply_patch_call', call_id: 'c1', status: 'completed', operation: { type: 'delete_file', path: 'a' } },
        { type: 'apply_patch_call_output', call_id: 'c1', status: 'failed', output: 'No such file.' },
      ],
      [
        called('c1', 'apply_patch', { type: 'delete_file', path: 'a' }),
        returned('c1', [
          { type: 'text', text: 'The tool failed.' },
          { type: 'text', text: 'No such file.' },
        ]),
      ],
    ],
    [
      'a computer call with a screenshot',
      [
        { type: 'computer_call', id: 'cu_1', call_id: 'c1', pending_safety_checks: [], action: { type: 'screenshot' } },
        {
          type: 'computer_call_output',
          call_id: 'c1',
          output: { type: 'computer_screenshot', image_url: PICTURE },
        },
      ],
      [
        called('c1', 'computer', { type: 'screenshot' }),
        returned('c1', ''),
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Returned by call c1:' },
            { type: 'image_url', image_url: { url: PICTURE } },
          ],
        },
      ],
    ],
    [
      'a tool search that the client runs',
      [
        { type: 'tool_search_call', call_id: 'c1', execution: 'client', arguments: { query: 'look' } },
        { type: 'tool_search_output', call_id: 'c1', execution: 'client', tools: LOADED },
      ],
      [called('c1', 'tool_search', { query: 'look' }), returned('c1', JSON.stringify(LOADED))],
    ],
    [
      'a tool search that the provider runs, whose result has no call id',
      [
        { type: 'tool_search_call', id: 'ts_1', call_id: null, execution: 'server', arguments: { paths: ['crm'] } },
        { type: 'tool_search_output', id: 'tso_1', call_id: null, execution: 'server', tools: LOADED },
      ],
      [called('ts_1', 'tool_search', { paths: ['crm'] }), returned('ts_1', JSON.stringify(LOADED))],
    ],
    [
      'a call of another agent',
      [
        { type: 'multi_agent_call', call_id: 'c1', action: 'spawn_agent', arguments: '{"task":"look"}' },
        {
          type: 'multi_agent_call_output',
          call_id: 'c1',
          action: 'spawn_agent',
          output: [{ type: 'output_text', text: 'Spawned.', annotations: [] }],
        },
      ],
      [called('c1', 'spawn_agent', { task: 'look' }), returned('c1', 'Spawned.')],
    ],
    [
      'a program and its output',
      [
        { type: 'program', id: 'pr_1', call_id: 'c1', code: '1 + 1', fingerprint: 'f' },
        { type: 'program_output', id: 'po_1', call_id: 'c1', result: '2', status: 'completed' },
      ],
      [called('c1', 'program', { code: '1 + 1' }), returned('c1', '2')],
    ],
    [
      'an approval request for a remote tool',
      [
        { type: 'mcp_approval_request', id: 'mr_1', name: 'drop', arguments: '{"a":1}', server_label: 's' },
        { type: 'mcp_approval_response', approval_request_id: 'mr_1', approve: false },
      ],
      [called('mr_1', 'drop', { a: 1 }), returned('mr_1', 'false')],
    ],
    [
      'a call of an unknown type',
      [
        { type: 'teleport_call', id: 'tp_1', call_id: 'c1', destination: 'Bern', status: 'completed' },
        { type: 'teleport_call_output', call_id: 'c1', output: { arrived: true } },
      ],
      [called('c1', 'teleport', { destination: 'Bern' }), returned('c1', '{"arrived":true}')],
    ],
    [
      'a call that contains its result',
      [{ type: 'teleport_call', call_id: 'c1', input: 'Bern', output: 'There.' }],
      [called('c1', 'teleport', { input: 'Bern' }), returned('c1', 'There.')],
    ],
    [
      'an interrupted call',
      [{ type: 'local_shell_call', call_id: 'c1', status: 'incomplete', action: ACTION }],
      [called('c1', 'local_shell', ACTION), returned('c1', '(No result was recorded.)')],
    ],
    [
      'results of tools that the provider ran',
      [
        {
          type: 'mcp_call',
          id: 'mcp_1',
          name: 'read',
          server_label: 's',
          arguments: '{"a":1}',
          output: 'Text',
          error: null,
        },
        { type: 'file_search_call', id: 'fs_1', queries: ['q'], results: [{ text: 'Found' }], status: 'completed' },
        {
          type: 'code_interpreter_call',
          id: 'ci_1',
          code: '1',
          container_id: 'x',
          outputs: [{ type: 'logs', logs: '1' }],
        },
      ],
      [
        { role: 'assistant', content: 'read {"a":1} returned:\nText' },
        { role: 'assistant', content: 'file_search {"queries":["q"]} returned:\n[{"text":"Found"}]' },
        {
          role: 'assistant',
          content: 'code_interpreter {"code":"1","container_id":"x"} returned:\n[{"type":"logs","logs":"1"}]',
        },
      ],
    ],
    [
      'hosted tool calls without text, lists of tools, and items that only OpenAI can read',
      [
        { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } },
        { type: 'web_search_call', status: 'completed' },
        { type: 'file_search_call', id: 'fs_1', queries: ['q'], results: null },
        { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'AAAA' },
        { type: 'mcp_list_tools', id: 'ml_1', server_label: 's', tools: [{ name: 'f', input_schema: {} }] },
        { type: 'compaction', id: 'cp_1', encrypted_content: 'gAAAA' },
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' },
      ],
      [],
    ],
    [
      'a message between agents with an image',
      [
        {
          type: 'agent_message',
          author: '/root/worker',
          recipient: '/root',
          content: [
            { type: 'input_text', text: 'Done.' },
            { type: 'encrypted_content', encrypted_content: 'gAAAA' },
            { type: 'input_image', image_url: PICTURE },
          ],
        },
      ],
      [
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Message from /root/worker to /root:' },
            { type: 'text', text: 'Done.' },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Message from /root/worker to /root:' },
            { type: 'image_url', image_url: { url: PICTURE } },
          ],
        },
      ],
    ],
    [
      'messages of unknown types, by role',
      [
        { type: 'memo', content: 'I noted.' },
        { type: 'memo', role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] },
      ],
      [
        { role: 'assistant', content: 'I noted.' },
        { role: 'system', content: 'Be brief.' },
      ],
    ],
  ])('%s', (_, items, messages) => {
    expect(messagesOf(...items)).toEqual(messages)
  })

  test.each<[JsonObject, string]>([
    [{ type: 'compaction_trigger' }, 'input[0].type'],
    [{ type: 'additional_tools', role: 'developer', tools: [] }, 'input[0].type'],
    [{ type: 'item_reference', id: 'msg_1' }, 'input[0].type'],
    [{ type: 'riddle', answer: 42 }, 'input[0].type'],
    [{ type: 'memo', content: [{ type: 'hologram' }] }, 'input[0].content[0].type'],
  ])('that cannot be translated is rejected by name: %j', (item, param) => {
    expect(() => messagesOf(item)).toThrow(ProxyError)
    expect(() => messagesOf(item)).toThrow(expect.objectContaining({ param, status: 400 }))
  })

  test('whose content is lost is named once, in words that fit into a header', () => {
    const sealed = { encrypted_content: 'gAAAA' }
    const input = [
      { type: 'compaction', ...sealed },
      { type: 'compaction', ...sealed },
      { type: 'so\nstrange', ...sealed },
      { type: 'agent_message', content: [{ type: 'encrypted_content', ...sealed }] },
      { type: 'reasoning', summary: [], ...sealed },
      { type: 'web_search_call', action: { type: 'search' } },
      { type: 'image_generation_call', id: 'ig_1', result: 'AAAA' },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    ]
    expect(listOmittedItemTypes({ input })).toEqual(['compaction', 'unknown', 'agent_message', 'image_generation_call'])
    expect(listOmittedItemTypes({ input: 'Hello' })).toEqual([])
  })

  test('leaves a conversation that strict vendors accept, whatever calls and results it has', () => {
    const id = fc.constantFrom('c1', 'c2', null, undefined)
    const kind = fc.constantFrom('shell', 'tool_search', 'x', 'mcp_approval')
    const call = fc.record({ type: kind.map(tool => `${tool}_call`), id, call_id: id, action: fc.constant({ a: 1 }) })
    const result = fc.record({ type: kind.map(tool => `${tool}_call_output`), id, call_id: id, output: fc.string() })
    const known = fc.constant({ type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' })
    const known2 = fc.constant({ type: 'function_call_output', call_id: 'c1', output: 'x' })
    const note = fc.constant({ role: 'developer', content: 'n' })
    fc.assert(
      fc.property(fc.array(fc.oneof(call, result, known, known2, note), { maxLength: 10 }), items => {
        const messages = messagesOf(...(items as JsonObject[]))
        const request = { path: '/v1/chat/completions', body: { messages } }
        expect(checkToolOrder(request as unknown as Parameters<typeof checkToolOrder>[0])).toBe(null)
      }),
    )
  })
})
