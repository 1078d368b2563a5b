/** Output other than text: in the client's response, encoded in its opaque state, or reported as omitted. */
import type { Expected, ProviderCase } from '../case.ts'
import { chatStream, inBothModes, siblingCase, streamed } from '../write-bytes.ts'

type Fields = Record<string, unknown>

const WHOLE: Expected = { text: 'Hi', end: 'stop' }
const PICTURE = `data:image/png;base64,${'Zm9v'.repeat(8)}`

const messageCase = (id: string, what: string, message: Fields, expected: Expected) =>
  siblingCase(`content-${id}`, what, inBothModes({ deltas: [message], message }), { ...WHOLE, ...expected })

export const CONTENT: readonly ProviderCase[] = [
  messageCase(
    'parts',
    'a list of text parts',
    {
      content: [
        { type: 'text', text: 'H' },
        { type: 'text', text: 'i' },
      ],
    },
    { store: true },
  ),
  messageCase('text-part', 'one text part', { content: [{ type: 'text', text: 'Hi' }] }, { store: true }),
  messageCase(
    'thinking',
    'thinking and text parts',
    {
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'Okay' }], closed: true },
        { type: 'text', text: 'Hi' },
      ],
    },
    { reasoning: 'Okay' },
  ),
  messageCase(
    'thinking-text',
    'thinking that is a text',
    {
      content: [
        { type: 'thinking', thinking: 'Okay' },
        { type: 'text', text: 'Hi' },
      ],
    },
    { reasoning: 'Okay' },
  ),
  messageCase(
    'reference',
    'a reference between text parts',
    {
      content: [
        { type: 'text', text: 'H' },
        { type: 'reference', reference_ids: ['ref-7361'] },
        { type: 'text', text: 'i' },
      ],
    },
    { keeps: ['ref-7361'] },
  ),
  messageCase(
    'image-part',
    'a picture among the parts',
    {
      content: [
        { type: 'text', text: 'Hi' },
        { type: 'image_url', image_url: { url: PICTURE } },
      ],
    },
    { keeps: [PICTURE] },
  ),
  messageCase(
    'unknown-part',
    'a part of an unknown type',
    {
      content: [
        { type: 'text', text: 'Hi' },
        { type: 'hologram', hologram: { data: 'holo-4127' } },
      ],
    },
    { keeps: ['holo-4127'] },
  ),
  messageCase(
    'images',
    'OpenRouter: message.images',
    {
      content: 'Hi',
      images: [{ type: 'image_url', image_url: { url: PICTURE }, index: 0 }],
    },
    { keeps: [PICTURE] },
  ),
  siblingCase(
    'content-images-alone',
    'pictures and no text are an answer',
    {
      ...inBothModes({
        deltas: [{ images: [{ type: 'image_url', image_url: { url: PICTURE }, index: 0 }] }],
        message: { content: '', images: [{ type: 'image_url', image_url: { url: PICTURE }, index: 0 }] },
      }),
    },
    { text: '', end: 'any', keeps: [PICTURE] },
  ),
  messageCase(
    'audio',
    'audio beside the text',
    {
      content: 'Hi',
      audio: { id: 'audio_1', data: 'UklGRg5531', expires_at: 1_790_000_000, transcript: 'Hi there 8' },
    },
    { keeps: ['UklGRg5531', 'Hi there 8'] },
  ),
  messageCase(
    'annotations',
    'annotations with their addresses',
    {
      content: 'Hi',
      annotations: [
        {
          type: 'url_citation',
          url_citation: { url: 'https://a.example/62', title: 'A', start_index: 0, end_index: 2 },
        },
      ],
    },
    { keeps: ['https://a.example/62'] },
  ),
  messageCase(
    'unknown-field',
    'an unknown field',
    { content: 'Hi', provenance: { seal: 'seal-9034' } },
    { keeps: ['seal-9034'] },
  ),
  messageCase(
    'reasoning',
    'reasoning_content',
    { reasoning_content: 'Okay', content: 'Hi' },
    { reasoning: 'Okay', store: true },
  ),
  messageCase('reasoning-name', 'reasoning', { reasoning: 'Okay', content: 'Hi' }, { reasoning: 'Okay', store: true }),
  siblingCase(
    'content-refusal',
    'a refusal',
    {
      ...inBothModes({
        deltas: [{ refusal: 'I will not say it.' }],
        message: { content: null, refusal: 'I will not say it.' },
      }),
    },
    { end: 'any', keeps: ['I will not say it.'] },
  ),
  siblingCase(
    'content-mixed',
    'parts in one chunk, a text in the next',
    {
      ...streamed(chatStream({ deltas: [{ content: [{ type: 'text', text: 'H' }] }, { content: 'i' }] })),
    },
    WHOLE,
  ),
  siblingCase(
    'content-null',
    'content null beside text',
    {
      ...streamed(chatStream({ deltas: [{ content: null }, { content: 'Hi' }, { content: null, refusal: null }] })),
    },
    { ...WHOLE, store: true },
  ),
]
