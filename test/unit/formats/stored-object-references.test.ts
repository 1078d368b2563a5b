/** Finds the ids of stored objects that a request body contains. */

import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/formats/json/canonical.ts'
import { findStoredObjectReferences, referenceKindOf } from '../../../src/formats/stored-object-references.ts'

const find = (body: JsonObject) => {
  return findStoredObjectReferences(body).map(({ kind, id, field }) => `${kind} ${id} ${field}`)
}
const user = (content: unknown) => ({ messages: [{ role: 'user', content }] })
const item = (part: JsonObject) => ({ input: [{ role: 'user', content: [part] }] })
const tool = (given: JsonObject) => ({ tools: [given] })

test('an approval of a request in the same body refers to no stored object', () => {
  const approval = { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true }
  const request = { type: 'mcp_approval_request', id: 'mcpr_1', name: 'drop', arguments: '{}', server_label: 's' }
  expect(find({ input: [request, approval] })).toEqual([])
  // An item without its content refers to a stored item.
  expect(find({ input: [{ type: 'mcp_approval_request', id: 'mcpr_1' }, approval] })).toEqual([
    'item mcpr_1 input[0].id',
    'other mcpr_1 input[1].approval_request_id',
  ])
})

describe('detects', () => {
  test.each<[string, JsonObject, string]>([
    [
      'a file in a chat message',
      user([{ type: 'file', file: { file_id: 'f' } }]),
      'file f messages[0].content[0].file.file_id',
    ],
    [
      'an image of the assistant',
      user([{ type: 'image_file', image_file: { file_id: 'f' } }]),
      'file f messages[0].content[0].image_file.file_id',
    ],
    ['an input file', item({ type: 'input_file', file_id: 'f' }), 'file f input[0].content[0].file_id'],
    ['an input image', item({ type: 'input_image', file_id: 'f' }), 'file f input[0].content[0].file_id'],
    [
      'a file in a tool result',
      { input: [{ type: 'function_call_output', output: [{ type: 'input_file', file_id: 'f' }] }] },
      'file f input[0].output[0].file_id',
    ],
    [
      'a document in a message',
      user([{ type: 'document', source: { type: 'file', file_id: 'f' } }]),
      'file f messages[0].content[0].source.file_id',
    ],
    [
      'a document within a tool result',
      user([{ type: 'tool_result', content: [{ type: 'image', source: { file_id: 'f' } }] }]),
      'file f messages[0].content[0].content[0].source.file_id',
    ],
    [
      'an upload into a container',
      user([{ type: 'container_upload', file_id: 'f' }]),
      'file f messages[0].content[0].file_id',
    ],
    [
      'files of a container',
      tool({ type: 'code_interpreter', container: { type: 'auto', file_ids: ['f'] } }),
      'file f tools[0].container.file_ids',
    ],
    [
      'an approval',
      { input: [{ type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true }] },
      'other mcpr_1 input[0].approval_request_id',
    ],
    ['parts of an upload', { part_ids: ['part_1'] }, 'other part_1 part_ids'],
    ['a container', tool({ type: 'code_interpreter', container: 'cntr_1' }), 'other cntr_1 tools[0].container'],
    ['a container of the Messages API', { container: { id: 'c', skills: [] } }, 'other c container'],
    [
      'a mask',
      tool({ type: 'image_generation', input_image_mask: { file_id: 'f' } }),
      'file f tools[0].input_image_mask.file_id',
    ],
    ['an image to edit', { images: [{ file_id: 'f' }] }, 'file f images[0].file_id'],
    [
      'a variable of a stored prompt',
      { prompt: { variables: { doc: { file_id: 'f' } } } },
      'file f prompt.variables.doc.file_id',
    ],
    ['vector stores', tool({ type: 'file_search', vector_store_ids: ['v'] }), 'other v tools[0].vector_store_ids'],
    ['an earlier response', { previous_response_id: 'r' }, 'other r previous_response_id'],
    ['a conversation', { conversation: { id: 'c' } }, 'other c conversation'],
    ['a stored prompt', { prompt: { id: 'p', version: '2' } }, 'other p prompt'],
    [
      'an audio id of an earlier response',
      { messages: [{ role: 'assistant', audio: { id: 'a' } }] },
      'other a messages[0].audio',
    ],
    ['a voice', { input: 'Hello.', voice: { id: 'v' } }, 'other v voice'],
    ['a skill', { container: { skills: [{ type: 'custom', skill_id: 's' }] } }, 'other s container.skills[0].skill_id'],
    [
      'a reasoning item without content',
      { input: [{ type: 'reasoning', id: 'r', summary: [] }] },
      'item r input[0].id',
    ],
    [
      'a generated image without its bytes',
      { input: [{ type: 'image_generation_call', id: 'i', status: 'completed', result: null }] },
      'item i input[0].id',
    ],
    ['an earlier item', { input: [{ type: 'item_reference', id: 'm' }] }, 'other m input[0].id'],
    ['an item id without a type', { input: [{ id: 'm' }] }, 'other m input[0].id'],
    ['an id in a field of the client’s own', { 'secret words': { file_id: 'f' } }, 'file f ….file_id'],
  ])('%s', (_, body, reference) => expect(find(body)).toEqual([reference]))
})

describe('does not detect', () => {
  test.each<[string, JsonObject]>([
    ['text', user('{"file_id": "f"}')],
    ['the input of a tool call', user([{ type: 'tool_use', id: 't', name: 'n', input: { file_id: 'f' } }])],
    [
      'the schema of a tool',
      tool({ name: 'n', input_schema: { properties: { file_id: { default: 'f', file_ids: ['f'] } } } }),
    ],
    ['the schema of a function', tool({ type: 'function', parameters: { examples: [{ file_id: 'f' }] } })],
    [
      'a file citation in a response',
      item({ type: 'output_text', annotations: [{ type: 'file_citation', file_id: 'f' }] }),
    ],
    ['results of a file search', { input: [{ type: 'file_search_call', id: 'fs', results: [{ file_id: 'f' }] }] }],
    ['a body without ids', item({ type: 'input_file', file_id: null })],
    ['a prompt text and a voice name', { prompt: 'p', voice: 'alloy', audio: { voice: 'alloy', format: 'mp3' } }],
    ['a reasoning item with content', { input: [{ type: 'reasoning', id: 'r', summary: [], encrypted_content: 'c' }] }],
    ['a generated image with its bytes', { input: [{ type: 'image_generation_call', id: 'i', result: 'AAAA' }] }],
    ['a call', { input: [{ type: 'function_call', id: 'fc', call_id: 'c', name: 'n', arguments: '{}' }] }],
    // Codex sends its session in `client_metadata`, and OpenRouter's clients any names in `trace`.
    [
      'names that a client chose',
      { metadata: { thread: 't' }, client_metadata: { thread_id: 't' }, trace: { thread_id: 't' } },
    ],
    ['a message with an id', { input: [{ id: 'm', role: 'assistant', content: [] }] }],
  ])('%s', (_, body) => expect(find(body)).toEqual([]))
})

test('in fields of forms', () => {
  expect(['file_id', 'mask[file_id]', 'images[0][file_id]', 'file_ids[]'].map(referenceKindOf)).toEqual(
    Array(4).fill('file'),
  )
  expect(['file', 'model', 'profile', 'image[]'].map(referenceKindOf)).toEqual(Array(4).fill(null))
})
