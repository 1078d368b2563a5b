/** Generates a key, and shows it once with usage examples. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api.ts'
import { CopyButton } from '../components/basics.tsx'
import { SelectField, TextField } from '../components/fields.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { Segments } from '../components/segments.tsx'
import { ShownOnce } from '../components/shown-once.tsx'
import type { ApiKey } from '../types.ts'

const TYPES = [
  ['project', 'Project key – real models, counted against the plan'],
  ['test', 'Test key – the built-in sandbox, free and limited'],
] as const

const DAY = 86_400
const LIFETIMES = [
  ['', 'Never'],
  [String(30 * DAY), 'In 30 days'],
  [String(90 * DAY), 'In 90 days'],
  [String(365 * DAY), 'In a year'],
] as const

interface GenerateKeyProps {
  projectId: string
  onDone(): void
  onClose(): void
}

export function GenerateKey({ projectId, onDone, onClose }: GenerateKeyProps) {
  const [name, setName] = useState('')
  const [type, setType] = useState('project')
  const [lifetime, setLifetime] = useState('')
  const generating = useMutation({
    mutationFn: () =>
      call<ApiKey & { value: string }>('POST', `/v1/organization/projects/${projectId}/api_keys`, {
        name,
        type,
        ...(lifetime === '' ? {} : { expires_in_seconds: Number(lifetime) }),
      }),
    onSuccess: onDone,
  })
  if (generating.data) return <NewKey value={generating.data.value} onClose={onClose} />
  return (
    <FormDialog title="Generate new key" action="Generate key" sending={generating} onClose={onClose}>
      <TextField
        label="Name"
        required
        maxLength={100}
        autoComplete="off"
        placeholder="production"
        hint="What the key is for. Use one for each person or environment."
        value={name}
        onChange={setName}
      />
      <SelectField label="Type" value={type} choices={TYPES} onChange={setType} />
      <SelectField label="Expires" value={lifetime} choices={LIFETIMES} onChange={setLifetime} />
    </FormDialog>
  )
}

const baseUrl = `${window.location.origin}/v1`
const MODEL = 'openai/gpt-4o-mini'

const SNIPPETS: Record<string, (key: string) => string> = {
  curl: key => `curl ${baseUrl}/chat/completions \\
  -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' \\
  -d '{"model":"${MODEL}","messages":[{"role":"user","content":"Hello"}]}'`,
  Python: key => `from openai import OpenAI

client = OpenAI(base_url="${baseUrl}", api_key="${key}")
answer = client.chat.completions.create(
    model="${MODEL}",
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.choices[0].message.content)`,
  Node: key => `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${baseUrl}', apiKey: '${key}' })
const answer = await client.chat.completions.create({
  model: '${MODEL}',
  messages: [{ role: 'user', content: 'Hello' }],
})
console.log(answer.choices[0].message.content)`,
  'Any client': key => `OPENAI_BASE_URL=${baseUrl}
OPENAI_API_KEY=${key}`,
}

/** The new key, shown once with usage examples. */
function NewKey({ value, onClose }: { value: string; onClose(): void }) {
  const [language, setLanguage] = useState('curl')
  const snippet = SNIPPETS[language]?.(value) ?? ''
  return (
    <ShownOnce
      title="Your new key"
      notice="Copy it now: it is shown only once and not stored."
      value={value}
      copy="Copy key"
      onClose={onClose}
    >
      <div className="flex flex-wrap items-center justify-between gap-2">
        <Segments
          label="Language"
          value={language}
          choices={Object.keys(SNIPPETS).map(name => [name, name] as const)}
          onChange={setLanguage}
        />
        <CopyButton text={snippet} label="Copy snippet" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <pre className="overflow-x-auto rounded-lg border border-line bg-sunken p-3 font-mono text-xs" tabIndex={0}>
        {snippet}
      </pre>
    </ShownOnce>
  )
}
