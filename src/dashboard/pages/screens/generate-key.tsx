/** Generating a key, and showing it this once with how to use it. */
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { call } from '../api.ts'
import { Button, CopyButton, Problem, SelectField, TextField } from '../components/basics.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Segments } from '../components/segments.tsx'
import type { ApiKey } from '../types.ts'

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
  if (generating.data) return <ShownOnce value={generating.data.value} onClose={onClose} />
  function submit(event: FormEvent) {
    event.preventDefault()
    generating.mutate()
  }
  return (
    <Dialog title="Generate new key" onClose={onClose}>
      <form onSubmit={submit} className="space-y-4">
        <TextField
          label="Name"
          required
          maxLength={100}
          autoComplete="off"
          placeholder="production"
          hint="What the key is for: one for each person or environment."
          value={name}
          onChange={event => setName(event.target.value)}
        />
        <SelectField label="Type" value={type} onChange={event => setType(event.target.value)}>
          <option value="project">Project key – real models, counted against the plan</option>
          <option value="test">Test key – the built-in sandbox, free and limited</option>
        </SelectField>
        <SelectField label="Expires" value={lifetime} onChange={event => setLifetime(event.target.value)}>
          {LIFETIMES.map(([seconds, title]) => (
            <option key={seconds} value={seconds}>
              {title}
            </option>
          ))}
        </SelectField>
        <Problem error={generating.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={generating.isPending}>
            Generate key
          </Button>
        </div>
      </form>
    </Dialog>
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

function ShownOnce({ value, onClose }: { value: string; onClose(): void }) {
  const [language, setLanguage] = useState('curl')
  const snippet = SNIPPETS[language]?.(value) ?? ''
  return (
    <Dialog title="Your new key" onClose={onClose} wide>
      <div className="space-y-4">
        <p className="rounded-lg bg-warn-soft px-3 py-2 text-warn">
          Copy it now: it is shown this once, and kept nowhere.
        </p>
        <div className="flex flex-wrap items-center gap-2">
          <output
            className="min-w-0 flex-1 rounded-lg border border-line bg-sunken px-3 py-2 font-mono text-xs break-all"
            data-testid="new-key"
          >
            {value}
          </output>
          <CopyButton text={value} label="Copy key" />
        </div>
        <Segments
          label="Language"
          value={language}
          choices={Object.keys(SNIPPETS).map(name => [name, name] as const)}
          onChange={setLanguage}
        />
        <div className="relative">
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
          <pre className="overflow-x-auto rounded-lg border border-line bg-sunken p-3 font-mono text-xs" tabIndex={0}>
            {snippet}
          </pre>
        </div>
        <div className="flex justify-end gap-2">
          <CopyButton text={snippet} label="Copy snippet" />
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
