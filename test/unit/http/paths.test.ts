import { describe, expect, test } from 'vitest'
import { allowedMethodsOf, createNotFoundError, resolveMethod, resolveTarget } from '../../../src/http/paths.ts'
import { detectApiForm } from '../../../src/http/respond.ts'
import { SEEDED_DETECTOR } from '../../harness/vendors.ts'

const CHAT = { kind: 'endpoint', endpoint: 'chat', model: null }

function geminiTarget(method: string, model: string) {
  return { kind: 'endpoint', endpoint: 'generate_content', model: null, gemini: { method, model } }
}

test.each([
  ['/v1/chat/completions', CHAT],
  ['/chat/completions', CHAT],
  ['/v1/v1/chat/completions', CHAT],
  ['//v1//chat/completions/', CHAT],
  ['/embeddings', { kind: 'endpoint', endpoint: 'embeddings', model: null }],
  ['/health', { kind: 'health' }],
  ['/livez', { kind: 'probe', probe: 'livez' }],
  ['//readyz/', { kind: 'probe', probe: 'readyz' }],
  ['/health/liveliness', { kind: 'probe', probe: 'livez' }],
  ['/health/liveness/', { kind: 'probe', probe: 'livez' }],
  ['/health/readiness', { kind: 'probe', probe: 'readyz' }],
  ['/v1/health/liveness', null],
  ['/v1/livez', null],
  ['/v1/models/', { kind: 'models', id: null }],
  ['/models/openai/gpt-4o', { kind: 'models', id: 'openai/gpt-4o' }],
  ['/openai/deployments/gpt-4o/chat/completions', { kind: 'endpoint', endpoint: 'chat', model: 'gpt-4o' }],
  [
    '/v1/openai/deployments/openai%2Fgpt-4o/embeddings',
    { kind: 'endpoint', endpoint: 'embeddings', model: 'openai/gpt-4o' },
  ],
  ['/openai/deployments/%ff/chat/completions', null],
  // The `openai` package does not escape slashes in a model name.
  ['/openai/deployments/a/b/chat/completions', { kind: 'endpoint', endpoint: 'chat', model: 'a/b' }],
  ['/openai/deployments/a/b/c/v1/embeddings', { kind: 'endpoint', endpoint: 'embeddings', model: 'a/b/c' }],
  ['/openai/deployments/a/b/c/models', null],
  ['/openai/deployments//chat/completions', { kind: 'endpoint', endpoint: 'completions', model: 'chat' }],
  [
    '/v1beta/models/google/gemini-2.5-flash:generateContent',
    geminiTarget('generateContent', 'google/gemini-2.5-flash'),
  ],
  ['/v1/models/meta%2Fllama:free:streamGenerateContent', geminiTarget('streamGenerateContent', 'meta/llama:free')],
  ['/v1/v1beta/models/models%2Fx:generateContent', geminiTarget('generateContent', 'x')],
  [
    '/v1beta1/projects/p/locations/l/publishers/google/models/gemini-2.5-pro:generateContent',
    geminiTarget('generateContent', 'gemini-2.5-pro'),
  ],
  ['/v1beta/models/x:countTokens', { ...geminiTarget('countTokens', 'x'), kind: 'count', model: undefined }],
  ['/v1beta/models/x:embedContent', { ...geminiTarget('embedContent', 'x'), endpoint: 'embeddings' }],
  ['/v1beta/models/:generateContent', null],
  ['/v1beta/models/%E0%A4%A:generateContent', null],
  ['/v1beta/models', { kind: 'models', id: null }],
  ['/v1beta/models/google/gemini-2.5-flash', { kind: 'models', id: 'google%2Fgemini-2.5-flash' }],
  ['/v1/models/google/gemini-2.0-flash-exp:free', { kind: 'models', id: 'google/gemini-2.0-flash-exp:free' }],
  ['/v1/models/ft:gpt-4o:org::abc', { kind: 'models', id: 'ft:gpt-4o:org::abc' }],
  ['/v1', null],
  ['/v10/chat/completions', null],
  ['/v1/responses', { kind: 'endpoint', endpoint: 'responses', model: null }],
  ['/responses/input_tokens/', { kind: 'count', endpoint: 'responses' }],
  ['/v1/v1/messages/count_tokens', { kind: 'count', endpoint: 'messages' }],
  ['/cache/feedback', { kind: 'cache', question: 'feedback' }],
  ['/v1/cache/explain/', { kind: 'cache', question: 'explain' }],
  ['/v1/cache', null],
  ['/v1/messages/batches', { kind: 'stored_object', collection: 'message_batches', id: null, subpath: '' }],
  [
    '/messages/batches/b_1/results',
    { kind: 'stored_object', collection: 'message_batches', id: 'b_1', subpath: '/results' },
  ],
  ['/v1/messages/batches/b_1/content', null],
  ['/v1/batches/b_1/results', null],
  ['/anthropic/v1/messages', { kind: 'endpoint', endpoint: 'messages', model: null }],
  ['/v1/anthropic/v1/messages/count_tokens', { kind: 'count', endpoint: 'messages' }],
  ['/anthropic/v1/messages/batches/', { kind: 'stored_object', collection: 'message_batches', id: null, subpath: '' }],
  ['/anthropic/v1/models', { kind: 'models', id: null }],
  ['/v1beta/openai/chat/completions', CHAT],
  ['/v1beta/openai//embeddings', { kind: 'endpoint', endpoint: 'embeddings', model: null }],
  ['/v1beta/openai/models/gemini-3-pro', { kind: 'models', id: 'gemini-3-pro' }],
  [
    '/v1beta/openai/images/generations',
    { kind: 'operation', operation: 'images/generations', model: null, vendor: 'google' },
  ],
  ['/v1beta/chat/completions', null],
  ['/v1beta/openai', null],
  ['/api/v1/chat/completions', { ...CHAT, vendor: 'aggregator' }],
  ['/anthropic/api/v1/messages', null],
  ['/responses/resp_1', { kind: 'stored_object', collection: 'responses', id: 'resp_1', subpath: '' }],
  ['/v1/responses/resp_1/cancel', { kind: 'stored_object', collection: 'responses', id: 'resp_1', subpath: '/cancel' }],
  ['/v1/responses/a/b', null],
  ['/v1/responses/%2e%2e', null],
  ['/v1/images/generations', { kind: 'operation', operation: 'images/generations', model: null }],
  ['//audio/speech/', { kind: 'operation', operation: 'audio/speech', model: null }],
  ['/v1/v1/moderations', { kind: 'operation', operation: 'moderations', model: null }],
  ['/openai/v1/chat/completions', CHAT],
  ['/v1/openai/v1/responses', { kind: 'endpoint', endpoint: 'responses', model: null }],
  ['/openai/responses/resp_1', { kind: 'stored_object', collection: 'responses', id: 'resp_1', subpath: '' }],
  ['/openai/files/file-1', { kind: 'stored_object', collection: 'files', id: 'file-1', subpath: '' }],
  ['/openai/models', { kind: 'models', id: null }],
  ['/openai/deployments/tts/audio/speech', { kind: 'operation', operation: 'audio/speech', model: 'tts' }],
  ['/openai/deployments/any/batches', { kind: 'stored_object', collection: 'batches', id: null, subpath: '' }],
  ['/openai/deployments/any/models', null],
  ['/openai/deployments/any', null],
  ['/openai/openai/chat/completions', null],
  ['/v1/audio', null],
  ['/v1/constructor', null],
  ['/v1/files', { kind: 'stored_object', collection: 'files', id: null, subpath: '' }],
  ['/files/file-1/', { kind: 'stored_object', collection: 'files', id: 'file-1', subpath: '' }],
  ['/v1/files/file-1/content', { kind: 'stored_object', collection: 'files', id: 'file-1', subpath: '/content' }],
  ['/v1/batches/batch_1/cancel', { kind: 'stored_object', collection: 'batches', id: 'batch_1', subpath: '/cancel' }],
  ['/v1/files/file-1/cancel', null],
  ['/v1/batches/batch_1/content', null],
  ['/v1/files/%2e%2e', null],
  ['/', null],
  ['/v1/__proto__', null],
])('%s', (path, target) => {
  expect(resolveTarget(path, SEEDED_DETECTOR)).toEqual(target)
})

test.each([
  ['/v1/chat/completions', ['POST']],
  ['/v1/audio/speech', ['POST']],
  ['/v1/models/gpt-4o', ['GET']],
  ['/v1/responses/resp_1', ['GET', 'DELETE']],
  ['/v1/responses/resp_1/input_items', ['GET']],
  ['/v1/responses/resp_1/cancel', ['POST']],
  ['/v1/files', ['GET', 'POST']],
  ['/v1/files/file-1', ['GET', 'DELETE']],
  ['/v1/files/file-1/content', ['GET']],
  ['/v1/batches/batch_1', ['GET']],
  ['/v1/batches/batch_1/cancel', ['POST']],
  ['/v1/messages/batches', ['GET', 'POST']],
  ['/v1/messages/batches/b_1', ['GET', 'DELETE']],
  ['/v1/messages/batches/b_1/results', ['GET']],
])('%s allows %j', (path, methods) => {
  const target = resolveTarget(path, SEEDED_DETECTOR)
  expect(target && allowedMethodsOf(target)).toEqual(methods)
})

test('HEAD counts as GET on endpoints that are free', () => {
  expect(resolveMethod({ kind: 'health' }, 'HEAD')).toBe('GET')
  expect(resolveMethod({ kind: 'models', id: null }, 'HEAD')).toBe('GET')
  expect(
    resolveMethod({ kind: 'stored_object', collection: 'files', id: 'file-1', subpath: '/content' }, 'HEAD'),
  ).toBeNull()
  expect(resolveMethod({ kind: 'endpoint', endpoint: 'chat', model: null }, 'HEAD')).toBeNull()
})

const FILES = { kind: 'stored_object', collection: 'files', id: null, subpath: '' }
const ANTHROPICS_FILES = { ...FILES, collection: 'anthropic_files' }
const ANTHROPICS = { 'anthropic-version': '2023-06-01' }

test.each([
  ['/v1/files', ANTHROPICS, ANTHROPICS_FILES],
  ['/v1/files', { 'anthropic-beta': 'files-api-2025-04-14' }, ANTHROPICS_FILES],
  ['/anthropic/v1/files', {}, ANTHROPICS_FILES],
  ['//v1//anthropic//v1/files/', {}, ANTHROPICS_FILES],
  ['/v1/files/f_1/content', ANTHROPICS, { ...ANTHROPICS_FILES, id: 'f_1', subpath: '/content' }],
  ['/v1/files', {}, FILES],
  ['/openai/v1/files', {}, FILES],
  ['/openai/v1/files', { 'user-agent': 'Groq/JS 0.37.0' }, { ...FILES, vendor: 'groq' }],
  ['/openai/v1/files', { 'user-agent': 'AsyncGroq/Python 1.0.0' }, { ...FILES, vendor: 'groq' }],
  ['/v1/files', { 'user-agent': 'OpenAI/JS 6.9.0 not Groq/JS' }, FILES],
  ['/api/v1/files', {}, { ...FILES, vendor: 'aggregator' }],
  // A gateway may send all vendors' headers, so the path takes precedence.
  ['/api/v1/files', ANTHROPICS, { ...FILES, vendor: 'aggregator' }],
  ['/v1beta/openai/files', {}, { ...FILES, vendor: 'google' }],
  // The base of Zhipu begins with that of OpenRouter.
  ['/api/paas/v4/files', {}, FILES],
  ['/compatible-mode/v1/files', {}, FILES],
  ['/v1/batches', ANTHROPICS, { ...FILES, collection: 'batches', vendor: 'anthropic' }],
  ['/v1/messages/batches', {}, { ...FILES, collection: 'message_batches' }],
  ['/v1/messages/batches', ANTHROPICS, { ...FILES, collection: 'message_batches' }],
  [
    '/v1/responses/resp_1',
    ANTHROPICS,
    { kind: 'stored_object', collection: 'responses', id: 'resp_1', subpath: '', vendor: 'anthropic' },
  ],
  ['/v1/moderations', ANTHROPICS, { kind: 'operation', operation: 'moderations', model: null, vendor: 'anthropic' }],
  // The vendor depends on the model.
  ['/v1/chat/completions', ANTHROPICS, CHAT],
] as [path: string, headers: Record<string, string>, target: object][])('%s with %j', (path, headers, target) => {
  expect(resolveTarget(path, SEEDED_DETECTOR, new Headers(headers))).toEqual(target)
})

test.each([
  ['http://host/v1/messages', {}, 'anthropic'],
  ['http://host/v1/messages/batches/b_1', {}, 'anthropic'],
  ['http://host/anthropic/v1/models', {}, 'anthropic'],
  ['http://anthropic/v1/models', {}, 'openai'],
  ['http://anthropic:3000/v1/chat/completions', {}, 'openai'],
  ['http://host/openai/v1/models', {}, 'openai'],
  ['http://host/v1/files', {}, 'openai'],
  ['http://host/v1/files', ANTHROPICS, 'anthropic'],
  ['http://host/v1/models/claude?beta=true', ANTHROPICS, 'anthropic'],
  ['http://host/v1/skills', ANTHROPICS, 'anthropic'],
  ['http://host/v1/chat/completions', ANTHROPICS, 'openai'],
  ['http://host/v1/responses/resp_1', ANTHROPICS, 'openai'],
  ['http://host/v1beta/models/anthropic/messages:generateContent?key=x', {}, 'google'],
  ['http://host/v1/models/x:streamGenerateContent?alt=sse', {}, 'google'],
  ['http://host/v1beta/files', {}, 'google'],
  ['http://host/v1/models', { 'x-goog-api-key': 'x' }, 'google'],
  ['http://host/v1beta/openai/models', {}, 'openai'],
  ['http://v1beta/v1/models', {}, 'openai'],
  ['http://host/v1/chat/completions', { 'x-goog-api-key': 'x' }, 'openai'],
] as [url: string, headers: Record<string, string>, form: string][])(
  'errors at %s with %j are in the form of %s',
  (url, headers, form) => {
    expect(detectApiForm({ url, headers: new Headers(headers) })).toBe(form)
  },
)

describe('a 404 suggests the right path', () => {
  test.each([
    ['/v1/fine_tuning/jobs', '/v1/fine_tuning', 'vendor’s own address'],
    ['/v1/images/generation', 'nothing at this path', '/v1/images/'],
    ['/v1/threads', '/v1/threads', 'Assistants'],
    ['/v1beta/models/gemini-3-pro:asyncBatchEmbedContent', 'Gemini’s API', 'generateContent'],
    ['/v1beta/models/gemini-3-pro:generateAnswer', '/v1/generateAnswer', 'generateContent'],
    ['/v1/projects/p/locations/l/publishers/google/models/imagen-4:predict', '/v1/predict', 'generateContent'],
    ['/v2/chat/completions', 'base URL', '/v1'],
  ])('%s', (path, named, advice) => {
    expect(resolveTarget(path, SEEDED_DETECTOR)).toBeNull()
    const { status, code, message } = createNotFoundError(path)
    expect([status, code]).toEqual([404, 'not_found'])
    expect(message).toContain(named)
    expect(message).toContain(advice)
  })
})
