/** The settings of all playground requests: system prompt, parameters, tools and cache control. */
import { Checkbox, SelectField, TextArea, TextField } from '../components/fields.tsx'
import type { ThreadOptions } from '../threads.ts'

const CACHE_CONTROLS = [
  ['', 'Project default'],
  ['no-cache', 'Skip the cache, store the response (no-cache)'],
  ['no-store', 'Skip the cache, store nothing (no-store)'],
  ['only-if-cached', 'Cache only (only-if-cached)'],
] as const

/** Numeric parameters. Empty ones are not sent. */
const PARAMETERS = [
  { name: 'temperature', title: 'Temperature', min: 0, max: 2, step: 0.1 },
  { name: 'top_p', title: 'Top P', min: 0, max: 1, step: 0.05 },
  { name: 'max_completion_tokens', title: 'Max tokens', min: 1, step: 1 },
  { name: 'seed', title: 'Seed', step: 1 },
] as const

const TOOLS_EXAMPLE = `[{"type": "function", "function": {
  "name": "get_weather",
  "parameters": {"type": "object", "properties": {
    "city": {"type": "string"}}}}}]`

export interface PlaygroundSettings {
  system: string
  /** The text of each parameter's field, by parameter name. */
  parameters: Record<string, string>
  /** A JSON array. */
  tools: string
  cacheControl: string
  isStreamed: boolean
}

export const DEFAULT_PLAYGROUND_SETTINGS: PlaygroundSettings = {
  system: '',
  parameters: {},
  tools: '',
  cacheControl: '',
  isStreamed: true,
}

/** Converts the settings to request options. Throws when `tools` is not a JSON array. */
export function toConversationOptions({
  system,
  parameters,
  tools,
  cacheControl,
  isStreamed,
}: PlaygroundSettings): Pick<ThreadOptions, 'system' | 'parameters' | 'headers'> {
  const filled = Object.entries(parameters).filter(([, value]) => value !== '')
  return {
    system,
    parameters: {
      ...Object.fromEntries(filled.map(([name, value]) => [name, Number(value)])),
      ...(tools.trim() && { tools: readTools(tools) }),
      ...(isStreamed && { stream: true }),
    },
    headers: cacheControl ? { 'cache-control': cacheControl } : {},
  }
}

function readTools(text: string): unknown[] {
  try {
    const tools = JSON.parse(text)
    if (Array.isArray(tools)) return tools
  } catch {
    // The error is thrown below.
  }
  throw new Error('Tools must be a JSON array of tool definitions, as in the API.')
}

interface SettingsFormProps {
  settings: PlaygroundSettings
  onChange(settings: PlaygroundSettings): void
}

export function PlaygroundSettingsForm({ settings, onChange }: SettingsFormProps) {
  const set = (changes: Partial<PlaygroundSettings>) => onChange({ ...settings, ...changes })
  return (
    <>
      <TextArea label="System prompt" rows={3} value={settings.system} onChange={system => set({ system })} />
      <div className="grid grid-cols-2 gap-3">
        {PARAMETERS.map(({ name, title, ...limits }) => (
          <TextField
            key={name}
            label={title}
            type="number"
            placeholder="Default"
            value={settings.parameters[name] ?? ''}
            onChange={value => set({ parameters: { ...settings.parameters, [name]: value } })}
            {...limits}
          />
        ))}
      </div>
      <TextArea
        label="Tools (JSON)"
        rows={4}
        placeholder={TOOLS_EXAMPLE}
        className="font-mono text-xs"
        value={settings.tools}
        onChange={tools => set({ tools })}
      />
      <SelectField
        label="Cache"
        value={settings.cacheControl}
        choices={CACHE_CONTROLS}
        onChange={cacheControl => set({ cacheControl })}
      />
      <Checkbox
        label="Stream the response"
        isChecked={settings.isStreamed}
        onChange={isStreamed => set({ isStreamed })}
      />
    </>
  )
}
