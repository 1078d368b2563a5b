/** What is done with API keys: generated, limited, given another value, deactivated. */
import type { Action } from '../components/actions.tsx'
import { RequestSnippets } from '../components/request-snippets.tsx'
import { isolateDirection } from '../format.ts'
import type { ApiKey } from '../types.ts'

const DAY = 86_400

/** The new value, once, with usage examples. */
function showKey(projectId: string) {
  return ({ value, type }: { value: string; type: ApiKey['type'] }) => ({
    title: 'Your new key',
    value,
    children: <RequestSnippets projectId={projectId} keyType={type} apiKey={value} />,
  })
}

export function createKeyAction(projectId: string): Action<null> {
  return {
    title: 'Generate new key',
    requiredRole: 'member',
    confirmation: () => ({
      action: 'Generate key',
      fields: [
        {
          name: 'name',
          label: 'Name',
          maxLength: 100,
          placeholder: 'production',
          hint: 'What the key is for. Use one for each person or environment.',
        },
        {
          name: 'type',
          label: 'Type',
          choices: [
            ['project', 'Project key – real models, counted against the plan'],
            ['test', 'Test key – the built-in sandbox, free and limited'],
          ],
        },
        {
          name: 'expires_in_seconds',
          label: 'Expires',
          choices: [
            ['', 'Never'],
            [String(30 * DAY), 'In 30 days'],
            [String(90 * DAY), 'In 90 days'],
            [String(365 * DAY), 'In a year'],
          ],
          read: text => (text === '' ? undefined : Number(text)),
        },
      ],
    }),
    showOnce: showKey(projectId),
  }
}

/** A former value ends by itself or is deactivated; it has the limits of its key. */
function isCurrent({ state, former_value_of }: ApiKey): boolean {
  return state === 'active' && former_value_of === null
}

/** Null for none. */
function readNumber(text: string): number | null {
  return text.trim() === '' ? null : Number(text)
}

/** Null for none. */
function split(text: string): string[] | null {
  return text.trim() === '' ? null : text.split(',').map(part => part.trim())
}

const LIMIT: Action<ApiKey> = {
  title: 'Limits',
  look: 'plain',
  requiredRole: 'owner',
  isAvailable: isCurrent,
  confirmation: key => ({
    title: `Limit “${isolateDirection(key.name)}”`,
    action: 'Set limits',
    fields: [
      {
        name: 'requests_per_minute',
        label: 'Requests a minute',
        inputMode: 'numeric',
        required: false,
        hint: 'Empty: what the plan allows.',
        initial: key.requests_per_minute?.toString(),
        read: readNumber,
      },
      {
        name: 'tokens_per_minute',
        label: 'Tokens a minute',
        inputMode: 'numeric',
        required: false,
        hint: 'Empty: what the plan allows. A request counts as many as it may take at most, and in the end as many as it took.',
        initial: key.tokens_per_minute?.toString(),
        read: readNumber,
      },
      {
        name: 'allowed_models',
        label: 'Models',
        placeholder: 'gpt-4o*, anthropic/*',
        required: false,
        hint: 'Patterns with commas between them. Empty: what the project allows.',
        initial: key.allowed_models?.join(', '),
        read: split,
      },
      {
        name: 'allowed_addresses',
        label: 'Addresses',
        placeholder: '10.0.0.0/8, 2001:db8::/32',
        required: false,
        hint: 'Networks that requests may come from, with commas between them. Empty: any.',
        initial: key.allowed_addresses?.join(', '),
        read: split,
      },
    ],
  }),
}

function rotateIn(projectId: string): Action<ApiKey> {
  return {
    title: 'Rotate',
    look: 'plain',
    requiredRole: 'member',
    path: '/rotate',
    isAvailable: isCurrent,
    confirmation: key => ({
      title: `Rotate “${isolateDirection(key.name)}”`,
      action: 'Rotate key',
      text: <p>The key gets another value, and keeps its id, name, limits, budgets and counters.</p>,
      fields: [
        {
          name: 'grace_seconds',
          label: 'Its present value may',
          initial: '86400',
          choices: [
            ['0', 'End now'],
            ['3600', 'Work for an hour more'],
            ['86400', 'Work for a day more'],
            ['604800', 'Work for a week more'],
            ['2592000', 'Work for 30 days more'],
          ],
          read: Number,
        },
      ],
    }),
    showOnce: showKey(projectId),
  }
}

const DEACTIVATE: Action<ApiKey> = {
  title: 'Deactivate',
  requiredRole: 'member',
  method: 'DELETE',
  isAvailable: ({ state }) => state !== 'deactivated',
  confirmation: key => ({
    title: `Deactivate “${isolateDirection(key.name)}”?`,
    action: 'Deactivate key',
    text: (
      <>
        Requests with <code className="font-mono text-ink">{key.redacted_value}</code> are refused from the next one on.
        A key cannot be made active again.
      </>
    ),
  }),
}

export function listKeyActions(projectId: string): Action<ApiKey>[] {
  return [LIMIT, rotateIn(projectId), DEACTIVATE]
}
