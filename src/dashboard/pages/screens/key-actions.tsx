/** The actions on API keys: create, limit, rotate and deactivate. */
import type { Action } from '../components/actions.tsx'
import { type FormField, readLines } from '../components/form.tsx'
import { searchModels } from '../components/picker-sources.ts'
import { RequestSnippets } from '../components/request-snippets.tsx'
import { isolateDirection } from '../format.ts'
import { PROJECTS_PATH } from '../session.ts'
import type { ApiKey } from '../types.ts'
import { AMOUNT_FIELDS, type Budget, describeBudget } from './budgets.tsx'

const DAY = 86_400

/** Describes the dialog that shows a new key once, with code examples. */
function showKey(projectId: string) {
  return ({ value, type }: { value: string; type: ApiKey['type'] }) => ({
    title: 'Your new API key',
    value,
    children: <RequestSnippets projectId={projectId} keyType={type} apiKey={value} />,
  })
}

/** Only owners of a project can set budgets. */
export function createKeyAction(projectId: string, canSetBudget: boolean): Action<null> {
  return {
    title: 'Create API key',
    requiredRole: 'member',
    confirmation: () => ({
      action: 'Create key',
      fields: [
        {
          name: 'name',
          label: 'Name',
          maxLength: 100,
          placeholder: 'production',
          hint: 'Use a separate key for each service and environment.',
        },
        {
          name: 'type',
          label: 'Type',
          choices: [
            ['project', 'Project key – uses providers, counts towards the plan'],
            ['test', 'Test key – uses the built-in sandbox, free and limited'],
          ],
        },
        {
          name: 'expires_in_seconds',
          label: 'Expires',
          choices: [
            ['', 'Never'],
            [String(30 * DAY), 'In 30 days'],
            [String(90 * DAY), 'In 90 days'],
            [String(365 * DAY), 'In 1 year'],
          ],
          read: text => (text === '' ? undefined : Number(text)),
        },
        ...(canSetBudget ? listBudgetFields() : []),
      ],
      toBody: ({ amount, unit, per, ...read }) => ({
        ...read,
        ...(typeof amount === 'number' && { budget: { amount, unit, per } }),
      }),
    }),
    showOnce: showKey(projectId),
  }
}

/** Fields of an optional budget. */
function listBudgetFields(): FormField[] {
  return AMOUNT_FIELDS.map(field =>
    field.name === 'amount'
      ? {
          ...field,
          label: 'Budget',
          required: false,
          placeholder: 'No budget',
          hint: 'Requests over the budget are rejected.',
          read: text => (text.trim() === '' ? undefined : Number(text)),
        }
      : { ...field, isShown: ({ amount = '' }) => amount.trim() !== '' },
  )
}

/** Reports whether the row is an active key, and not a former value of a rotated key. A former value shares the limits of its key. */
function isCurrent({ state, former_value_of }: ApiKey): boolean {
  return state === 'active' && former_value_of === null
}

const RATE_FIELD = {
  inputMode: 'numeric',
  required: false,
  hint: 'Leave empty for the plan’s limit.',
  read: text => (text.trim() === '' ? null : Number(text)),
} satisfies Partial<FormField>

/** Reads comma-separated text. Returns null for an empty field. */
function readList(text: string): string[] | null {
  return text.trim() === '' ? null : text.split(',').map(part => part.trim())
}

function createLimitAction(projectId: string): Action<ApiKey> {
  return {
    title: 'Limits',
    label: 'Edit limits',
    look: 'plain',
    requiredRole: 'owner',
    isAvailable: isCurrent,
    confirmation: key => ({
      title: `Limits of “${isolateDirection(key.name)}”`,
      action: 'Save limits',
      fields: [
        {
          ...RATE_FIELD,
          name: 'requests_per_minute',
          label: 'Requests per minute',
          initial: key.requests_per_minute?.toString(),
        },
        {
          ...RATE_FIELD,
          name: 'tokens_per_minute',
          label: 'Tokens per minute',
          hint: `${RATE_FIELD.hint} While a request runs, its maximum counts; afterwards, the tokens that it used.`,
          initial: key.tokens_per_minute?.toString(),
        },
        {
          name: 'allowed_models',
          label: 'Models',
          picker: { ...searchModels(projectId), isMultiple: true },
          placeholder: 'All models of the project',
          required: false,
          hint: 'Names, or patterns such as gpt-4o* and anthropic/*.',
          initial: key.allowed_models?.join('\n'),
          read: text => (text === '' ? null : readLines(text)),
        },
        {
          name: 'allowed_addresses',
          label: 'Addresses',
          placeholder: '10.0.0.0/8, 2001:db8::/32',
          required: false,
          hint: 'IP networks that requests may come from, separated by commas. Leave empty for any.',
          initial: key.allowed_addresses?.join(', '),
          read: readList,
        },
      ],
    }),
  }
}

/** Sets a budget of the key. A budget of the same unit and period is replaced. */
function createBudgetAction(projectId: string, budgets: readonly Budget[]): Action<ApiKey> {
  return {
    title: 'Budget',
    label: 'Set budget',
    look: 'plain',
    requiredRole: 'owner',
    url: `${PROJECTS_PATH}/${projectId}/budgets`,
    isAvailable: isCurrent,
    confirmation: key => {
      const own = findBudgetsOfKey(budgets, key)
      const initials: Record<string, string | undefined> = {
        amount: own[0]?.amount.toString(),
        unit: own[0]?.unit,
        per: own[0]?.per,
      }
      return {
        title: `Budget of “${isolateDirection(key.name)}”`,
        action: 'Save budget',
        text: own.length === 0 ? undefined : `Now: ${own.map(describeBudget).join('; ')}.`,
        fields: AMOUNT_FIELDS.map(field => ({ ...field, initial: initials[field.name] })),
        toBody: read => ({ ...read, api_key_id: key.id }),
      }
    },
  }
}

/** Returns the budgets that limit all requests of a key. */
export function findBudgetsOfKey(budgets: readonly Budget[], key: ApiKey): Budget[] {
  return budgets.filter(({ api_key_id, model, tag }) => api_key_id === key.id && model === null && tag === null)
}

function createRotateAction(projectId: string): Action<ApiKey> {
  return {
    title: 'Rotate',
    look: 'plain',
    requiredRole: 'member',
    path: '/rotate',
    isAvailable: isCurrent,
    confirmation: key => ({
      title: `Rotate “${isolateDirection(key.name)}”`,
      action: 'Rotate key',
      text: <p>The key gets a new value and keeps its ID, name, limits, budgets and counters.</p>,
      fields: [
        {
          name: 'grace_seconds',
          label: 'Current value',
          initial: '86400',
          choices: [
            ['0', 'Expires now'],
            ['3600', 'Expires in 1 hour'],
            ['86400', 'Expires in 1 day'],
            ['604800', 'Expires in 1 week'],
            ['2592000', 'Expires in 30 days'],
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
        Requests with <code className="font-mono text-ink">{key.redacted_value}</code> are rejected immediately. An
        owner can restore the key until it expires.
      </>
    ),
  }),
}

const RESTORE: Action<ApiKey> = {
  title: 'Restore',
  look: 'plain',
  requiredRole: 'owner',
  path: '/restore',
  isAvailable: ({ deactivated_at, expires_at, former_value_of }) =>
    deactivated_at !== null && former_value_of === null && (expires_at === null || expires_at * 1000 > Date.now()),
  confirmation: key => ({
    title: `Restore “${isolateDirection(key.name)}”?`,
    action: 'Restore key',
    text: 'Requests with this key are accepted again, within its limits and budgets. Do not restore a key that has leaked.',
  }),
}

export function listKeyActions(projectId: string, budgets: readonly Budget[]): Action<ApiKey>[] {
  return [
    createLimitAction(projectId),
    createBudgetAction(projectId, budgets),
    createRotateAction(projectId),
    DEACTIVATE,
    RESTORE,
  ]
}
