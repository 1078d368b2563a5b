/** The schema of a Messages request. It permits no additional fields, because Anthropic rejects unknown fields. */
import Ajv, { type ErrorObject } from 'ajv'
import type { JsonObject } from './scenario.ts'

function object(properties: JsonObject, required: string[] = []): JsonObject {
  return { type: 'object', properties, required, additionalProperties: false }
}

/** Returns the schema of a union that `type` discriminates. */
function oneOfTypes(types: Record<string, { fields: JsonObject; required?: string[] }>): JsonObject {
  return {
    type: 'object',
    required: ['type'],
    discriminator: { propertyName: 'type' },
    oneOf: Object.entries(types).map(([type, { fields, required = [] }]) =>
      object({ type: { const: type }, ...fields }, ['type', ...required]),
    ),
  }
}

const text = { type: 'string' }
const filled = { type: 'string', pattern: '\\S' }
const base64 = { type: 'string', pattern: '^[A-Za-z0-9+/]+={0,2}$' }
const address = { type: 'string', pattern: '^https?://' }
const share = { type: 'number', minimum: 0, maximum: 1 }
const mark = { cache_control: oneOfTypes({ ephemeral: { fields: { ttl: { enum: ['5m', '1h'] } } } }) }
const textBlock = { fields: { text: filled, citations: { type: ['array', 'null'] }, ...mark }, required: ['text'] }

const imageSource = oneOfTypes({
  base64: {
    fields: { media_type: { enum: ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] }, data: base64 },
    required: ['media_type', 'data'],
  },
  url: { fields: { url: address }, required: ['url'] },
})
const documentSource = oneOfTypes({
  base64: { fields: { media_type: { const: 'application/pdf' }, data: base64 }, required: ['media_type', 'data'] },
  text: { fields: { media_type: { const: 'text/plain' }, data: text }, required: ['media_type', 'data'] },
  url: { fields: { url: address }, required: ['url'] },
  file: { fields: { file_id: text }, required: ['file_id'] },
})
const media = {
  image: { fields: { source: imageSource, ...mark }, required: ['source'] },
  document: { fields: { source: documentSource, title: text, ...mark }, required: ['source'] },
}
const id = { type: 'string', pattern: '^[a-zA-Z0-9_-]+$' }
const userBlock = oneOfTypes({
  text: textBlock,
  ...media,
  tool_result: {
    fields: {
      tool_use_id: id,
      content: { type: 'array', items: oneOfTypes({ text: textBlock, ...media }) },
      is_error: { type: 'boolean' },
      ...mark,
    },
    required: ['tool_use_id'],
  },
})
const assistantBlock = oneOfTypes({
  text: textBlock,
  tool_use: {
    fields: { id, name: text, input: { type: 'object' }, caller: { type: 'object' }, ...mark },
    required: ['id', 'name', 'input'],
  },
  thinking: { fields: { thinking: text, signature: text }, required: ['thinking', 'signature'] },
  redacted_thinking: { fields: { data: text }, required: ['data'] },
})

function message(role: string, block: JsonObject): JsonObject {
  return object({ role: { const: role }, content: { type: 'array', minItems: 1, items: block } }, ['role', 'content'])
}

const single = { disable_parallel_tool_use: { type: 'boolean' } }

const REQUEST = object(
  {
    model: text,
    max_tokens: { type: 'integer', minimum: 1 },
    stream: { type: 'boolean' },
    system: { type: 'array', items: oneOfTypes({ text: textBlock }) },
    messages: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['role'],
        discriminator: { propertyName: 'role' },
        oneOf: [message('user', userBlock), message('assistant', assistantBlock)],
      },
    },
    stop_sequences: { type: 'array', items: filled },
    temperature: share,
    top_p: share,
    top_k: { type: 'integer', minimum: 1 },
    tools: {
      type: 'array',
      items: object(
        {
          name: { type: 'string', pattern: '^[a-zA-Z0-9_-]{1,128}$' },
          description: text,
          input_schema: {
            type: 'object',
            properties: { type: { const: 'object' }, anyOf: false, oneOf: false, allOf: false },
            required: ['type'],
          },
          strict: { type: 'boolean' },
          eager_input_streaming: { type: 'boolean' },
          ...mark,
        },
        ['name', 'input_schema'],
      ),
    },
    tool_choice: oneOfTypes({
      auto: { fields: single },
      any: { fields: single },
      none: { fields: {} },
      tool: { fields: { name: text, ...single }, required: ['name'] },
    }),
    thinking: oneOfTypes({
      adaptive: { fields: { display: { enum: ['summarized', 'omitted'] } } },
      enabled: { fields: { budget_tokens: { type: 'integer', minimum: 1024 } }, required: ['budget_tokens'] },
      disabled: { fields: {} },
      between_tools: { fields: {} },
    }),
    output_config: object({
      effort: { enum: ['low', 'medium', 'high', 'xhigh', 'max'] },
      format: oneOfTypes({ json_schema: { fields: { schema: { type: 'object' } }, required: ['schema'] } }),
    }),
    metadata: object({ user_id: text }),
    service_tier: { enum: ['auto', 'standard_only'] },
    inference_geo: text,
  },
  ['model', 'max_tokens', 'messages'],
)

const validate = new Ajv({ discriminator: true, strictTypes: false }).compile(REQUEST)

/** Returns the error in Anthropic's words; null for a valid shape. */
export function findShapeError(body: unknown): string | null {
  return validate(body) ? null : describe(validate.errors?.[0])
}

function describe(error: ErrorObject | undefined): string {
  if (!error) return 'Invalid request.'
  const path = error.instancePath.slice(1).replaceAll('/', '.')
  const at = (field: unknown) => [path, field].filter(part => part !== '').join('.')
  if (error.keyword === 'additionalProperties') {
    return `${at(error.params.additionalProperty)}: Extra inputs are not permitted`
  }
  if (error.keyword === 'required') return `${at(error.params.missingProperty)}: Field required`
  return `${path}: ${error.message ?? 'Input is invalid'}`
}
